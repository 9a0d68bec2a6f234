"""Page shell: templates with the style and script of all pages inside, so that a page is one file."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from warplens.report.pictures._svg import COLOURS, SHAPES, WRITING
from warplens.report.terminal.console_layout import short
from warplens.report.wording import category_name, count, decimal, percent
from warplens.version import __version__

FOLDER = Path(__file__).parent
PROVENANCES = {
    "exact": "follows from the instructions and the addresses; the same on every machine",
    "modelled": "from the model of caches, DRAM and time",
    "sampled": "counted in a part of the grid, and scaled",
    "measured": "read on a GPU",
}
HEAT_STEPS = 5
STYLE = re.compile(r"<style>.*?</style>", re.DOTALL)


def render(name: str, **content: Any) -> str:
    """A page from its template in templates/."""
    return _environment().get_template(name).render(**content)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(FOLDER / "templates"), autoescape=True, trim_blocks=True, lstrip_blocks=True,
        undefined=StrictUndefined,
    )  # fmt: skip
    environment.filters.update(
        percent=percent, decimal=decimal, count=count, category=category_name, whole=lambda amount: f"{amount:,}",
        short=short, inline=inline_picture,
    )  # fmt: skip
    environment.globals.update(
        provenances=PROVENANCES, step=heat_step, version=__version__, style=Markup(asset("page.css") + picture_rules()),
        script=Markup(asset("page.js")),
    )  # fmt: skip
    environment.globals["ui"] = environment.get_template("components.html.j2").module
    return environment


def asset(name: str) -> str:
    """A file of assets/, as text."""
    return (FOLDER / "assets" / name).read_text("utf-8")


def heat_step(share: float) -> int:
    """1 to 5: the colour of a share in percent; 0 for nothing."""
    return min(int(share / 100 * HEAT_STEPS) + 1, HEAT_STEPS) if share > 0 else 0



def inline_picture(svg: str) -> Markup:
    """A drawing of pictures/ inside of a page: its colours follow the page's theme."""
    return Markup(STYLE.sub("", svg))


def picture_rules() -> str:
    """The style of drawings, in the page's colours."""
    rules = []
    for name, rule in {**SHAPES, **WRITING}.items():
        parts = (declaration.partition(":") for declaration in rule.split(";"))
        declarations = ";".join(f"{key}:{_colour(value)}" for key, _, value in parts)
        rules.append(f".warplens-picture .{name}{{{declarations}}}")
    return "\n".join(rules)


def _colour(value: str) -> str:
    return f"var(--svg-{value})" if value in COLOURS else value

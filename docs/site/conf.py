"""Sphinx: the pages of the repository as a site (`make docs`).

Sources are the Markdown pages where they are, so a relative link leads to the same page here and on GitHub.
The sidebar is that of navigation.toml; nothing of it stands in the pages.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parent))
from navigation import ROOT, navigation, pages, titles

VERSION = ROOT / "src" / "warplens" / "version.py"
PLACE = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)#:\s]+)\)")

project = "warplens"
author = copyright = "The warplens developers"
release = version = re.findall(r'__version__ = "(.+)"', VERSION.read_text(encoding="utf-8"))[0]
root_doc = "README"
include_patterns = [f"{page}.md" for page in pages()]
exclude_patterns = [".*", "build", "**/_*"]
extensions = ["myst_parser"]
myst_enable_extensions = ["amsmath"]
myst_heading_anchors = 4
html_theme = "furo"
html_title = f"warplens {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_last_updated_fmt = None
pygments_style = "friendly"
pygments_dark_style = "native"
LISTS, TITLES = navigation(), titles()


def add_lists(app: Sphinx, name: str, source: list[str]) -> None:
    """The sidebar's list of what is below a page, at its end; it is not shown in the page."""
    for heading, names in LISTS.get(name, {}).items():
        caption = f":caption: {heading}\n" * bool(heading)
        listed = "\n".join(f"{TITLES[below]} </{below}>" if below in TITLES else f"/{below}" for below in names)
        source[0] += f"\n\n```{{toctree}}\n:hidden:\n{caption}\n{listed}\n```\n"


def unlink_folders(app: Sphinx, name: str, source: list[str]) -> None:
    """Links to folders, which GitHub lists and a site does not, are text."""
    folder = (ROOT / name).parent
    source[0] = PLACE.sub(lambda link: link[1] if (folder / link[2]).is_dir() else link[0], source[0])


def set_language(app: Sphinx, name: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """The language of a page, for screen readers and the browser's hyphens and fonts."""
    if name.startswith("docs/zh/") or name.endswith(".zh"):
        context["language"] = "zh-CN"


def write_index(app: Sphinx, failed: Exception | None) -> None:
    """index.html is the first page: a server shows it for the folder."""
    if failed is None and app.builder.format == "html":
        out = Path(app.outdir)
        (out / "index.html").write_bytes((out / f"{root_doc}.html").read_bytes())


def setup(app: Sphinx) -> None:
    app.connect("source-read", unlink_folders)
    app.connect("source-read", add_lists)
    app.connect("html-page-context", set_language)
    app.connect("build-finished", write_index)

"""Lab page: the lesson with its table and pictures; the report of each rung is a page of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from warplens.report.html.page_shell import inline_picture, render
from warplens.report.lab.lab_table import LabTable, foot, lessons, size_told, table
from warplens.report.launch_view import LaunchView
from warplens.report.pictures.roofline_path import roofline_path
from warplens.report.roofline import Roofline, rooflines

LONG_SWEEP = 8  # rungs of one sweep from which on those between the first and the last are folded away


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a lesson: kind "prose" with Markdown, "picture" with the picture's name, or "table"."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Picture:
    """title: below the drawing;  svg: the drawing"""

    title: str
    svg: str


@dataclass(frozen=True, slots=True)
class RungRow:
    """A row of the table.  sweep: number of its folded sweep, 0 where the row is always shown."""

    cells: Sequence[str]
    link: str
    sweep: int


@dataclass(frozen=True, slots=True)
class RungSource:
    """What a rung shows, and its source.  rungs: title and address of the report of each that has one."""

    title: str
    teaches: Sequence[str]
    source: str
    rungs: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class LabPage:
    """What lab.html.j2 prints.  parts: kind and HTML text, in order;  folded: rungs of each folded sweep, from 1."""

    sheet: LabTable
    size: str
    parts: Sequence[tuple[str, str]]
    headings: Sequence[str]
    rows: Sequence[RungRow]
    folded: Sequence[int]
    foot: Sequence[str]
    sources: Sequence[RungSource]
    pictures: Sequence[tuple[str, Markup]]


def page(
    sheet: LabTable, parts: Sequence[Part], pictures: Mapping[str, Picture], sources: Mapping[str, str],
    links: Mapping[str, str],
) -> str:  # fmt: skip
    """The lab as a self-contained page.

    pictures   by name;  sources: text of each file of a rung, by the file's name
    links      address of each rung's report, by the rung's title; rungs without a kernel have none
    """
    headings, cells = table(sheet)
    sweeps = _folded(sheet)
    rows = [RungRow(row, links.get(row[0], ""), sweeps.get(row[0], 0)) for row in cells]
    counts = [len(list(group)) for _, group in groupby(sweeps.values())]
    report_of = {row.file: links[row.title] for row in reversed(sheet.rows) if row.title in links}
    shown = {part.text for part in parts if part.kind == "picture"}
    view = LabPage(
        sheet, size_told(sheet.size), [_part(part, pictures, report_of) for part in parts], headings, rows, counts,
        foot(sheet), _sources(sheet, sources, links),
        [("prose", _figure(picture)) for name, picture in pictures.items() if name not in shown],
    )  # fmt: skip
    return render("lab.html.j2", lab=view)


def _part(part: Part, pictures: Mapping[str, Picture], report_of: Mapping[str, str]) -> tuple[str, str]:
    if part.kind == "prose":
        return "prose", prose(part.text, report_of)
    if part.kind == "picture" and part.text in pictures:
        picture = pictures[part.text]
        return "prose", _figure(picture)
    return part.kind, ""


def prose(text: str, report_of: Mapping[str, str]) -> str:
    """HTML of a lesson's Markdown.  Links to a rung's file lead to its report; other links within the repository, which
    lead nowhere from a page by itself, become plain text."""
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = markdown.parse(text)
    for inline in tokens:
        dropped = False
        for token in inline.children or ():
            if token.type == "link_open":
                target = str(token.attrs["href"])
                target = report_of.get(target, target)
                dropped = target not in report_of.values() and not target.startswith(("http://", "https://", "#"))
                token.attrs["href"] = target
            if dropped and token.type in ("link_open", "link_close"):
                _clear(token)
    rendered: str = markdown.renderer.render(tokens, markdown.options, {})
    return rendered


def _clear(token: Token) -> None:
    token.type, token.tag, token.content, token.nesting = "text", "", "", 0


def _figure(picture: Picture) -> Markup:
    figure = Markup('<figure class="picture" aria-label="{}">{}</figure>')
    return figure.format(picture.title, inline_picture(picture.svg))


def _folded(sheet: LabTable) -> dict[str, int]:
    """Rungs between the first and the last of each long sweep, with the sweep's number from 1."""
    found: dict[str, int] = {}
    number = 0
    for _, group in groupby(sheet.rows, lambda row: (row.file, row.teaches)):
        titles = [row.title for row in group]
        if len(titles) >= LONG_SWEEP:
            number += 1
            found |= dict.fromkeys(titles[1:-1], number)
    return found


def _sources(sheet: LabTable, sources: Mapping[str, str], links: Mapping[str, str]) -> list[RungSource]:
    taught = lessons(sheet)
    found = []
    for (name, said), (_, group) in zip(
        taught.items(), groupby((row for row in sheet.rows if row.teaches), lambda row: row.teaches), strict=True
    ):
        rows = list(group)
        reports = [(row.title, links[row.title]) for row in rows if row.title in links]
        found.append(RungSource(name, said, sources.get(rows[0].file, ""), reports))
    return found


def ladder(subjects: Sequence[LaunchView]) -> str:
    """The rungs below the roofline of their GPU; "" where fewer than two compute in the same precision."""
    found: dict[str, dict[str, Roofline]] = {}
    for subject in subjects:
        for roof in rooflines(subject, subject.prediction) if subject.prediction else ():
            found.setdefault(roof.precision, {})[subject.title] = roof
    most = max(found.values(), key=len, default={})
    return roofline_path(most) if len(most) > 1 else ""


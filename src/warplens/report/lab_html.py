"""A lab as one page: its table, pictures, and every rung's source beside its machine code.  F7."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from warplens.report import html
from warplens.report.lab import Sheet, foot, lessons, size_told, table
from warplens.report.pictures.roofline_path import roofline_path
from warplens.report.roofline import Roofline, rooflines
from warplens.report.subject import Subject


@dataclass(frozen=True, slots=True)
class LabView:
    """What lab.html.j2 prints: the table in words, and pictures as (title, address that holds the drawing)."""

    sheet: Sheet
    size: str
    headings: list[str]
    rows: list[list[str]]
    foot: list[str]
    lessons: dict[str, list[str]]
    pictures: list[tuple[str, str]]


def page(sheet: Sheet, subjects: Sequence[Subject], pictures: Mapping[str, str]) -> str:
    """subjects: of the rungs that are kernels;  pictures: SVG by title."""
    drawn = dict(pictures)
    if path := ladder(subjects):
        drawn["Roofline with the rungs as a path"] = path
    headings, rows = table(sheet)
    addresses = [(title, as_address(svg)) for title, svg in drawn.items()]
    view = LabView(sheet, size_told(sheet.size), headings, rows, foot(sheet), lessons(sheet), addresses)
    return html.page(subjects, lab=view)


def ladder(subjects: Sequence[Subject]) -> str:
    """The rungs below the roofline of their GPU; "" where fewer than two compute in the same precision."""
    found: dict[str, dict[str, Roofline]] = {}
    for subject in subjects:
        for roof in rooflines(subject, subject.prediction) if subject.prediction else ():
            found.setdefault(roof.precision, {})[subject.title] = roof
    most = max(found.values(), key=len, default={})
    return roofline_path(most) if len(most) > 1 else ""


def as_address(svg: str) -> str:
    """A drawing inside of the page, with styles of its own."""
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"

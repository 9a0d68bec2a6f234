"""Lab page contents: the lesson in README.md, pictures and the rungs' sources."""

from __future__ import annotations

from collections.abc import Sequence

from warplens.labs.lab import Lab
from warplens.labs.lab_pictures import path
from warplens.labs.stored_results import PART, README
from warplens.report.html.lab_page import Part, Picture


def lesson(lab: Lab) -> Sequence[Part]:
    """The README's parts in order; only the table if the lab has no README."""
    path = lab.folder / README
    if not path.is_file():
        return [Part("table", "")]
    page = path.read_text(encoding="utf-8")
    parts, end = [], 0
    for found in PART.finditer(page):
        kind, _, name = found["what"].partition(" ")
        parts += [Part("prose", page[end : found.start()]), Part(kind, name)]
        end = found.end()
    return [*parts, Part("prose", page[end:])]


def pictures(lab: Lab) -> dict[str, Picture]:
    """The drawings in pictures/ (written by --write), by name."""
    found = {}
    for picture in lab.file.pictures:
        name = str(picture.get("file"))
        if path(lab, name).is_file():
            found[name] = Picture(str(picture.get("title", name)), path(lab, name).read_text(encoding="utf-8"))
    return found


def sources(lab: Lab) -> dict[str, str]:
    """Text of each rung's file, by its name."""
    files = {rung.entry.file for rung in lab.rungs}
    return {file: (lab.folder / file).read_text(encoding="utf-8") for file in files}

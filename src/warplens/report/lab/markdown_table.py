"""A lab's table for its README."""

from __future__ import annotations

from warplens.report.lab.lab_table import LabTable, foot, lessons
from warplens.report.lab.lab_table import table as rows_of


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def table(sheet: LabTable) -> str:
    """Rungs lead to their files; published figures have a column of their own; what each rung shows stands below."""
    headings, rows = rows_of(sheet)
    published = any(row.published for row in sheet.rows)
    files = {row.title: f"[{row.title}]({row.file})" for row in sheet.rows}
    said = {row.title: "; ".join(row.published) for row in sheet.rows}
    ruler = "|---" + "|--:" * (len(headings) - 1) + "|---" * published + "|"
    lines = [_row(headings + ["Published"] * published), ruler]
    for cells in rows:
        told = [said.get(cells[0], "")] * published
        lines.append(_row([files.get(cells[0], cells[0]), *cells[1:], *told]))
    notes = ["This is the small size."] * (sheet.size == "small")
    notes += [line for line in foot(sheet) if not line.startswith("Published: ")]
    shown = [f"- {name}: {'. '.join(said)}." for name, said in lessons(sheet).items()]
    return "\n".join([*lines, "", *shown, *[""] * bool(shown), " ".join(notes)]) + "\n"

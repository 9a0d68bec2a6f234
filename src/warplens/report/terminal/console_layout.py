"""What all reports in the terminal are laid out with: the console, headings, tables, numbers."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, Sequence
from typing import TextIO, cast

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.segment import Segment
from rich.table import Column, Table
from rich.text import Text

from warplens.control_characters import visible

WIDEST = 140
GAP = 2  # blanks between columns
LEAST = 8  # characters that a column of texts keeps


class Page(Console):
    """Texts from files cannot steer the terminal."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)

    def on_broken_pipe(self) -> None:
        """The reader of the pipe has seen enough: cli.py ends quietly; rich would end with code 1."""
        raise BrokenPipeError


def console(file: TextIO | None = None) -> Console:
    """Colour only where a terminal shows it and NO_COLOR is not set; COLUMNS is respected up to WIDEST."""
    made = Page(file=file or cast(TextIO, Trimmed(sys.stdout)), highlight=False, emoji=False, markup=False)
    made.width = min(made.width, WIDEST)
    return made


class Trimmed(io.TextIOBase):
    """Writes lines without the blanks that tables are filled up with."""

    def __init__(self, file: TextIO) -> None:
        self.file = file

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self.file.encoding

    def isatty(self) -> bool:
        return self.file.isatty()

    def fileno(self) -> int:
        return self.file.fileno()

    def write(self, text: str) -> int:
        lines = text.split("\n")  # whole lines, as the console writes a print at once
        return self.file.write("\n".join([*(line.rstrip(" ") for line in lines[:-1]), lines[-1]]))

    def flush(self) -> None:
        self.file.flush()


def titled(title: str, provenance: str, body: RenderableType) -> RenderableType:
    """A section: its heading, where its numbers come from, its body."""
    heading = Text.assemble("\n", (title, "bold cyan"), (f"  {provenance}" if provenance else "", "dim"))
    return Group(heading, body)


class TableGrid(Table):
    """A table without lines in which no number is cut: one column of texts takes what the others leave.

    texts   the column that gives way
    """

    def __init__(self, texts: int) -> None:
        super().__init__(box=None, padding=(0, GAP, 0, 0), pad_edge=False, header_style="dim")
        self.texts = texts

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.columns[self.texts].width = None
        widths = [natural_width(column) for column in self.columns]
        room = options.max_width - GAP * (len(widths) - 1) - sum(widths) + widths[self.texts]
        self.columns[self.texts].width = max(min(room, widths[self.texts]), LEAST)
        return super().__rich_console__(console, options)


def natural_width(column: Column) -> int:
    """As it was given, or of its longest cell, in characters."""
    return column.width or max(cell_len(str(cell)) for cell in (column.header, *column.cells))


def grid_of(first: str, *numbers: str, wide: str | None = None) -> Table:
    """A table without lines: a column of words, `wide` of longer texts, columns of numbers."""
    table = TableGrid(0 if wide is None else 1)
    table.add_column(first, no_wrap=wide is not None, overflow="fold")
    if wide is not None:
        table.add_column(wide, no_wrap=True, overflow="ellipsis")
    for head in numbers:
        table.add_column(head, justify="right", no_wrap=True)
    return table


def facts(rows: dict[str, str]) -> Table:
    """Names and their values, one a row."""
    table = Table(box=None, show_header=False, padding=(0, GAP, 0, 0), pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    for name, value in rows.items():
        table.add_row(name, Text(value))
    return table


def number(amount: int) -> str:
    """Whole, with separators; from 10^10 on in thousand millions."""
    return f"{amount:,}" if amount < 10**10 else f"{amount / 10**9:,.1f} G"


def short(amount: int) -> str:
    """At most 7 characters: "99,999", "16.8 M", "1.53 G"."""
    for size, letter in ((10**12, "T"), (10**9, "G"), (10**6, "M"), (10**3, "k")):
        if amount >= max(size, 10**5):
            return f"{amount / size:.3g} {letter}" if amount < 999.5 * size else f"{amount / size:,.0f} {letter}"
    return f"{amount:,}"


def table_width(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """As grid_of() draws it, in characters."""
    widths = [max(map(len, texts)) for texts in zip(["", *columns], *rows, strict=True)]
    return sum(widths) + GAP * (len(widths) - 1)

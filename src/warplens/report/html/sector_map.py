"""Sector map: a buffer as rows of sectors, coloured by how often each was moved, with the share of unused bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from warplens.report.access_patterns import SECTOR, BufferUse
from warplens.report.html.page_shell import HEAT_STEPS

ACROSS, ROWS = 32, 24  # sectors of a row: 1 KiB;  rows that are drawn
CELL, HIGH = 20, 12  # size of a cell


@dataclass(frozen=True, slots=True)
class Cell:
    """Neighbours in a row that were used alike.

    step   colour of 1, 2, 4, 8, 16 requests and more;  unused: height of the part for bytes never used
    """

    x: float
    y: float
    width: float
    step: int
    unused: float
    title: str


@dataclass(frozen=True, slots=True)
class SectorMap:
    """first, last: bytes of the buffer that are drawn;  left_out: sectors that were moved and are not drawn"""

    use: BufferUse
    cells: tuple[Cell, ...]
    rows: int
    first: int
    last: int
    left_out: int

    @property
    def legend(self) -> list[tuple[int, str]]:
        """Step of a colour, and the numbers of requests that it stands for, as far as the map has them."""
        steps = range(1, min(self.use.most.bit_length(), HEAT_STEPS) + 1)
        return [(step, _times(step)) for step in steps]


def _times(step: int) -> str:
    """ "1", "2-3", "4-7", "8-15", "16 and more"."""
    least = 1 << step - 1
    return f"{least} and more" if step == HEAT_STEPS else "1" if step == 1 else f"{least}-{2 * least - 1}"


def sector_map(use: BufferUse) -> SectorMap:
    start = min(use.fetches) // ACROSS * ACROSS
    end = min(max(use.fetches) + 1, start + ACROSS * ROWS)
    drawn = [sector for sector in range(start, end) if sector in use.fetches]
    rows = (end - start + ACROSS - 1) // ACROSS
    return SectorMap(
        use, tuple(_cells(use, start, end)), rows, start * SECTOR, min(end * SECTOR, use.buffer.size) - 1,
        len(use.fetches) - len(drawn),
    )  # fmt: skip


def _cells(use: BufferUse, start: int, end: int) -> Iterator[Cell]:
    def alike(sector: int) -> tuple[int, int, int]:
        return sector // ACROSS, use.fetches.get(sector, 0), use.used.get(sector, 0).bit_count()

    for (row, fetches, used), group in groupby(range(start, end), alike):
        sectors = list(group)
        if not fetches:
            continue
        first, last = sectors[0] * SECTOR, (sectors[-1] + 1) * SECTOR - 1
        text = f"bytes {first:,} to {last:,}: each sector moved {fetches} time{'s' * (fetches > 1)}"
        if used < SECTOR:
            text += f", {SECTOR - used} of 32 bytes never used"
        yield Cell(
            x=sectors[0] % ACROSS * CELL, y=(row - start // ACROSS) * (HIGH + 2), width=len(sectors) * CELL,
            step=min(fetches.bit_length(), HEAT_STEPS), unused=HIGH * (SECTOR - used) / SECTOR, title=text,
        )  # fmt: skip

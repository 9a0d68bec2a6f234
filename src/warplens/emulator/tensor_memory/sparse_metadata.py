"""Sparse metadata: which elements along K a sparse A has, from tensor memory (tcgen05.mma.sp).

Four bits name what is kept of four elements, two of them, or of two of TF32, one.  Where they lie is as CUTLASS lays
them out for 128 rows; the PTX ISA shows the same in figures.
"""

from __future__ import annotations

from warplens.emulator.tensor_memory.tensor_cells import Cells
from warplens.simc import compiled

WORD = 32


@compiled
def names(cells: Cells, address: int, bits: int, row: int, group: int) -> int:
    """The four bits of a group of elements of `bits`: of bytes, in the row's lane; else half a word for each of two
    rows 8 apart, in lanes that 8 further have the second half of K."""
    column = address & 0xFFFF
    if bits <= 8:
        return int(cells[row, column + 4 * group // WORD] >> 4 * group % WORD & 15)
    lane = row % 8 + group // 4 * 8 + row // 16 * 16
    return int(cells[lane, column] >> row // 8 % 2 * 16 + group % 4 * 4 & 15)


@compiled
def place_of(cells: Cells, address: int, bits: int, row: int, kept: int) -> int:
    """The place along K of the element that A has as `kept`-th."""
    if bits == WORD:
        found = int(names(cells, address, bits, row, kept))
        return 2 * kept + (found >> 1 & 1)
    found = int(names(cells, address, bits, row, kept // 2))
    return kept // 2 * 4 + (found >> kept % 2 * 2 & 3)

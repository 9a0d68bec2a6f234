"""Fragments: layout of a tensor instruction's matrices in registers (PTX ISA, "Matrix fragments for mma").

All shapes are cut the same way.  Lane 4 g + s of one register of A holds, of row g, the elements that fill a word from
place s on; registers alternate between the rows g and g + 8 where there are 16, and go on along the row.  Registers of
B hold column g in the same way.  Lane 4 g + t gets the results of row g (then g + 8) in the columns 2 t and 2 t + 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

LANES = range(32)
ROW = [[lane // 4 * 4 + s for lane in LANES] for s in range(4)]
COLUMN = [[[(lane % 4 * 2 + side) * 4 + s for lane in LANES] for s in range(4)] for side in range(2)]


class FragmentElement(Protocol):
    """Something that each lane holds."""

    def of_lanes(self: E, lanes: Sequence[int]) -> E: ...


E = TypeVar("E", bound=FragmentElement)


def row(registers: Sequence[Sequence[E]], halves: int, half: int) -> list[E]:
    """The row of A that a lane's results of this half need, from the elements of each register."""
    own = registers[half::halves]
    return [element.of_lanes(lanes) for elements in own for lanes in ROW for element in elements]


def column(registers: Sequence[Sequence[E]], side: int) -> list[E]:
    """The column of B that a lane's results on this side need."""
    return [element.of_lanes(lanes) for elements in registers for lanes in COLUMN[side] for element in elements]

"""Tensor copies: tcgen05.cp, from shared memory to tensor memory.

The rows lie in shared memory as those of a K-major matrix; to which lanes they go, the PTX ISA lists by shape.
"""

from __future__ import annotations

from typing import NamedTuple

from warplens.emulator.tensor_memory.operand_matrix import CHUNK, Shared, element_place, operand_matrix
from warplens.emulator.tensor_memory.tensor_cells import DONE, LANES, QUARTER, Cells, wrong_columns
from warplens.emulator.tensor_memory.tensor_multiply import OUTSIDE, WRONG_LANE
from warplens.simc import compiled

WORDS = 4  # of a chunk
IN_ORDER, OF_QUARTERS, HALVES, PAIRS, EVERY_QUARTER = range(5)  # lanes that get a row


class CopyForm(NamedTuple):
    """Copy form: rows, chunks of 16 bytes of each, and to which lanes they go.

    IN_ORDER       row r to lane r
    OF_QUARTERS    row r to the first lane of quarter r
    HALVES         of 64 rows, row r to lanes r and 64 + r (warpx2::02_13)
    PAIRS          of 64 rows, each 32 to two quarters (warpx2::01_23)
    EVERY_QUARTER  of 32 rows, row r to lane r of each quarter (warpx4)
    """

    rows: int
    chunks: int
    lanes: int


@compiled
def lane_of(form: CopyForm, row: int, number: int) -> int:
    """The lane of a row's copy; -1 if there are not so many copies."""
    if form.lanes == OF_QUARTERS:
        return row * QUARTER if number == 0 else -1
    if form.lanes == HALVES:
        return row + number * 64 if number < 2 else -1
    if form.lanes == PAIRS:
        return row // QUARTER * 64 + row % QUARTER + number * QUARTER if number < 2 else -1
    if form.lanes == EVERY_QUARTER:
        return row + number * QUARTER
    return row if number == 0 else -1


@compiled
def copy(
    form: CopyForm, cells: Cells, shared: Shared, descriptor: int, address: int, held: int, base: int
) -> tuple[int, int]:  # fmt: skip
    """What is wrong, and where; `base`: the first address of shared memory."""
    origin, first = address >> 16 & 0xFFFF, address & 0xFFFF
    wrong, place = wrong_columns(first, WORDS * form.chunks, held)
    if wrong:
        return wrong, place
    matrix = operand_matrix(descriptor)
    for row in range(form.rows):
        for chunk in range(form.chunks):
            at, _ = element_place(matrix, 0, 8, CHUNK, row, chunk * CHUNK)
            offset = at - base
            if offset < 0 or offset + CHUNK > shared.size:
                return OUTSIDE, at
            for word in range(WORDS):
                value = 0
                for byte in range(4):
                    value = value | shared[offset + 4 * word + byte] << 8 * byte
                for number in range(4):
                    lane = lane_of(form, row, number)
                    if lane >= 0:
                        if lane + origin >= LANES:
                            return WRONG_LANE, origin
                        cells[lane + origin, first + WORDS * chunk + word] = value
    return DONE, 0

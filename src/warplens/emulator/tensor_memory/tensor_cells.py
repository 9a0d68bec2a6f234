"""Tensor cells: allocation of tensor memory, and which of its words a warp's registers load and store.

It has 128 lanes of 512 columns, 32 bits each; an address has the lane in its high half and the column in its low half.
Columns are allocated in slots of 32.  A warp reaches the 32 lanes of its own quarter, by its number modulo 4.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warplens.simc import compiled

LANES, COLUMNS, SLOT, SLOTS = 128, 512, 32, 16
QUARTER, HALF = 32, 16  # lanes of a warp, and of a shape with 16 of them
# Shapes of loads and stores: the instruction accesses 32 lanes, or 16 with so many bits each, or one of two halves.
WHOLE, NARROW, MIDDLE, BROAD, FIRST_HALF, SECOND_HALF = range(6)
DONE, NOT_ALLOCATED, BEYOND, OTHER_LANES, NO_SIZE = range(5)  # what is wrong
Cells = NDArray[np.uint32]


class CellForm(NamedTuple):
    """Cell form: what the opcode of a load or store says.

    words   registers of a lane;  packed: whether the low halves of two columns are one register
    """

    shape: int
    words: int
    packed: int


@compiled
def allocate(cells: Cells, slots: int, held: int) -> tuple[int, int, int]:
    """Finds and zeroes so many free slots, at a multiple of their number: what is wrong, the first, and what is then
    held; the first is -1 if there are none."""
    if slots < 1 or slots > SLOTS or slots & slots - 1:
        return NO_SIZE, -1, held
    wanted = (1 << slots) - 1
    for number in range(SLOTS // slots):
        first = number * slots
        if held >> first & wanted == 0:
            for lane in range(LANES):
                for column in range(first * SLOT, (first + slots) * SLOT):
                    cells[lane, column] = 0
            return DONE, first, held | wanted << first
    return DONE, -1, held


@compiled
def register_cell(form: CellForm, lane: int, word: int) -> tuple[int, int]:
    """Lane of the quarter, or of its half, and column of a register, from the first on; a column of 16 bits has as
    many registers where they are packed."""
    if form.shape == WHOLE:
        return lane, word
    if form.shape == NARROW:
        return lane // 4 + 8 * (lane % 2), lane // 2 % 2 + 2 * word
    if form.shape == MIDDLE:
        return lane // 4 + 8 * (word % 2), lane % 4 + 4 * (word // 2)
    if form.shape == BROAD:
        return lane // 4 + 8 * (word // 2 % 2), word % 2 + 2 * (lane % 4) + 8 * (word // 4)
    return lane % HALF, word


@compiled
def first_lane(form: CellForm, address: int, warp: int) -> int:
    """Of an access, -1 if it is not the warp's; an address without a quarter means the warp's own."""
    quarter, lane = QUARTER * (warp & 3), address >> 16 & 0xFFFF
    within = lane - quarter if lane >= QUARTER else lane
    if within != 0 and (form.shape == WHOLE or within != HALF):
        return -1
    return quarter + within


@compiled
def wrong_columns(first: int, count: int, held: int) -> tuple[int, int]:
    """What is wrong with these columns, and the first that is."""
    if first + count > COLUMNS:
        return BEYOND, max(first, COLUMNS)
    for slot in range(first // SLOT, (first + count - 1) // SLOT + 1):
        if not held >> slot & 1:
            return NOT_ALLOCATED, max(first, slot * SLOT)
    return DONE, 0


@compiled
def wrong_access(form: CellForm, address: int, warp: int, held: int) -> tuple[int, int]:
    """What is wrong with a load or store, and the lane or the column that it is wrong with."""
    if first_lane(form, address, warp) < 0:
        return OTHER_LANES, address >> 16 & 0xFFFF
    _, last = register_cell(form, 31, form.words - 1)
    wrong, place = wrong_columns(address & 0xFFFF, (last + 1) * (1 + form.packed), held)
    return wrong, place


@compiled
def load(form: CellForm, cells: Cells, words: Cells, address: int, warp: int, held: int) -> tuple[int, int]:
    """To words[register, lane]."""
    wrong, place = wrong_access(form, address, warp, held)
    if wrong:
        return wrong, place
    top, left = first_lane(form, address, warp), address & 0xFFFF
    for word in range(form.words):
        for lane in range(32):
            if (form.shape != FIRST_HALF or lane < HALF) and (form.shape != SECOND_HALF or lane >= HALF):
                row, column = register_cell(form, lane, word)
                if form.packed:
                    low, high = cells[top + row, left + 2 * column], cells[top + row, left + 2 * column + 1]
                    words[word, lane] = low & 0xFFFF | high << 16
                else:
                    words[word, lane] = cells[top + row, left + column]
    return DONE, 0


@compiled
def store(form: CellForm, cells: Cells, words: Cells, address: int, warp: int, held: int) -> tuple[int, int]:
    """From words[register, lane]."""
    wrong, place = wrong_access(form, address, warp, held)
    if wrong:
        return wrong, place
    top, left = first_lane(form, address, warp), address & 0xFFFF
    for word in range(form.words):
        for lane in range(32):
            if (form.shape != FIRST_HALF or lane < HALF) and (form.shape != SECOND_HALF or lane >= HALF):
                row, column = register_cell(form, lane, word)
                if form.packed:
                    cells[top + row, left + 2 * column] = words[word, lane] & 0xFFFF
                    cells[top + row, left + 2 * column + 1] = words[word, lane] >> 16
                else:
                    cells[top + row, left + column] = words[word, lane]
    return DONE, 0

"""Box walk: the units of a box in order, with their addresses in global and shared memory.

A unit is what one lane moves: the most bytes, at most 16, such that every unit lies wholly in the tensor or wholly
outside, and starts at a multiple of its size.  A row of the box is its extent in dimension 0, or the channels of a
pixel.  `begin` reads the map and the coordinates, each `advance` fills in the next 32 units.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warplens.simc import compiled

LANES, AXES, WIDEST = 32, 5, 16
# Rows of a walk, 32 numbers each: addresses of the units at hand, the map's words, what the instruction gives, state.
GLOBAL, SHARED, MAP, GIVEN, STATE, ROWS = 0, 1, 2, 3, 4, 5
# Of GIVEN: the place in shared memory, offsets of an im2col load, coordinates; whether the box is stored, the most
# bytes of a unit, and whether several blocks get it.
PLACE, OFFSETS, AT, STORED, MOST, MULTICAST = 0, 1, 2, 7, 8, 9
UNIT, UNITS, DONE, ROWS_LEFT, ROW_PLACE = 0, 1, 2, 3, 4  # of STATE: the row at hand
SECTORS, SECTOR = 5, 6  # sectors of global memory so far, and the last of the request
IN_TENSOR, SPANNED, ASKED = 28, 29, 30  # of the request: whether it is in the tensor in part, its sectors, its units
LINE = 128  # a request does not go beyond a line of shared memory (measured)
FIRST, LAST, COUNT, X = 8, 13, 18, 23  # and of each axis: first and last coordinate, steps of a tile, that at hand
FLAGS, STRIDES, HIGH_STRIDES, SIZES, STEPS, BOX, PIXELS = 2, 3, 7, 8, 13, 14, 15  # words of a map (core/tensor_map.py)
NOTHING, NO_MAP, MISPLACED, UNALIGNED, AHEAD = 0, 1, 2, 3, 4  # what begin() finds wrong
Walk = NDArray[np.int64]


class BoxForm(NamedTuple):
    """Box form: what the opcode says: dimensions, and whether it takes a column of pixels."""

    axes: int
    im2col: int


@compiled
def begin(form: BoxForm, walk: Walk) -> tuple[int, int, int, int]:
    """What is wrong, bytes of a unit, bytes of the box, FLAGS."""
    flags = walk[MAP, FLAGS]
    if (flags >> 4 & 7) + 1 != form.axes or (flags & 1) != form.im2col:
        return NO_MAP, 0, 0, 0
    if walk[GIVEN, PLACE] & 127:
        return MISPLACED, 0, 0, 0
    size = inner_bytes(flags)
    if walk[GIVEN, AT] * size & WIDEST - 1:
        return UNALIGNED, 0, 0, 0
    for axis in range(AXES):
        walk[STATE, X + axis] = walk[GIVEN, AT + axis] if axis < form.axes else 0
        walk[STATE, FIRST + axis] = walk[STATE, X + axis]
        walk[STATE, COUNT + axis] = 0
    rows = 1
    ahead = 0
    if form.im2col:
        ahead = corners(form, walk)
        rows = walk[MAP, PIXELS] + 1
    else:
        for axis in range(1, form.axes):
            rows = rows * steps_of(form, walk, axis)
    for axis in range(form.axes):
        if walk[GIVEN, AT + axis] < 0:
            ahead = 1
    if ahead and walk[GIVEN, STORED]:
        return AHEAD, 0, 0, 0
    row_bytes = size if form.im2col and interleaved(walk) else steps_of(form, walk, 0) * size
    walk[STATE, UNIT] = unit_bytes(walk, size)
    walk[STATE, SECTORS], walk[STATE, SECTOR] = 0, -1
    walk[STATE, IN_TENSOR], walk[STATE, SPANNED], walk[STATE, ASKED] = 0, 0, 0
    walk[STATE, UNITS] = row_bytes // walk[STATE, UNIT]
    walk[STATE, ROWS_LEFT], walk[STATE, DONE], walk[STATE, ROW_PLACE] = rows, 0, walk[GIVEN, PLACE]
    return NOTHING, walk[STATE, UNIT], rows * row_bytes, flags


@compiled
def inner_bytes(flags: int) -> int:
    """Of an element along axis 0: where channels are interleaved, of a group of them."""
    interleave, code = flags >> 11 & 3, flags >> 7 & 15
    if interleave:
        return int(16 * interleave)
    if code == 0:
        return 1
    if code == 1 or code == 6 or code == 10:
        return 2
    return 8 if code == 4 or code == 5 or code == 9 else 4


@compiled
def interleaved(walk: Walk) -> int:
    """Whether channels are in groups: then the axes are those of the picture, the groups, and the pictures."""
    return 1 if walk[MAP, FLAGS] >> 11 & 3 else 0


@compiled
def step(walk: Walk, axis: int) -> int:
    """Along axis 0 there is none, but where channels are interleaved."""
    if axis == 0 and interleaved(walk) == 0:
        return 1
    return int(walk[MAP, STEPS] >> 3 * axis & 7) + 1


@compiled
def steps_of(form: BoxForm, walk: Walk, axis: int) -> int:
    """Elements of the box along an axis, of which each step-th is taken; of groups of channels one (measured)."""
    if axis == form.axes - 2 and interleaved(walk):
        return 1
    size = (walk[MAP, STEPS] >> 24 & 255) + 1 if axis == 0 else (walk[MAP, BOX] >> 8 * (axis - 1) & 255) + 1
    return int(size + step(walk, axis) - 1) // int(step(walk, axis))


@compiled
def stride(walk: Walk, axis: int) -> int:
    """Bytes from one element to the next along an axis from 1 on."""
    return int(walk[MAP, STRIDES + axis - 1] | (walk[MAP, HIGH_STRIDES] >> 4 * (axis - 1) & 15) << 32) << 4


@compiled
def row_pitch(walk: Walk) -> int:
    """Bytes from one row to the next in shared memory: the span of the swizzle, if any; not of groups of channels."""
    swizzle = walk[MAP, FLAGS] >> 13 & 3
    return 16 << swizzle if swizzle and interleaved(walk) == 0 else int(walk[STATE, UNITS] * walk[STATE, UNIT])


@compiled
def inner_end(walk: Walk) -> int:
    """Bytes of the tensor along axis 0; of a store all of its last 16 are written (measured)."""
    end = (walk[MAP, SIZES] + 1) * inner_bytes(walk[MAP, FLAGS])
    return int(end + WIDEST - 1 & -WIDEST if walk[GIVEN, STORED] else end)


@compiled
def unit_bytes(walk: Walk, size: int) -> int:
    if step(walk, 0) > 1:
        return min(size, WIDEST)
    unit, edges = max(min(walk[GIVEN, MOST], WIDEST), min(size, WIDEST)), walk[STATE, X] * size | inner_end(walk)
    while unit > min(size, WIDEST) and edges & (unit - 1):
        unit = unit // 2
    return int(unit)


@compiled
def corners(form: BoxForm, walk: Walk) -> int:
    """First and last coordinate of the pixels in the bounding box; 1 if it reaches beyond the tensor."""
    beyond = 0
    bits = 16 if form.axes == 3 else 8 if form.axes == 4 else 5
    for k in range(form.axes - 2):
        axis = k + 1 - interleaved(walk)
        low = walk[MAP, BOX] >> bits * k & (1 << bits) - 1
        high = walk[MAP, BOX] >> 16 + bits * k & (1 << bits) - 1
        walk[STATE, FIRST + axis] = low - (1 << bits) if low >> bits - 1 else low
        walk[STATE, LAST + axis] = walk[MAP, SIZES + axis] + (high - (1 << bits) if high >> bits - 1 else high)
        if walk[STATE, FIRST + axis] < 0 or walk[STATE, LAST + axis] > walk[MAP, SIZES + axis]:
            beyond = 1
    return beyond


@compiled
def advance(form: BoxForm, walk: Walk) -> tuple[int, int, int]:
    """The next units: lanes whose unit lies in the tensor, and lanes with one of the box outside; and the sectors of
    all so far, those that requests share each time (measured)."""
    lane, within, outside = 0, 0, 0
    while lane < LANES and walk[STATE, ROWS_LEFT] > 0:
        count = min(LANES - lane, walk[STATE, UNITS] - walk[STATE, DONE])
        start = row_start(form, walk)
        lanes = (1 << count) - 1 << lane
        inner = fill_in(form, walk, lane, count, start)
        within, outside = within | inner, outside | lanes ^ inner
        lane = lane + count
        walk[STATE, DONE] = walk[STATE, DONE] + count
        if walk[STATE, DONE] == walk[STATE, UNITS]:
            walk[STATE, DONE] = 0
            walk[STATE, ROWS_LEFT] = walk[STATE, ROWS_LEFT] - 1
            if walk[STATE, ROWS_LEFT] == 0 or not (form.im2col and interleaved(walk)):
                end_request(walk)
            walk[STATE, ROW_PLACE] = walk[STATE, ROW_PLACE] + row_pitch(walk)
            next_row(form, walk)
    return within, outside, walk[STATE, SECTORS]


@compiled
def row_start(form: BoxForm, walk: Walk) -> int:
    """Address of coordinate 0 of the row at hand; -1 if the row lies outside of the tensor."""
    address = walk[MAP, 0] | walk[MAP, 1] << 32
    for axis in range(1, form.axes):
        x = walk[STATE, X + axis] + offset(form, walk, axis)
        if x < 0 or x > walk[MAP, SIZES + axis]:
            return -1
        address = address + x * stride(walk, axis)
    return int(address)


@compiled
def offset(form: BoxForm, walk: Walk, axis: int) -> int:
    """Of an im2col load, along an axis of the picture."""
    bits = 16 if form.axes == 3 else 8 if form.axes == 4 else 5
    k = axis - 1 + interleaved(walk)
    if form.im2col == 0 or k < 0 or k >= form.axes - 2:
        return 0
    return int(walk[GIVEN, OFFSETS] >> bits * k & (1 << bits) - 1)


@compiled
def fill_in(form: BoxForm, walk: Walk, lane: int, count: int, start: int) -> int:
    """Addresses of the next `count` units of a row, which starts at -1 if it lies outside of the tensor; those that lie
    in the tensor, as a mask of lanes."""
    unit, flags, within = walk[STATE, UNIT], walk[MAP, FLAGS], 0
    size, swizzle = inner_bytes(flags), flags >> 13 & 3
    end, far = inner_end(walk), unit * step(walk, 0)
    chunks = (1 << swizzle) - 1
    x = (walk[STATE, X] + offset(form, walk, 0)) * size + walk[STATE, DONE] * far
    place = walk[STATE, ROW_PLACE] + walk[STATE, DONE] * unit
    for k in range(count):
        walk[GLOBAL, lane + k] = start + x
        walk[SHARED, lane + k] = place ^ (place >> 7 & chunks) << 4
        if place & LINE - 1 == 0 or (walk[GIVEN, MULTICAST] and start + x & LINE - 1 == 0):
            end_request(walk)
        if start >= 0 and x >= 0 and x < end:
            within = within | 1 << lane + k
            walk[STATE, IN_TENSOR] = 1
        if within >> lane + k or not walk[GIVEN, STORED]:
            walk[STATE, ASKED] = walk[STATE, ASKED] + 1
            if start + x >> 5 != walk[STATE, SECTOR]:
                walk[STATE, SECTOR] = start + x >> 5
                walk[STATE, SPANNED] = walk[STATE, SPANNED] + 1
        x, place = x + far, place + unit
    return within


@compiled
def end_request(walk: Walk) -> None:
    """Counts its sectors: also those beyond the tensor's edge, and as many for what lies wholly outside (measured)."""
    sectors = walk[STATE, SPANNED] if walk[STATE, IN_TENSOR] else walk[STATE, ASKED] * walk[STATE, UNIT] + 31 >> 5
    if sectors == 1 and walk[GIVEN, MULTICAST]:
        sectors = 2
    walk[STATE, SECTORS] = walk[STATE, SECTORS] + sectors
    walk[STATE, SECTOR], walk[STATE, IN_TENSOR], walk[STATE, SPANNED], walk[STATE, ASKED] = -1, 0, 0, 0


@compiled
def next_row(form: BoxForm, walk: Walk) -> None:
    for axis in range(1 - form.im2col * interleaved(walk), form.axes):
        if form.im2col and interleaved(walk) and axis == form.axes - 2:
            continue
        walk[STATE, X + axis] = walk[STATE, X + axis] + step(walk, axis)
        if form.im2col:
            if axis == form.axes - 1 or walk[STATE, X + axis] <= walk[STATE, LAST + axis]:
                return
        else:
            walk[STATE, COUNT + axis] = walk[STATE, COUNT + axis] + 1
            if walk[STATE, COUNT + axis] < steps_of(form, walk, axis):
                return
            walk[STATE, COUNT + axis] = 0
        walk[STATE, X + axis] = walk[STATE, FIRST + axis]


@cache
def walk_code() -> tuple[int, int]:
    """Host addresses of the code of begin and advance."""
    form, walk = BoxForm(0, 0), np.zeros((ROWS, LANES), np.int64)
    return int(begin.address(form, walk)), int(advance.address(form, walk))

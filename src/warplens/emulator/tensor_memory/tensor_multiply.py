"""Tensor multiply: the matrix products of tcgen05.mma: D = A B + D in tensor memory.

By the PTX ISA: the instruction descriptor, where A, B, D and the scale factors lie.  Sums are formed as those of
mma.sync and wgmma of 16-bit floats on an H200 (isa/numerics/float_products.py), which is assumed: all products of the
instruction and the addend are summed at once, each cut off 25 places behind the largest exponent.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warplens.emulator.tensor_memory import element_formats as formats
from warplens.emulator.tensor_memory.element_formats import MIDDLE, NOWHERE, decoded, element_format, half, single
from warplens.emulator.tensor_memory.operand_matrix import Shared, element, operand_matrix
from warplens.emulator.tensor_memory.product_shape import (
    IN_F16,
    IN_F32,
    IN_S32,
    K_MOST,
    NIBBLES,
    ONE,
    PAIR,
    WHOLES,
    ProductForm,
    ProductShape,
    chunk_elements,
    part_lane,
    parts_of,
    shape_of,
)
from warplens.emulator.tensor_memory.sparse_metadata import place_of
from warplens.emulator.tensor_memory.tensor_cells import DONE, LANES, QUARTER, Cells, wrong_columns
from warplens.simc import bits_float, compiled

PLACES = 25
ABSENT = 2 * NOWHERE  # the exponent of what a sparse A leaves out
LEAST = -900  # the least exponent that a sum is cut off by
OUTSIDE, NO_FORM, WRONG_LANE = 16, 17, 18  # what is wrong, beyond tensor_cells: a matrix, the descriptor, D's lane
Doubles = NDArray[np.float64]


class Given(NamedTuple):
    """What the instruction gives: descriptors, addresses in tensor memory, lanes of D that it leaves (a bit each)."""

    a: int
    b: int
    d: int
    descriptor: int
    metadata: int
    scales_a: int
    scales_b: int
    low_lanes: int
    high_lanes: int
    low_lanes_of_peer: int
    high_lanes_of_peer: int
    adds: int
    held: int
    base: int


class BlockMemory(NamedTuple):
    """Tensor memory and shared memory of a block."""

    cells: Cells
    shared: Shared


class Scratch(NamedTuple):
    """Scratch: powers of two; values and exponents of A by row and of B by step along K; and of a row of D.

    tops, scales   the largest exponent of each sum, and the power of two that it is cut off by
    totals, plain  sums of what is left of the terms, and of the whole terms

    Arrays of their own, so that the compiler knows that none overlaps another, and forms several sums at once.
    """

    powers: Doubles
    a: Doubles
    a_exponents: Doubles
    b: Doubles
    b_exponents: Doubles
    tops: Doubles
    scales: Doubles
    totals: Doubles
    plain: Doubles


@compiled
def scale_of(
    powers: Doubles, cells: Cells, form: ProductForm, address: int, selector: int, number: int, row: int, k: int
) -> tuple[float, int]:
    """The scale of an element: rows of 32 lanes, a column each 32 rows, a byte each block along K."""
    byte = selector + k * form.blocks // (K_MOST if form.family == NIBBLES else 32)
    word = cells[row % QUARTER, (address & 0xFFFF) + row // QUARTER]
    value, exponent = formats.scale_factor(powers, number, word >> 8 * (byte & 3) & 0xFF)
    return value, exponent


@compiled
def take_a(
    form: ProductForm, given: Given, shape: ProductShape, block: BlockMemory, scratch: Scratch
) -> tuple[int, int]:  # fmt: skip
    """Values and exponents of A, to a[row, k] and a_exponents[row, k]."""
    layout, matrix, word = element_format(shape.a), operand_matrix(given.a), given.descriptor
    number = formats.UE8M0 if word >> 23 & 1 else formats.UE4M3
    each, cells = chunk_elements(form, layout.bits), block.cells
    for row in range(shape.rows):
        for k in range(shape.depth):
            scratch.a[row, k], scratch.a_exponents[row, k] = 0.0, float(ABSENT)
        for k in range(shape.kept):
            bits, address = 0, 0
            if form.from_cells:
                bit = k * layout.bits
                lane = row if shape.rows == LANES or form.layout == PAIR else row % 16 + row // 16 * QUARTER
                lane = lane + (given.a >> 16 & 16 if shape.rows == 64 and form.layout == ONE else 0)
                bits = cells[lane, (given.a & 0xFFFF) + bit // 32] >> bit % 32 & (1 << layout.bits) - 1
            else:
                bits, address = element(block.shared, given.base, matrix, word >> 15 & 1, layout.bits, each, row, k)
                if bits < 0:
                    return OUTSIDE, address
            value, exponent = decoded(scratch.powers, shape.a, layout, bits)
            if form.blocks:
                scale, place = scale_of(scratch.powers, cells, form, given.scales_a, word >> 29 & 3, number, row, k)
                value, exponent = value * scale, exponent + place
            to = k if shape.kept == shape.depth else place_of(cells, given.metadata, layout.bits, row, k)
            scratch.a[row, to] = -value if word >> 13 & 1 else value
            scratch.a_exponents[row, to] = float(exponent)
    return DONE, 0


@compiled
def take_b(
    form: ProductForm, given: Given, shape: ProductShape, cells: Cells, shared: Shared, scratch: Scratch, first: int,
    last: int,
) -> tuple[int, int]:  # fmt: skip
    """Values and exponents of B's columns from `first` to before `last`, which are the first of this block's shared
    memory, to b[k, column] and b_exponents[k, column]."""
    layout, matrix, word = element_format(shape.b), operand_matrix(given.b), given.descriptor
    number = formats.UE8M0 if word >> 23 & 1 else formats.UE4M3
    each = chunk_elements(form, layout.bits)
    for column in range(first, last):
        for k in range(shape.depth):
            bits, address = element(shared, given.base, matrix, word >> 16 & 1, layout.bits, each, column - first, k)
            if bits < 0:
                return OUTSIDE, address
            value, exponent = decoded(scratch.powers, shape.b, layout, bits)
            if form.blocks:
                scale, place = scale_of(scratch.powers, cells, form, given.scales_b, word >> 4 & 3, number, column, k)
                value, exponent = value * scale, exponent + place
            scratch.b[k, column] = -value if word >> 14 & 1 else value
            scratch.b_exponents[k, column] = float(exponent)
    return DONE, 0


@compiled
def addend(form: ProductForm, shape: ProductShape, powers: Doubles, word: int) -> tuple[float, int]:
    """Of D, and its exponent."""
    if shape.d == IN_S32:
        return float(word - (1 << 32) if word >> 31 else word), 0
    value, exponent = 0.0, 0
    if shape.d == IN_F16:
        value, exponent = decoded(powers, formats.F16, element_format(formats.F16), word & 0xFFFF)
    else:
        exponent = max(word >> 23 & 0xFF, 1) - 127 if word << 1 & 0xFFFF_FFFF else NOWHERE
        value = bits_float(word)
    return value * powers[MIDDLE - form.halvings], exponent - form.halvings


@compiled
def result(shape: ProductShape, powers: Doubles, saturates: int, value: float) -> int:
    """The word of D, of halves or whole numbers."""
    if shape.d == IN_F16:
        return int(half(powers, value))
    whole = int(value)
    return min(max(whole, -(1 << 31)), (1 << 31) - 1) if saturates else whole


@compiled
def begin_part(
    form: ProductForm, shape: ProductShape, cells: Cells, scratch: Scratch, lane: int, first: int, start: int, adds: int
) -> None:  # fmt: skip
    """Addends of the columns from `start` on, which a lane has from column `first` on, to `plain` and `tops`."""
    share = shape.columns // parts_of(form.layout, shape)
    for column in range(share):
        scratch.plain[start + column], scratch.tops[start + column] = 0.0, float(NOWHERE)
    if adds:
        for column in range(share):
            value, exponent = addend(form, shape, scratch.powers, cells[lane, first + column])
            scratch.plain[start + column], scratch.tops[start + column] = value, float(exponent)


@compiled
def end_part(
    form: ProductForm, given: Given, shape: ProductShape, cells: Cells, scratch: Scratch, lane: int, start: int
) -> None:  # fmt: skip
    """Sums of the columns from `start` on, to a lane."""
    first, share = given.d & 0xFFFF, shape.columns // parts_of(form.layout, shape)
    if shape.d == IN_F32:
        for column in range(share):
            cells[lane, first + column] = single(scratch.plain[start + column])
    else:
        for column in range(share):
            word = result(shape, scratch.powers, given.descriptor >> 3 & 1, scratch.plain[start + column])
            cells[lane, first + column] = word


@compiled
def sum_rows(
    form: ProductForm, given: Given, shape: ProductShape, cells: Cells, scratch: Scratch, peer: int
) -> None:  # fmt: skip
    """All rows of a block: sums of products and addends, to D."""
    parts, top = parts_of(form.layout, shape), given.d >> 16 & 16
    share = shape.columns // parts
    low, high = given.low_lanes, given.high_lanes
    if peer:
        low, high = given.low_lanes_of_peer, given.high_lanes_of_peer
    for row in range(shape.rows):
        for part in range(parts):
            lane = top + part_lane(form.layout, shape, row, part)
            begin_part(form, shape, cells, scratch, lane, given.d & 0xFFFF, part * share, given.adds)
        if form.family == WHOLES:
            for k in range(shape.depth):
                x = scratch.a[row, k]
                for column in range(shape.columns):
                    scratch.plain[column] = scratch.plain[column] + x * scratch.b[k, column]
        else:
            cut_row(shape, scratch, row)
        for part in range(parts):
            lane = top + part_lane(form.layout, shape, row, part)
            masks = high if lane >= 64 else low
            if not masks >> lane % 64 & 1:
                end_part(form, given, shape, cells, scratch, lane, part * share)


@compiled
def cut_row(shape: ProductShape, scratch: Scratch, row: int) -> None:
    """The sums of a row of floats, from addends in `plain` and their exponents in `tops`, to `plain`."""
    for k in range(shape.depth):
        exponent = scratch.a_exponents[row, k]
        for column in range(shape.columns):
            scratch.tops[column] = max(scratch.tops[column], exponent + scratch.b_exponents[k, column])
    for column in range(shape.columns):
        scratch.tops[column] = max(scratch.tops[column], float(LEAST))
        scratch.scales[column] = scratch.powers[PLACES - int(scratch.tops[column]) + MIDDLE]
        scratch.totals[column] = np.trunc(scratch.plain[column] * scratch.scales[column])
    for k in range(shape.depth):
        x = scratch.a[row, k]
        if scratch.a_exponents[row, k] == ABSENT:  # not even an infinite factor makes a NaN of it
            continue
        for column in range(shape.columns):
            product = x * scratch.b[k, column]
            scratch.totals[column] = scratch.totals[column] + np.trunc(product * scratch.scales[column])
            scratch.plain[column] = scratch.plain[column] + product
    for column in range(shape.columns):
        plain = scratch.plain[column]
        if plain - plain == 0.0:  # neither infinite nor a NaN
            power = scratch.powers[int(scratch.tops[column]) - PLACES + MIDDLE]
            scratch.plain[column] = scratch.totals[column] * power


@compiled
def wrong_product(form: ProductForm, given: Given, shape: ProductShape) -> tuple[int, int]:
    """What is wrong with what lies in tensor memory."""
    lane = given.d >> 16 & 0xFFFF
    if lane != 0 and (lane != 16 or shape.rows != 64 or form.layout != ONE):
        return WRONG_LANE, lane
    wrong, place = wrong_columns(given.d & 0xFFFF, shape.columns // parts_of(form.layout, shape), given.held)
    if wrong:
        return wrong, place
    if form.from_cells:
        wrong, place = wrong_columns(given.a & 0xFFFF, shape.kept * element_format(shape.a).bits // 32, given.held)
    if shape.kept < shape.depth and not wrong:
        count = 1 if element_format(shape.a).bits > 8 else 2
        wrong, place = wrong_columns(given.metadata & 0xFFFF, count, given.held)
    if form.blocks and not wrong:
        wrong, place = wrong_columns(given.scales_a & 0xFFFF, (shape.rows + 31) // 32, given.held)
    if form.blocks and not wrong:
        wrong, place = wrong_columns(given.scales_b & 0xFFFF, (shape.columns + 31) // 32, given.held)
    return wrong, place


@compiled
def multiply(form: ProductForm, given: Given, own: BlockMemory, peer: BlockMemory, scratch: Scratch) -> tuple[int, int]:
    """A product: what is wrong, and where.  Of a pair of blocks each has half of A's rows, half of B's columns, and the
    rows of D that belong to its rows of A."""
    shape = shape_of(form, given.descriptor)
    if shape.rows == 0:
        return NO_FORM, given.descriptor
    wrong, place = wrong_product(form, given, shape)
    if wrong:
        return wrong, place
    wrong, place = of_block(form, given, shape, own, own.shared, peer.shared, scratch, 0)
    if form.layout == PAIR and not wrong:
        wrong, place = of_block(form, given, shape, peer, own.shared, peer.shared, scratch, 1)
    return wrong, place


@compiled
def of_block(
    form: ProductForm, given: Given, shape: ProductShape, block: BlockMemory, first: Shared, second: Shared,
    scratch: Scratch, peer: int,
) -> tuple[int, int]:  # fmt: skip
    """The rows of one block; `first` and `second`: where the halves of B lie, of one block all of it in `first`."""
    own = shape.columns // 2 if form.layout == PAIR else shape.columns
    wrong, place = take_a(form, given, shape, block, scratch)
    if wrong == DONE:
        wrong, place = take_b(form, given, shape, block.cells, first, scratch, 0, own)
    if wrong == DONE and own < shape.columns:
        wrong, place = take_b(form, given, shape, block.cells, second, scratch, own, shape.columns)
    if wrong == DONE:
        sum_rows(form, given, shape, block.cells, scratch, peer)
    return wrong, place

"""Product shape: what the opcode and the instruction descriptor of a tcgen05.mma say of its matrices (PTX ISA)."""

from __future__ import annotations

from typing import NamedTuple

from warplens.emulator.tensor_memory import element_formats as formats
from warplens.emulator.tensor_memory.element_formats import element_format
from warplens.emulator.tensor_memory.tensor_cells import LANES, QUARTER
from warplens.simc import compiled

HALVES, BYTES, WHOLES, NIBBLES = range(4)  # families of the opcode: F16, BF16 and TF32; 8 to 4 bits; S8; scaled 4 bits
ONE, STATIONARY, PAIR = range(3)  # layouts of D: of cta_group::1, of .ws, of cta_group::2
IN_F16, IN_F32, IN_S32 = range(3)  # formats of D
K_MOST, N_MOST = 64, 256


class ProductForm(NamedTuple):
    """Product form: what the opcode says.

    family   of the elements;  from_cells: A is in tensor memory
    blocks   scales of a row of A, and of a column of B, by each of which as many products are multiplied; 0 without
    layout   of D
    halvings of the addends (scale-input-d)
    """

    family: int
    from_cells: int
    blocks: int
    layout: int
    halvings: int


class ProductShape(NamedTuple):
    """Product shape: rows of a block, columns, depth, the part of it that A has, formats of A, B and D."""

    rows: int
    columns: int
    depth: int
    kept: int
    a: int
    b: int
    d: int


@compiled
def operand_format(family: int, code: int) -> int:
    if family == HALVES:
        return code if code <= formats.TF32 else formats.NO_FORMAT
    if family == BYTES:
        if code <= 1:
            return formats.E4M3 + code
        return formats.E2M3 + code - 3 if 3 <= code <= 5 else formats.NO_FORMAT
    if family == WHOLES:
        return formats.U8 + code if code <= 1 else formats.NO_FORMAT
    return formats.E2M1 if code == 1 else formats.NO_FORMAT


@compiled
def shape_of(form: ProductForm, word: int) -> ProductShape:
    """By the instruction descriptor; 0 rows if it is none that is executed."""
    none = ProductShape(0, 0, 0, 0, 0, 0, 0)
    a, b = operand_format(form.family, word >> 7 & 7), operand_format(form.family, word >> 10 & 7)
    scaled = form.blocks > 0
    d = IN_F32 if scaled else word >> 4 & 3
    rows, columns = (word >> 24 & 31) * 16, (word >> 17 & 63) * 8
    if a < 0 or b < 0:
        return none
    if form.family == HALVES and (a != b or (a != formats.F16 and d == IN_F16)):
        return none
    if (d == IN_S32) != (form.family == WHOLES) or d > IN_S32:
        return none
    if columns < 8 or columns > N_MOST or (columns % 16 and rows > 64):
        return none
    if form.layout == PAIR:
        rows = rows // 2
    sparse = word >> 2 & 1
    if (form.blocks or sparse) and (rows != LANES or form.layout == STATIONARY):
        return none
    if sparse and (form.blocks or word & 3):
        return none
    narrow = rows == 32 and form.layout == STATIONARY
    if rows != 64 and rows != LANES and not narrow:
        return none
    bits = element_format(a).bits
    depth = 64 if form.family == NIBBLES else 32 if bits < 16 else 256 // bits
    if form.from_cells and (bits < 8 or (form.layout == STATIONARY and rows < LANES)):
        return none
    if form.family == BYTES and ((bits < 8 and word >> 15 & 1) or (element_format(b).bits < 8 and word >> 16 & 1)):
        return none
    return ProductShape(rows, columns, depth * (1 + sparse), depth, a, b, d)


@compiled
def chunk_elements(form: ProductForm, bits: int) -> int:
    """Elements of 16 bytes: 16 also of 6 and 4 bits beside 8-bit floats, with what is left of the 16 bytes unused."""
    return 16 if form.family == BYTES else 128 // bits


@compiled
def part_lane(layout: int, shape: ProductShape, row: int, part: int) -> int:
    """The lane of a part of a row of D; there are several where columns lie side by side in the lanes."""
    if layout == ONE and shape.rows < LANES:
        return row % 16 + row // 16 * QUARTER
    return row + part * shape.rows


@compiled
def parts_of(layout: int, shape: ProductShape) -> int:
    """The parts of a row of D."""
    return 1 if layout == ONE else LANES // shape.rows

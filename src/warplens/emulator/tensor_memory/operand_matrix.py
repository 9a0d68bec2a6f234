"""Operand matrices: where the elements of a matrix lie in shared memory, by its descriptor (PTX ISA, tcgen05).

16 bytes are a chunk.  A matrix is K-major if a chunk runs along K; else it runs along rows of A or columns of B,
which are both called rows here.  Without swizzle the chunks of 8 rows (of 8 steps along K) follow each other; else
they are the width of the swizzle apart, and bits of an address from 7 on are XORed into those that name its chunk, as
for wgmma (docs/mechanisms/wgmma.md).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warplens.simc import compiled

CHUNK, CHUNK_BITS, ROWS = 16, 128, 8
ADDRESS_SPACE = (1 << 18) - 1  # addresses wrap at the end of what a descriptor can name
FIELD = 0x3FFF  # bits of an address or offset, in units of 16 bytes
# Of the swizzle mode: 128 bytes in chunks of 32, 128, 64, 32 bytes.
BROAD_CHUNKS, WIDE, MIDDLE, NARROW = 1, 2, 4, 6
Shared = NDArray[np.uint8]


class OperandMatrix(NamedTuple):
    """Operand matrix: the fields of its descriptor.

    width   bytes from row to row, or from step to step along K;  mask: address bits that are XORed
    shift   by which these are moved down;  steps: along K that follow each other where it is not K-major
    """

    start: int
    leading: int
    stride: int
    width: int
    mask: int
    shift: int
    steps: int
    phase: int


@compiled
def operand_matrix(descriptor: int) -> OperandMatrix:
    mode = descriptor >> 61 & 7
    width, mask = CHUNK, 0
    if mode == BROAD_CHUNKS:
        width, mask = 128, 3
    if mode == WIDE:
        width, mask = 128, 7
    if mode == MIDDLE:
        width, mask = 64, 3
    if mode == NARROW:
        width, mask = 32, 1
    broad = 1 if mode == BROAD_CHUNKS else 0
    return OperandMatrix(
        (descriptor & FIELD) << 4, (descriptor >> 16 & FIELD) << 4, (descriptor >> 32 & FIELD) << 4,
        width, mask, 3 - broad, ROWS - 4 * broad, descriptor >> 49 & 7,
    )  # fmt: skip


@compiled
def swizzled(matrix: OperandMatrix, address: int) -> int:
    bits = (address >> 7) - matrix.phase & matrix.mask
    return (address ^ bits << 7 - matrix.shift) & ADDRESS_SPACE


@compiled
def element_place(matrix: OperandMatrix, transposed: int, bits: int, each: int, row: int, k: int) -> tuple[int, int]:
    """Address of the byte where an element begins, and its first bit there; `each`: elements of a chunk."""
    plain = matrix.mask == 0
    if transposed:
        along = row * bits // 8
        across = matrix.stride if plain else matrix.leading
        deep = matrix.leading if plain else matrix.stride
        address = matrix.start + along // matrix.width * across + along % matrix.width
        return swizzled(matrix, address + k % matrix.steps * matrix.width + k // matrix.steps * deep), 0
    bit = k % each * bits
    address = matrix.start + row // ROWS * matrix.stride + row % ROWS * matrix.width + bit // 8
    return swizzled(matrix, address + k // each * (matrix.leading if plain else CHUNK)), bit % 8


@compiled
def element(
    shared: Shared, base: int, matrix: OperandMatrix, transposed: int, bits: int, each: int, row: int, k: int
) -> tuple[int, int]:
    """The bits of an element, and its address; -1 if it lies outside of the block's shared memory, whose first address
    is `base`."""
    address, bit = element_place(matrix, transposed, bits, each, row, k)
    offset, count = address - base, (bit + bits + 7) // 8
    if offset < 0 or offset + count > shared.size:
        return -1, address
    word = 0
    for number in range(count):
        word = word | shared[offset + number] << 8 * number
    return word >> bit & (1 << bits) - 1, address

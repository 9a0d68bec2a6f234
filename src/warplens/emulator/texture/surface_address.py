"""Surface addresses: where SULD, SUST and SURED of one warp access memory."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warplens.core.texture_descriptor import Field, TextureTable
from warplens.emulator.texture.texture_fetch import exists, signed_word
from warplens.simc import compiled

# Rows of a request, 32 words each: the address of each lane, whether it lies on the surface, and what is given.
FIRST, THERE, SURFACE, X, Y, Z, ROWS = 0, 2, 3, 4, 5, 6, 7
TRAP, CLAMP, ZERO = 0, 1, 2  # what an access beyond the edges does
TRAPPED = 32  # bits of the result: lanes beyond the edges, above lanes without a surface


class AccessForm(NamedTuple):
    """Access form: what the opcode of a surface access says.

    axes      dimensions without layers;  layered: whether a layer follows them
    size      bytes that a lane moves;  outside: TRAP, CLAMP or ZERO
    scaled    whether x counts elements and not bytes
    """

    axes: int
    layered: int
    size: int
    outside: int
    scaled: int


@compiled
def locate(access: AccessForm, mask: int, request: NDArray[np.uint32], table: TextureTable) -> int:
    """Addresses for the lanes of a mask; returns the lanes that have no surface, and above them those that trap."""
    wrong = 0
    for lane in range(32):
        if mask >> lane & 1:
            surface = request[SURFACE, lane]
            request[THERE, lane] = 0
            if exists(table, surface) == 0:
                wrong = wrong | 1 << lane
            elif locate_lane(access, lane, request, table, surface) == 0:
                wrong = wrong | 1 << lane + TRAPPED
    return wrong


@compiled
def locate_lane(access: AccessForm, lane: int, request: NDArray[np.uint32], table: TextureTable, surface: int) -> int:
    """1; 0 where the access traps."""
    element = table[surface, Field.BITS] // 8 * table[surface, Field.CHANNELS]
    width = table[surface, Field.WIDTH] * element
    x = signed_word(request[X, lane]) * (element if access.scaled else 1)
    y = signed_word(request[Y, lane])
    z = signed_word(request[Z, lane])
    slices = table[surface, Field.LAYERS] if access.layered else table[surface, Field.DEPTH]
    if access.axes == 1:
        z = y if access.layered else 0
        y = 0
    elif access.axes == 2 and access.layered == 0:
        z = 0
    height = table[surface, Field.HEIGHT] if access.axes >= 2 else 1
    nearest_x = max(0, min(x, width - access.size))
    nearest_y, nearest_z = max(0, min(y, height - 1)), max(0, min(z, slices - 1))
    if z < 0 and access.layered:
        nearest_z = slices - 1  # a layer has no sign (measured)
    there = 1 if nearest_x == x and nearest_y == y and nearest_z == z else 0
    if there == 0 and access.outside == TRAP:
        return 0
    address = table[surface, Field.LEVEL] + nearest_x + nearest_y * table[surface, Field.LEVEL + 1]
    address += nearest_z * table[surface, Field.LEVEL + 2]
    request[FIRST, lane] = address & 0xFFFF_FFFF
    request[FIRST + 1, lane] = address >> 32
    request[THERE, lane] = 1 if there or access.outside == CLAMP else 0
    return 1

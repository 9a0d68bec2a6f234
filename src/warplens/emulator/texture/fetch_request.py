"""Fetch request: what one warp's texture instruction gives, and where its results go."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warplens.core.texture_descriptor import TextureTable

# Rows of a request, 32 words each: four results, the address of the first texel, and what the instruction gives; then,
# for the lane at hand, the weights of the texels that are interpolated, and both words of their addresses.
RESULT, FIRST, TEXTURE, X, Y, Z, LAYER, LEVEL, GRADIENTS = 0, 4, 6, 7, 8, 9, 10, 11, 12
WEIGHTS, LOW_WORDS, HIGH_WORDS, ROWS = 16, 17, 18, 19
SAMPLE, LOAD, GATHER = 0, 1, 2  # operations
LEVEL_ZERO, LEVEL_GIVEN, LEVEL_BY_GRADIENTS = 0, 1, 2
Request = NDArray[np.uint32]


class Fetch(NamedTuple):
    """Fetch: what the opcode says: operation, dimensions without layers, and how the mipmap level is chosen.

    component   that TLD4 gathers
    """

    operation: int
    axes: int
    cube: int
    levels: int
    component: int


class HostMemory(NamedTuple):
    """Host memory by address, as units of 1, 2 and 4 bytes."""

    bytes: NDArray[np.uint8]
    halves: NDArray[np.uint16]
    words: NDArray[np.uint32]


class Texture(NamedTuple):
    """Texture: its row of the table, and the BufferRanges with its texels."""

    table: TextureTable
    row: int
    buffers: NDArray[np.int64]
    memory: HostMemory

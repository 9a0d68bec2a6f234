"""Texture addressing: coordinates to texels, by address mode and filter.

CUDA Programming Guide, "Texture Fetching": without interpolation the texel is floor(x); with it the coordinate less a
half is a fixed-point number with 8 bits of fraction, whose whole part is the first of two texels.
"""

from __future__ import annotations

import numpy as np

from warplens.core.texture_descriptor import AddressMode, Field, TextureTable
from warplens.simc import compiled

STEPS = 256  # of a texel (Programming Guide: 8 bits of fraction)
GRAIN = 2097152  # 2^21: steps of a normalized coordinate, what lies between is cut (measured)
FAR = 1073741824.0  # texels: farther than any texture is wide
HUGE = 1152921504606846976.0  # every float beyond 2^24 is whole
TWICE = 2.0  # lengths of a texture: beyond them clamped coordinates are alike
LEAST_NORMAL = 1.1754943508222875e-38  # of a float: coordinates below it are 0 (measured)
POSITIVE_X, POSITIVE_Y, POSITIVE_Z = 0, 2, 4  # defined: faces of a cubemap; the negative one follows


@compiled
def position(x: float, size: int, mode: int, normalized: int, linear: int) -> int:
    """A coordinate in 256ths of a texel: with interpolation of the first of two, else a whole number of texels."""
    if x != x or abs_of(x) < LEAST_NORMAL:
        x = 0.0
    if normalized == 0:
        near = max(min(x, FAR), -FAR)
        return int(np.floor(near * STEPS - 127.5) if linear else np.floor(near) * STEPS)
    near = max(min(x, HUGE), -HUGE)
    if mode == AddressMode.CLAMP or mode == AddressMode.BORDER:
        near = max(min(near, TWICE), -TWICE)
    steps = np.floor(near * GRAIN)
    if mode == AddressMode.WRAP or mode == AddressMode.MIRROR:
        period = 2.0 * GRAIN if mode == AddressMode.MIRROR else 1.0 * GRAIN
        steps = steps - np.floor(steps / period) * period
    texels = int(steps) * size
    return (texels + 4096 >> 13) - STEPS // 2 if linear else (texels >> 21) * STEPS


@compiled
def texel(i: int, size: int, mode: int) -> int:
    """The texel at a place that may lie beyond the edges; -1: the border."""
    if i >= 0 and i < size:
        return i
    if mode == AddressMode.BORDER:
        return -1
    if mode == AddressMode.WRAP:
        return i % size
    if mode == AddressMode.MIRROR:
        back = i % (2 * size)
        return back if back < size else 2 * size - 1 - back
    return max(0, min(i, size - 1))


@compiled
def extent(table: TextureTable, texture: int, field: int, level: int) -> int:
    """Texels of a dimension at a level."""
    return int(max(1, table[texture, field] >> level))


@compiled
def cube_face(x: float, y: float, z: float) -> int:
    """The face of a cubemap that a direction meets; of equal components z decides, then y."""
    longest = max(max(abs_of(x), abs_of(y)), abs_of(z))
    if abs_of(z) == longest:
        return POSITIVE_Z + (1 if z < 0.0 else 0)
    if abs_of(y) == longest:
        return POSITIVE_Y + (1 if y < 0.0 else 0)
    return POSITIVE_X + (1 if x < 0.0 else 0)


@compiled
def on_face(face: int, x: float, y: float, z: float) -> tuple[float, float]:
    """Coordinates on a face, from 0 to 1: the longest component is 1, as the code before the fetch divides by it."""
    along = x
    if face == POSITIVE_X:
        along = -z
    elif face == POSITIVE_X + 1:
        along = z
    elif face == POSITIVE_Z + 1:
        along = -x
    down = -y
    if face == POSITIVE_Y:
        down = z
    elif face == POSITIVE_Y + 1:
        down = -z
    return (along + 1.0) / 2.0, (down + 1.0) / 2.0


@compiled
def abs_of(x: float) -> float:
    return -x if x < 0.0 else x


@compiled
def address_of(table: TextureTable, texture: int, level: int, at: tuple[int, int, int]) -> int:
    """Device address of a texel at (x, y, slice)."""
    place = Field.LEVEL + 3 * level
    size = table[texture, Field.BITS] // 8 * table[texture, Field.CHANNELS]
    start = table[texture, place] + at[0] * size
    return int(start + at[1] * table[texture, place + 1] + at[2] * table[texture, place + 2])

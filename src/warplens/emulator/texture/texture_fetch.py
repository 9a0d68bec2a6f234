"""Texture fetch: TEX, TXD, TLD and TLD4 of one warp: texels of each lane, interpolated."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from warplens.core.texture_descriptor import AddressMode, Field, TextureTable
from warplens.emulator.texture.fetch_request import (
    FIRST,
    GATHER,
    LAYER,
    LEVEL,
    LEVEL_GIVEN,
    LOAD,
    RESULT,
    TEXTURE,
    Fetch,
    HostMemory,
    Request,
    Texture,
    X,
    Y,
    Z,
)
from warplens.emulator.texture.mipmap_level import chosen_level
from warplens.emulator.texture.texel_addressing import (
    STEPS,
    address_of,
    cube_face,
    extent,
    on_face,
    position,
    texel,
)
from warplens.emulator.texture.texel_filter import ONE, filtered, keep, weight_of
from warplens.emulator.texture.texel_reads import inside, result_word
from warplens.simc import bits_float, compiled

FACES = 6  # of a cubemap


@compiled
def fetch(
    how: Fetch, mask: int, request: Request, table: TextureTable, buffers: NDArray[np.int64], memory: HostMemory
) -> int:
    """Fetches for the lanes of a mask; returns those whose texture is none, or has no memory any more."""
    wrong = 0
    for lane in range(32):
        if mask >> lane & 1:
            texture = request[TEXTURE, lane]
            t = Texture(table, texture, buffers, memory)
            if exists(table, texture) == 0 or fetch_lane(how, lane, request, t) == 0:
                wrong = wrong | 1 << lane
    return wrong


@compiled
def exists(table: TextureTable, handle: int) -> int:
    """Whether a handle is that of an object whose memory is not freed."""
    if handle <= 0 or handle >= table.shape[0]:
        return 0
    return 1 if table[handle, Field.KIND] != 0 and table[handle, Field.NUMBER] >= 0 else 0


@compiled
def fetch_lane(how: Fetch, lane: int, request: Request, t: Texture) -> int:
    """1; 0 where a texel lies outside of the texture's allocation."""
    layers = t.table[t.row, Field.LAYERS]
    layer = request[LAYER, lane]
    if how.operation == LOAD:
        level = signed_word(request[LEVEL, lane]) if how.levels == LEVEL_GIVEN else 0
        return int(load(how, lane, request, t, layer, level))
    x, y, z = bits_float(request[X, lane]), bits_float(request[Y, lane]), bits_float(request[Z, lane])
    if how.cube:
        face = cube_face(x, y, z)
        x, y = on_face(face, x, y, z)
        layer = min(layer * FACES, layers - FACES) + face
    else:
        layer = min(layer, layers - 1)
    if how.operation == GATHER:
        return int(gather(how, lane, request, t, x, y))
    level, part = chosen_level(how, lane, request, t)
    if t.table[t.row, Field.LINEAR] == 0 and part == 0:
        return int(nearest(how, lane, request, t, (x, y, z), layer, level))
    return int(interpolated(how, lane, request, t, (x, y, z), layer, (level, part)))


@compiled
def signed_word(word: int) -> int:
    return word - 4294967296 if word >> 31 else word


@compiled
def normalized(how: Fetch, t: Texture) -> int:
    return 1 if how.cube else t.table[t.row, Field.NORMALIZED]


# Texels


@compiled
def first_at(request: Request, lane: int, address: int) -> None:
    request[FIRST, lane] = address & 0xFFFF_FFFF
    request[FIRST + 1, lane] = address >> 32


@compiled
def texel_at(how: Fetch, t: Texture, at: tuple[int, int, int], layer: int, level: int) -> int:
    """Address of the texel at places that may lie beyond the edges; -1: the border."""
    x = texel(at[0], extent(t.table, t.row, Field.WIDTH, level), mode_of(how, t, Field.ADDRESS_X))
    y, z = 0, layer
    if how.axes >= 2:
        y = texel(at[1], extent(t.table, t.row, Field.HEIGHT, level), mode_of(how, t, Field.ADDRESS_Y))
    if how.axes == 3:
        z = texel(at[2], extent(t.table, t.row, Field.DEPTH, level), mode_of(how, t, Field.ADDRESS_Z))
    if x < 0 or y < 0 or z < 0:
        return -1
    return int(address_of(t.table, t.row, level, (x, y, z)))


# Operations


@compiled
def load(how: Fetch, lane: int, request: Request, t: Texture, layer: int, level: int) -> int:
    """The texel of whole coordinates; zeros outside of the texture."""
    x, y, z = signed_word(request[X, lane]), signed_word(request[Y, lane]), signed_word(request[Z, lane])
    there = level >= 0 and level < max(t.table[t.row, Field.LEVELS], 1) and layer < t.table[t.row, Field.LAYERS]
    level = max(0, min(level, t.table[t.row, Field.LEVELS] - 1))
    there = there and x >= 0 and x < extent(t.table, t.row, Field.WIDTH, level)
    if how.axes >= 2:
        there = there and y >= 0 and y < extent(t.table, t.row, Field.HEIGHT, level)
    else:
        y = 0
    if how.axes == 3:
        there = there and z >= 0 and z < extent(t.table, t.row, Field.DEPTH, level)
    else:
        z = layer
    address = address_of(t.table, t.row, level, (x, y, z)) if there else t.table[t.row, Field.LEVEL]
    first_at(request, lane, address)
    if there and inside(t, address) == 0:
        return 0
    for number in range(4):
        request[RESULT + number, lane] = result_word(t, address, number) if there else 0
    return 1


@compiled
def nearest(
    how: Fetch, lane: int, request: Request, t: Texture, at: tuple[float, float, float], layer: int, level: int
) -> int:
    """The texel that the coordinates lie in."""
    x, y, z = places(how, t, at, level, 0)
    address = texel_at(how, t, (x >> 8, y >> 8, z >> 8), layer, level)
    first_at(request, lane, max(address, t.table[t.row, Field.LEVEL]))
    if address >= 0 and inside(t, address) == 0:
        return 0
    for number in range(4):
        request[RESULT + number, lane] = result_word(t, address, number)
    return 1


@compiled
def places(how: Fetch, t: Texture, at: tuple[float, float, float], level: int, linear: int) -> tuple[int, int, int]:
    """Coordinates in 256ths of a texel; clamped ones are those of texels, so that their weights are whole."""
    x = place_of(how, t, (at[0], linear), (Field.WIDTH, Field.ADDRESS_X), level)
    y = place_of(how, t, (at[1], linear), (Field.HEIGHT, Field.ADDRESS_Y), level) if how.axes >= 2 else 0
    z = place_of(how, t, (at[2], linear), (Field.DEPTH, Field.ADDRESS_Z), level) if how.axes == 3 else 0
    return x, y, z


@compiled
def place_of(how: Fetch, t: Texture, at: tuple[float, int], fields: tuple[int, int], level: int) -> int:
    size, mode = extent(t.table, t.row, fields[0], level), mode_of(how, t, fields[1])
    found = position(at[0], size, mode, normalized(how, t), at[1])
    if mode == AddressMode.CLAMP:
        return int(max(0, min(found, (size - 1) * STEPS)))
    return int(found)


@compiled
def mode_of(how: Fetch, t: Texture, field: int) -> int:
    """Faces of a cubemap end at their edges; without normalized coordinates only the border is not clamping."""
    mode = t.table[t.row, field]
    if how.cube or (t.table[t.row, Field.NORMALIZED] == 0 and mode != AddressMode.BORDER):
        return int(AddressMode.CLAMP)
    return int(mode)


@compiled
def interpolated(
    how: Fetch,
    lane: int,
    request: Request,
    t: Texture,
    at: tuple[float, float, float],
    layer: int,
    chosen: tuple[int, int],
) -> int:
    """The mean of 2, 4 or 8 texels, of one level or two."""
    linear, taps = t.table[t.row, Field.LINEAR], 0
    for step in range(2 if chosen[1] else 1):
        level = chosen[0] + step
        share = chosen[1] if step else ONE - chosen[1]
        x, y, z = places(how, t, at, level, linear)
        for tap in range(1 << how.axes if linear else 1):
            corner = ((x >> 8) + (tap & 1), (y >> 8) + (tap >> 1 & 1), (z >> 8) + (tap >> 2 & 1))
            address = texel_at(how, t, corner, layer, level)
            weight = weight_of(share, how.axes, tap, (x & 255, y & 255, z & 255)) if linear else share
            if taps == 0:
                first_at(request, lane, max(address, t.table[t.row, Field.LEVEL]))
            if weight != 0 and address >= 0 and inside(t, address) == 0:
                return 0
            keep(request, taps, weight, address)
            taps = taps + 1
    for number in range(4):
        request[RESULT + number, lane] = filtered(request, t, taps, number)
    return 1


@compiled
def gather(how: Fetch, lane: int, request: Request, t: Texture, x: float, y: float) -> int:
    """A component of the four texels that interpolation would take: lower left, lower right, upper right, upper left
    where y points down."""
    unit = t.table[t.row, Field.NORMALIZED]
    width, height = t.table[t.row, Field.WIDTH], t.table[t.row, Field.HEIGHT]
    i = position(x, width, mode_of(how, t, Field.ADDRESS_X), unit, 1) >> 8
    j = position(y, height, mode_of(how, t, Field.ADDRESS_Y), unit, 1) >> 8
    for number in range(4):
        right = 1 if number == 1 or number == 2 else 0
        down = 1 if number < 2 else 0
        address = texel_at(how, t, (i + right, j + down, 0), 0, 0)
        if number == 0:
            first_at(request, lane, max(address, t.table[t.row, Field.LEVEL]))
        if address >= 0 and inside(t, address) == 0:
            return 0
        request[RESULT + number, lane] = result_word(t, address, how.component)
    return 1

"""Texture fetch: TEX, TXD, TLD and TLD4 of one warp: texels of each lane, interpolated."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warplens.core.texture_descriptor import AddressMode, Field, TextureTable
from warplens.emulator.texture.texel_addressing import (
    STEPS,
    address_of,
    cube_face,
    extent,
    fixed_point,
    in_texels,
    on_face,
    texel,
)
from warplens.emulator.texture.texel_formats import channel_number, channel_word, missing_word
from warplens.simc import bits_float, compiled, float_bits

# Rows of a request, 32 words each: four results, the address of the first texel, and what the instruction gives.
RESULT, FIRST, TEXTURE, X, Y, Z, LAYER, LEVEL, GRADIENTS, ROWS = 0, 4, 6, 7, 8, 9, 10, 11, 12, 16
SAMPLE, LOAD, GATHER = 0, 1, 2  # operations
LEVEL_ZERO, LEVEL_GIVEN, LEVEL_BY_GRADIENTS = 0, 1, 2
FACES = 6  # of a cubemap
LOW, HIGH, TOUCHED, DELTA, RANGE_WORDS = 0, 1, 2, 3, 10  # of a BufferRange (state/structs.py)
READ = 1  # Touch.READ
LOG_2 = float(np.log(2.0))
LEAST_LEVEL = -32.0  # what the compiler gives where the program names no level


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


Request = NDArray[np.uint32]


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
        layer = min(layer, layers - 1)
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
def inside(t: Texture, address: int) -> int:
    """Whether a texel lies in the texture's allocation, which has then been read."""
    number = t.table[t.row, Field.NUMBER]
    size = t.table[t.row, Field.BITS] // 8 * t.table[t.row, Field.CHANNELS]
    if address < t.buffers[number, LOW] or address + size > t.buffers[number, HIGH]:
        return 0
    t.buffers[number, TOUCHED] = t.buffers[number, TOUCHED] | READ
    return 1


@compiled
def channel(t: Texture, address: int, number: int) -> int:
    """The word of a channel; `address` of the texel, -1: the border, whose word is a float."""
    bits = t.table[t.row, Field.BITS]
    place = address + t.buffers[t.table[t.row, Field.NUMBER], DELTA] + number * (bits // 8)
    if bits == 8:
        return int(t.memory.bytes[place])
    return int(t.memory.halves[place >> 1] if bits == 16 else t.memory.words[place >> 2])


@compiled
def result_word(t: Texture, address: int, number: int) -> int:
    """Of a channel as it is returned without interpolation; address -1: of the border."""
    kind, as_float = t.table[t.row, Field.CHANNEL_KIND], t.table[t.row, Field.AS_FLOAT]
    if number >= t.table[t.row, Field.CHANNELS]:
        return int(missing_word(number, kind, as_float))
    if address < 0:
        return int(t.table[t.row, Field.BORDER + number])
    return int(channel_word(channel(t, address, number), t.table[t.row, Field.BITS], kind, as_float))


@compiled
def result_number(t: Texture, address: int, number: int) -> float:
    """The same to be interpolated."""
    kind, as_float = t.table[t.row, Field.CHANNEL_KIND], t.table[t.row, Field.AS_FLOAT]
    if number >= t.table[t.row, Field.CHANNELS]:
        return bits_float(missing_word(number, kind, as_float))
    if address < 0:
        return bits_float(t.table[t.row, Field.BORDER + number])
    return float(channel_number(channel(t, address, number), t.table[t.row, Field.BITS], kind, as_float))


@compiled
def texel_at(how: Fetch, t: Texture, at: tuple[int, int, int], layer: int, level: int) -> int:
    """Address of the texel at places that may lie beyond the edges; -1: the border."""
    unit = normalized(how, t)
    # Faces of a cubemap end at their edges.
    edges = AddressMode.CLAMP if how.cube else t.table[t.row, Field.ADDRESS_X]
    x = texel(at[0], extent(t.table, t.row, Field.WIDTH, level), edges, unit)
    y, z = 0, layer
    if how.axes >= 2:
        edges = AddressMode.CLAMP if how.cube else t.table[t.row, Field.ADDRESS_Y]
        y = texel(at[1], extent(t.table, t.row, Field.HEIGHT, level), edges, unit)
    if how.axes == 3:
        z = texel(at[2], extent(t.table, t.row, Field.DEPTH, level), t.table[t.row, Field.ADDRESS_Z], unit)
    if x < 0 or y < 0 or z < 0:
        return -1
    return int(address_of(t.table, t.row, level, (x, y, z)))


# Operations


@compiled
def load(how: Fetch, lane: int, request: Request, t: Texture, layer: int, level: int) -> int:
    """The texel of whole coordinates; zeros outside of the texture."""
    x, y, z = signed_word(request[X, lane]), signed_word(request[Y, lane]), signed_word(request[Z, lane])
    there = level >= 0 and level < max(t.table[t.row, Field.LEVELS], 1)
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
    unit = normalized(how, t)
    x = int(np.floor(in_texels_of(t, at[0], Field.WIDTH, Field.ADDRESS_X, level, unit)))
    y = int(np.floor(in_texels_of(t, at[1], Field.HEIGHT, Field.ADDRESS_Y, level, unit)))
    z = int(np.floor(in_texels_of(t, at[2], Field.DEPTH, Field.ADDRESS_Z, level, unit)))
    address = texel_at(how, t, (x, y, z), layer, level)
    first_at(request, lane, max(address, t.table[t.row, Field.LEVEL]))
    if address >= 0 and inside(t, address) == 0:
        return 0
    for number in range(4):
        request[RESULT + number, lane] = result_word(t, address, number)
    return 1


@compiled
def in_texels_of(t: Texture, x: float, size: int, mode: int, level: int, unit: int) -> float:
    return float(in_texels(x, extent(t.table, t.row, size, level), t.table[t.row, mode], unit))


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
    """The mean of 2, 4 or 8 texels, of one level or two, by their weights in steps of 1 / 256.

    Sums are exact or nearly so, and rounded once.
    """
    unit, linear = normalized(how, t), t.table[t.row, Field.LINEAR]
    red, green, blue, alpha = 0.0, 0.0, 0.0, 0.0
    for step in range(2 if chosen[1] else 1):
        level = chosen[0] + step
        share = chosen[1] if step else STEPS - chosen[1]
        x = in_texels_of(t, at[0], Field.WIDTH, Field.ADDRESS_X, level, unit)
        y = in_texels_of(t, at[1], Field.HEIGHT, Field.ADDRESS_Y, level, unit)
        z = in_texels_of(t, at[2], Field.DEPTH, Field.ADDRESS_Z, level, unit)
        i = fixed_point(x) if linear else int(np.floor(x)) * STEPS
        j = fixed_point(y) if linear else int(np.floor(y)) * STEPS
        k = fixed_point(z) if linear else int(np.floor(z)) * STEPS
        for tap in range(1 << how.axes if linear else 1):
            weight = float(share) / STEPS * weight_of(i, tap & 1)
            if how.axes >= 2:
                weight = weight * weight_of(j, tap >> 1 & 1)
            if how.axes == 3:
                weight = weight * weight_of(k, tap >> 2 & 1)
            places = (i // STEPS + (tap & 1), j // STEPS + (tap >> 1 & 1), k // STEPS + (tap >> 2 & 1))
            address = texel_at(how, t, places, layer, level)
            if tap == 0 and step == 0:
                first_at(request, lane, max(address, t.table[t.row, Field.LEVEL]))
            if weight != 0.0:
                if address >= 0 and inside(t, address) == 0:
                    return 0
                red += weight * result_number(t, address, 0)
                green += weight * result_number(t, address, 1)
                blue += weight * result_number(t, address, 2)
                alpha += weight * result_number(t, address, 3)
    request[RESULT, lane] = float_bits(red)
    request[RESULT + 1, lane] = float_bits(green)
    request[RESULT + 2, lane] = float_bits(blue)
    request[RESULT + 3, lane] = float_bits(alpha)
    return 1


@compiled
def weight_of(fixed: int, second: int) -> float:
    part = float(fixed % STEPS) / STEPS
    return part if second else 1.0 - part


@compiled
def gather(how: Fetch, lane: int, request: Request, t: Texture, x: float, y: float) -> int:
    """A component of the four texels that interpolation would take: lower left, lower right, upper right, upper left
    where y points down."""
    unit = t.table[t.row, Field.NORMALIZED]
    i = fixed_point(in_texels_of(t, x, Field.WIDTH, Field.ADDRESS_X, 0, unit)) // STEPS
    j = fixed_point(in_texels_of(t, y, Field.HEIGHT, Field.ADDRESS_Y, 0, unit)) // STEPS
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


# Levels


@compiled
def chosen_level(how: Fetch, lane: int, request: Request, t: Texture) -> tuple[int, int]:
    """The level of a mipmap, and the weight of the next one in steps of 1 / 256."""
    levels = t.table[t.row, Field.LEVELS]
    if levels <= 1:
        return 0, 0
    wanted = 0.0
    if how.levels == LEVEL_GIVEN:
        wanted = bits_float(request[LEVEL, lane])
    elif how.levels == LEVEL_BY_GRADIENTS:
        wanted = level_of_gradients(how, lane, request, t)
    wanted = wanted + bits_float(t.table[t.row, Field.BIAS])
    wanted = max(min(wanted, bits_float(t.table[t.row, Field.MOST])), bits_float(t.table[t.row, Field.LEAST]))
    wanted = max(min(wanted, float(levels - 1)), 0.0)
    if t.table[t.row, Field.LEVEL_LINEAR] == 0:
        return int(np.floor(wanted + 0.5)), 0
    fixed = int(np.floor(wanted * STEPS + 0.5))
    return fixed // STEPS, fixed % STEPS


@compiled
def level_of_gradients(how: Fetch, lane: int, request: Request, t: Texture) -> float:
    """The logarithm of the longer side of the texels that a step of one pixel crosses."""
    unit = t.table[t.row, Field.NORMALIZED]
    width = float(t.table[t.row, Field.WIDTH]) if unit else 1.0
    height = float(t.table[t.row, Field.HEIGHT]) if unit else 1.0
    longest = 0.0
    for step in range(2):
        right = bits_float(request[GRADIENTS + step, lane]) * width
        down = bits_float(request[GRADIENTS + 2 + step, lane]) * height if how.axes >= 2 else 0.0
        longest = max(longest, right * right + down * down)
    return np.log(longest) / (2.0 * LOG_2) if longest > 0.0 else LEAST_LEVEL

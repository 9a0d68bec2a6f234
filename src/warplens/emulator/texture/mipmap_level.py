"""Mipmap level: which level of a mipmap a fetch reads, in 256ths of a level."""

from __future__ import annotations

import numpy as np

from warplens.core.texture_descriptor import Field
from warplens.emulator.texture.fetch_request import (
    GRADIENTS,
    LEVEL,
    LEVEL_BY_GRADIENTS,
    LEVEL_GIVEN,
    Fetch,
    Request,
    Texture,
)
from warplens.simc import bits_float, compiled, float_bits

LOG_2 = float(np.log(2.0))
STEPS = 256  # of a level
LEAST_LEVEL = -32 * STEPS  # of gradients of zero, and what the compiler gives where a program names no level
FAR = 1000.0  # levels: more than any mipmap has
PART = 11.0 / 16.0  # of a sum of two gradients, and twice that of the shorter component of a vector
ROUNDING = 1.0 / 2048  # added to such a part, of the power of two of the whole
KEPT, POWER = 0xFFFF_C000, 0x7F80_0000  # of a float's word: 9 bits of fraction; the exponent
MIDDLE = 0.47  # of 256ths of a fraction: where its logarithm is taken


@compiled
def chosen_level(how: Fetch, lane: int, request: Request, t: Texture) -> tuple[int, int]:
    """The level of a mipmap, and the weight of the next one in 256ths.

    A level is cut to 256ths toward zero before the bias (measured).
    """
    levels = t.table[t.row, Field.LEVELS]
    if levels <= 1:
        return 0, 0
    level = 0
    if how.levels == LEVEL_GIVEN:
        level = int(in_steps(bits_float(request[LEVEL, lane])))
    elif how.levels == LEVEL_BY_GRADIENTS:
        level = level_of_gradients(how, lane, request, t)
    level = level + int(in_steps(bits_float(t.table[t.row, Field.BIAS])))
    level = min(level, int(in_steps(bits_float(t.table[t.row, Field.MOST]))))
    level = max(level, int(in_steps(bits_float(t.table[t.row, Field.LEAST]))))
    level = max(min(level, (levels - 1) * STEPS), 0)
    if t.table[t.row, Field.LEVEL_LINEAR] == 0:
        return level + STEPS // 2 >> 8, 0
    return level >> 8, level & 255


@compiled
def in_steps(level: float) -> float:
    return 0.0 if level != level else max(min(level, FAR), -FAR) * STEPS


@compiled
def level_of_gradients(how: Fetch, lane: int, request: Request, t: Texture) -> int:
    """The logarithm of the texels that a step of one pixel crosses: along x, along y, or along a diagonal."""
    unit = t.table[t.row, Field.NORMALIZED]
    width = float(t.table[t.row, Field.WIDTH]) if unit else 1.0
    height = float(t.table[t.row, Field.HEIGHT]) if unit else 1.0
    x_right = cut(bits_float(request[GRADIENTS, lane]) * width)
    y_right = cut(bits_float(request[GRADIENTS + 1, lane]) * width)
    x_down, y_down = 0.0, 0.0
    if how.axes >= 2:
        x_down = cut(bits_float(request[GRADIENTS + 2, lane]) * height)
        y_down = cut(bits_float(request[GRADIENTS + 3, lane]) * height)
    longest = max(length(size(x_right), size(x_down)), length(size(y_right), size(y_down)))
    longest = max(longest, length(part_of(size(x_right + y_right)), part_of(size(x_down + y_down))))
    longest = max(longest, length(part_of(size(x_right - y_right)), part_of(size(x_down - y_down))))
    return int(logarithm(longest))


@compiled
def logarithm(x: float) -> int:
    """To base 2, in 256ths, of the first 8 bits of the fraction."""
    word = float_bits(x)
    if word >> 23 == 0:
        return LEAST_LEVEL
    fraction = word >> 15 & 255
    found = int(np.floor(np.log(1.0 + (fraction + MIDDLE) / STEPS) / LOG_2 * STEPS + 0.5)) if fraction else 0
    return ((word >> 23) - 127) * STEPS + min(found, STEPS - 1)


@compiled
def length(x: float, y: float) -> float:
    """Of a vector, nearly."""
    return float(cut(max(x, y)) + part_of(min(x, y)) / 2.0)


@compiled
def part_of(x: float) -> float:
    kept = cut(x)
    return float(kept * PART + bits_float(float_bits(kept) & POWER) * ROUNDING)


@compiled
def cut(x: float) -> float:
    return bits_float(float_bits(x) & KEPT)


@compiled
def size(x: float) -> float:
    return -x if x < 0.0 else x

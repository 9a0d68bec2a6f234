"""Texel filter: weights of the texels that a fetch interpolates, and their sum, as an H200 forms it bit for bit.

Weights are whole 256ths whose sum is 256: those of the levels, divided between slices, columns and rows in turn.
"""

from __future__ import annotations

import numpy as np

from warplens.core.texture_descriptor import ChannelKind, Field
from warplens.emulator.texture.fetch_request import HIGH_WORDS, LOW_WORDS, WEIGHTS, Request, Texture
from warplens.emulator.texture.texel_reads import result_integer, result_word
from warplens.simc import bits_float, compiled, float_bits

ONE = 256  # sum of the weights
BELOW_SINGLE, BELOW_HALF = 1.0 / 134217728, 1.0 / 16384  # 2^-27, 2^-14: least part that is added, of the largest power
EXPONENT, NOT_FINITE = 23, 255  # of a float's word
LEAST_HALF = 113  # exponent of the least normal half, in a float's word
HALF_STEP = 1.0 / 1024  # of a half's fraction
TIES_AWAY = 1.0 + 1.0 / 1125899906842624  # 1 + 2^-50: more than the sums' 37 bits, less than a double's 53


@compiled
def divided(weight: int, part: int, halves_up: int) -> int:
    """So many 256ths of a weight, to the nearest."""
    return weight * part + 127 + halves_up >> 8


@compiled
def weight_of(share: int, axes: int, tap: int, parts: tuple[int, int, int]) -> int:
    """Weight of tap 0bzyx of a level with this share; parts: the fractions of the place, in 256ths."""
    weight = share
    if axes == 3:
        second = divided(weight, parts[2], 0)
        weight = second if tap >> 2 else weight - second
    second = divided(weight, parts[0], 1)
    weight = second if tap & 1 else weight - second
    if axes >= 2:
        second = divided(weight, parts[1], tap & 1)
        weight = second if tap >> 1 & 1 else weight - second
    return int(weight)


@compiled
def keep(request: Request, tap: int, weight: int, address: int) -> None:
    request[WEIGHTS, tap] = weight
    request[LOW_WORDS, tap] = address & 0xFFFF_FFFF
    request[HIGH_WORDS, tap] = address >> 32 & 0xFFFF_FFFF


@compiled
def kept(request: Request, tap: int) -> int:
    """The address of a texel, -1: the border."""
    high = request[HIGH_WORDS, tap]
    return -1 if high == 0xFFFF_FFFF else high << 32 | request[LOW_WORDS, tap]


@compiled
def filtered(request: Request, t: Texture, taps: int, number: int) -> int:
    """The word of a channel: the sum of its texels by their weights."""
    if number >= t.table[t.row, Field.CHANNELS]:
        return 0
    if t.table[t.row, Field.CHANNEL_KIND] != ChannelKind.FLOAT:
        return int(integer_sum(request, t, taps, number))
    return int(float_sum(request, t, taps, number))


@compiled
def integer_sum(request: Request, t: Texture, taps: int, number: int) -> int:
    """Fractions of 8 and 16 bits become 16 bits, and are divided by their largest number once."""
    total = 0
    for tap in range(taps):
        if request[WEIGHTS, tap] != 0:
            total = total + request[WEIGHTS, tap] * result_integer(t, kept(request, tap), number)
    wide = t.table[t.row, Field.BITS] == 16
    if t.table[t.row, Field.CHANNEL_KIND] == ChannelKind.UNSIGNED:
        return float_bits(float((total if wide else total * 257) + 128 >> 8) / 65535.0)
    # 8 bits: 32767 of 127 * 256 is 1 + 2^-7 + 2^-15, of which 2^-7 without the low 4 bits
    sixteen = total + 128 >> 8 if wide else total + ((total >> 4) * 4096 + total + 16384 >> 15)
    return float_bits(float(max(-32767, min(sixteen, 32767))) / 32767.0)


@compiled
def float_sum(request: Request, t: Texture, taps: int, number: int) -> int:
    """Texels aligned to the largest of them, without what lies 27 bits (halves: 14) below it; the sum rounded once,
    halves away from zero, to the format of the texels."""
    half = t.table[t.row, Field.BITS] == 16
    largest = LEAST_HALF if half else 0
    for tap in range(taps):
        if request[WEIGHTS, tap] != 0:
            word = result_word(t, kept(request, tap), number)
            largest = max(largest, word >> EXPONENT & NOT_FINITE)
    if largest == 0:
        return 0
    if largest == NOT_FINITE:
        return int(sum_not_finite(request, t, taps, number))
    unit, total = bits_float(largest << EXPONENT) * (BELOW_HALF if half else BELOW_SINGLE), 0
    for tap in range(taps):
        if request[WEIGHTS, tap] != 0:
            word = result_word(t, kept(request, tap), number)
            if word >> EXPONENT & NOT_FINITE:
                total = total + request[WEIGHTS, tap] * int(bits_float(word) / unit)
    value = float(total) * unit / ONE
    if half == 0:
        return float_bits(value * TIES_AWAY)
    size = -value if value < 0.0 else value
    step = bits_float(max(float_bits(size) >> EXPONENT, LEAST_HALF) << EXPONENT) * HALF_STEP
    rounded = np.floor(size / step + 0.5) * step
    return float_bits(-rounded if value < 0.0 else rounded)


@compiled
def sum_not_finite(request: Request, t: Texture, taps: int, number: int) -> int:
    total = 0.0
    for tap in range(taps):
        if request[WEIGHTS, tap] != 0:
            total += request[WEIGHTS, tap] * bits_float(result_word(t, kept(request, tap), number))
    return float_bits(total)

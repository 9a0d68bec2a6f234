"""Element formats: numbers of matrices as doubles, with the exponents that decide where a sum is cut off.

An exponent is that of the format where digits are missing; that of zero lies below all others.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warplens.simc import bits_float, compiled, float_bits

NO_FORMAT = -1
F16, BF16, TF32, E4M3, E5M2, E2M3, E3M2, E2M1, U8, S8, UE4M3, UE8M0 = range(12)
FINITE, IEEE, ONE_NAN = range(3)  # which words of a format are infinite or NaNs
NOWHERE = -800  # the exponent of zero: with any factor, below that of any product
POWERS, MIDDLE = 2048, 1024  # powers of two, and the place of 2^0
INFINITY, NAN = 0x7F80_0000, 0x7FC0_0000
OVER_FLOATS = 2.0**128
Doubles = NDArray[np.float64]


class ElementFormat(NamedTuple):
    """Element format: bits in memory, those of them that are left out below, of the exponent and the fraction."""

    bits: int
    unused: int
    exponent: int
    fraction: int
    special: int


def powers_of_two() -> Doubles:
    """2^(n - MIDDLE), as far as doubles have them."""
    exponents = np.clip(np.arange(POWERS) - MIDDLE, -1022, 1023)
    return np.ldexp(1.0, exponents).astype(np.float64)


@compiled
def element_format(number: int) -> ElementFormat:
    if number == F16:
        return ElementFormat(16, 0, 5, 10, IEEE)
    if number == BF16:
        return ElementFormat(16, 0, 8, 7, IEEE)
    if number == TF32:
        return ElementFormat(32, 13, 8, 10, IEEE)
    if number == E4M3:
        return ElementFormat(8, 0, 4, 3, ONE_NAN)
    if number == E5M2:
        return ElementFormat(8, 0, 5, 2, IEEE)
    if number == E2M3:
        return ElementFormat(6, 0, 2, 3, FINITE)
    if number == E3M2:
        return ElementFormat(6, 0, 3, 2, FINITE)
    if number == E2M1:
        return ElementFormat(4, 0, 2, 1, FINITE)
    return ElementFormat(8, 0, 0, 0, FINITE)


@compiled
def decoded(powers: Doubles, number: int, form: ElementFormat, word: int) -> tuple[float, int]:
    """The number that a word is, and its exponent."""
    if number == U8:
        return float(word), 0
    if number == S8:
        return float(word - 256 if word > 127 else word), 0
    given = word >> form.unused
    fraction = given & (1 << form.fraction) - 1
    top = (1 << form.exponent) - 1
    exponent = given >> form.fraction & top
    sign = -1.0 if given >> form.fraction + form.exponent & 1 else 1.0
    bias = (1 << form.exponent - 1) - 1
    if form.special == IEEE and exponent == top:
        return sign * bits_float(NAN if fraction else INFINITY), 128
    if form.special == ONE_NAN and exponent == top and fraction == (1 << form.fraction) - 1:
        return bits_float(NAN), 128
    if exponent == 0 and fraction == 0:
        return 0.0, NOWHERE
    digits = fraction + (1 << form.fraction) if exponent else fraction
    place = max(exponent, 1) - bias
    return sign * digits * powers[place - form.fraction + MIDDLE], place


@compiled
def scale_factor(powers: Doubles, number: int, byte: int) -> tuple[float, int]:
    """The scale that a byte is, and its exponent."""
    if number == UE8M0:
        if byte == 255:
            return bits_float(NAN), 128
        return powers[byte - 127 + MIDDLE], byte - 127
    value, exponent = decoded(powers, E4M3, ElementFormat(8, 0, 4, 3, ONE_NAN), byte & 0x7F)
    return value, exponent


@compiled
def single(value: float) -> int:
    """The word of the nearest float towards zero, but infinity from 2^128 on; never -0."""
    word, size = float_bits(value), abs_of(value)
    beyond = (size < OVER_FLOATS) & (abs_of(bits_float(word)) > size)
    return 0x7FFF_FFFF if value != value else 0 if value == 0.0 else word - beyond


@compiled
def abs_of(value: float) -> float:
    return -value if value < 0.0 else value


@compiled
def half(powers: Doubles, value: float) -> int:
    """The word of the nearest half, of two the even one."""
    size = abs_of(value)
    if value != value:
        return 0x7FFF
    sign = 0x8000 if value < 0.0 else 0
    if size >= 65520.0:
        return sign | 0x7C00
    exponent = max((float_bits(size) >> 23) - 127, -14)
    scaled = size * powers[10 - exponent + MIDDLE]
    whole = int(scaled)
    left = scaled - whole
    if left > 0.5 or (left == 0.5 and whole & 1):
        whole = whole + 1
    return sign | (exponent + 14 << 10) + whole

"""Narrow formats: floats of 16 and 8 bits in the low bits of a word, to and from single precision.

binary16, bfloat16 (`brain`), and the 8-bit formats of the Open Compute Project: E4M3 (no infinity, one NaN of each
sign, largest 448) and E5M2 (the upper half of a binary16).
"""

from __future__ import annotations

import math
import struct

from warplens.isa.dsl.lanes import F32, F64, U32, Pred, Rounding


def half_to_float(half: U32, brain: bool) -> F32:
    """Exact.  binary16: shifted into place the exponent is 112 too small, also for denormals."""
    if brain:
        return (half << 16).float_bits()
    magnitude = (half & 0x7FFF) << 13
    scaled = (magnitude.float_bits() * 2.0**112).u32()
    special = (half & 0x7C00).eq(0x7C00)
    return (special.choose(magnitude | 0x7F80_0000, scaled) | ((half & 0x8000) << 16)).float_bits()


def float_to_half(x: F32, brain: bool, rounding: Rounding = "RN") -> U32:
    """Rounded, ties to even; NaN gives 0x7fff."""
    nearest = _nearest_half(x, brain)
    if rounding == "RN":
        return nearest
    back = half_to_float(nearest, brain)
    above, below, negative = back.compare("gt", x), back.compare("lt", x), nearest.bit(15)
    if rounding == "RM":
        return above.choose(negative.choose(nearest + 1, nearest - 1), nearest)
    if rounding == "RP":
        return below.choose(negative.choose(nearest - 1, nearest + 1), nearest)
    return negative.choose(below, above).choose(nearest - 1, nearest)


def _nearest_half(x: F32, brain: bool) -> U32:
    bits = x.u32()
    sign = (bits >> 16) & 0x8000
    if brain:
        rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
        return x.isnan().choose(rounded.like(0x7FFF), rounded)
    value = shortened(x.abs(), 10, 15).min(0x7C00)
    return x.isnan().choose(value.like(0x7FFF), value | sign)


def shortened(magnitude: F32, digits: int, bias: int) -> U32:
    """The bits of a number without sign, rounded to nearest, ties to even; beyond the format they go on growing."""
    shift = 23 - digits
    word = magnitude.u32()
    normal = (word - ((127 - bias) << 23) + ((1 << (shift - 1)) - 1) + ((word >> shift) & 1)) >> shift
    # A sum with this power of two leaves the digits of a denormal at the end of the word.
    anchor = math.ldexp(1.0, 24 - bias - digits)
    pattern: int = struct.unpack("<I", struct.pack("<f", anchor))[0]
    small = (magnitude + anchor).u32() - pattern
    return magnitude.compare("lt", math.ldexp(1.0, 1 - bias)).choose(small, normal)


def sticky(toward_zero: F32, down: F32, up: F32) -> F32:
    """A result rounded to odd, so that rounding it once more to a shorter format is right."""
    inexact = down.compare("ne", up)
    return (toward_zero.u32() | inexact.u32()).float_bits()


def odd_float(x: F64) -> F32:
    """A double as float rounded to odd: its last bit is set where digits were lost."""
    nearest = x.f32()
    back = nearest.f64()
    outward = back.abs().compare("gt", x.abs())
    bits = outward.choose(nearest.u32() - 1, nearest.u32())
    return (bits | back.compare("ne", x).u32()).float_bits()


def flushed_half(half: U32, brain: bool) -> U32:
    """A denormal becomes the zero of its sign."""
    return (half & (0x7F80 if brain else 0x7C00)).eq(0).choose(half & 0x8000, half)


# 8 bits


def float_to_e4m3(x: F32) -> U32:
    """Rounded to nearest; what is too large becomes 448 (.SATFINITE), NaN 0x7f."""
    return _saturated(x, shortened(x.abs(), 3, 7), 0x7E)


def float_to_e5m2(x: F32) -> U32:
    """Rounded to nearest; what is too large becomes 57344 (.SATFINITE), NaN 0x7f."""
    return _saturated(x, shortened(x.abs(), 2, 15), 0x7B)


def _saturated(x: F32, magnitude: U32, largest: int) -> U32:
    return x.isnan().choose(magnitude.like(0x7F), magnitude.min(largest) | ((x.u32() >> 24) & 0x80))


def e4m3_to_half(byte: U32) -> U32:
    """Exact.  Shifted into place the exponent is 8 too small, also for denormals."""
    scaled = ((byte & 0x7F) << 20).float_bits() * 2.0**120
    return _half_unless(byte, (byte & 0x7F).eq(0x7F), float_to_half(scaled, False) | ((byte & 0x80) << 8))


def e5m2_to_half(byte: U32) -> U32:
    """The upper half of a binary16."""
    return _half_unless(byte, (byte & 0x7F) > 0x7C, (byte & 0xFF) << 8)


def e4m3_to_float(byte: U32) -> F32:
    """Exact.  As to a half, without rounding."""
    scaled = (((byte & 0x7F) << 20).float_bits() * 2.0**120).u32()
    return ((byte & 0x7F).eq(0x7F).choose(scaled.like(0x7FFF_FFFF), scaled) | ((byte & 0x80) << 24)).float_bits()


def e5m2_to_float(byte: U32) -> F32:
    return half_to_float(byte << 8, False)


def _half_unless(byte: U32, nan: Pred, half: U32) -> U32:
    return nan.choose(byte.like(0x7FFF), half)

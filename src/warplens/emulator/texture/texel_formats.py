"""Texel formats: channels of 8, 16 and 32 bits as words and as numbers."""

from __future__ import annotations

from warplens.core.texture_descriptor import ChannelKind
from warplens.simc import compiled, float_bits

SIGN, INFINITY = 0x8000_0000, 0x7F80_0000


@compiled
def half_bits(half: int) -> int:
    """A half as the word of the float that is equal to it."""
    sign, exponent, fraction = (half >> 15) * SIGN, half >> 10 & 31, half & 1023
    if exponent == 31:
        return sign | INFINITY | fraction << 13
    if exponent == 0:
        return sign | float_bits(fraction / 16777216.0)
    return sign | exponent + 112 << 23 | fraction << 13


@compiled
def signed(word: int, bits: int) -> int:
    """The low bits of a word as a signed number."""
    low = word & (1 << bits) - 1
    return low - (1 << bits) if low >> bits - 1 else low


@compiled
def fraction(word: int, bits: int, kind: int) -> float:
    """An integer channel as a fraction of its largest one: [0, 1] or [-1, 1]."""
    if kind == ChannelKind.UNSIGNED:
        return float(word) / float((1 << bits) - 1)
    return max(-1.0, float(signed(word, bits)) / float((1 << bits - 1) - 1))


@compiled
def channel_word(word: int, bits: int, kind: int, as_float: int) -> int:
    """What a fetch returns of one channel without interpolation."""
    if kind == ChannelKind.FLOAT:
        return half_bits(word) if bits == 16 else word
    if as_float:
        return float_bits(fraction(word, bits, kind))
    return signed(word, bits) & 0xFFFF_FFFF if kind == ChannelKind.SIGNED else word

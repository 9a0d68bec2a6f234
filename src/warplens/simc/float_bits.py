"""Bits of single-precision floats, for compiled functions: their floats are doubles."""

from __future__ import annotations

from struct import pack, unpack


def float_bits(x: float) -> int:
    """The word of the nearest single-precision float."""
    try:
        return int(unpack("<I", pack("<f", x))[0])
    except OverflowError:  # beyond the largest one: infinity, as the machine rounds
        return 0x7F80_0000 if x > 0 else 0xFF80_0000


def bits_float(word: int) -> float:
    """The single-precision float with this word."""
    return float(unpack("<f", pack("<I", word & 0xFFFF_FFFF))[0])

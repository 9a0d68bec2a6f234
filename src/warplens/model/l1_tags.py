"""Tags of L1 stand in four banks, of which each is asked for one line a cycle.  F5."""

from __future__ import annotations

from warplens.compiled import compiled

# Lines whose numbers have an odd count of these bits (`lines of a load` of the calibration).
FIRST, SECOND = 0b01010110101, 0b11101101111


@compiled
def bank_of(line):  # type: ignore[no-untyped-def]
    return 2 * odd(line & FIRST) + odd(line & SECOND)


@compiled
def odd(bits):  # type: ignore[no-untyped-def]
    """Whether so many of 16 bits are set."""
    bits ^= bits >> 8
    bits ^= bits >> 4
    bits ^= bits >> 2
    return (bits ^ bits >> 1) & 1

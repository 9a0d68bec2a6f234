"""MUFU arithmetic: a parabola for each segment of the operand's range, from tables, with a truncated square.

The method is published (Oberman and Siu, "A High-Performance Area-Efficient Multifunction Interpolator", ARITH 2005),
the tables are not.  mufu.csv has them as they follow from all 2^23 operands of a binade on an H200 (driver 580.159.04,
2026-11-21): in each segment the integers c1 and c2 are the only ones that give every result, and so is c0 but for a
remainder that all segments have in common.  The operand's digits after the segment's number, times c1; their square,
whose products of two bits count down to 2^-15, times c2; c0 counts quarters, or eighths, of the last place.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from warplens.isa.dsl.lanes import S32, S64, U32

FILE = Path(__file__).with_name("mufu.csv")
C2 = 12  # bits that hold it in an entry's high word, below c1
C0, C1 = 26, 21  # bits that hold them in an entry of tanh, whose c2 is longer
LOW = 8  # bits of a total in its low part, so that products of its parts have 31 bits: AVX2 has no 64-bit product


@dataclass(frozen=True)
class Parabola:
    """A function's segments, and the layout of its numbers.

    rest    bits of the operand after the number of the segment
    point   bits that a total has after its last place
    square  how far the square is shifted left of a total's last bit
    step    how far c0 does
    common  what all c0 have in common below their last bit
    """

    name: str
    rest: int
    point: int
    square: int
    step: int
    common: int = 0

    def word(self, segment: U32, operand: U32) -> U32:
        """The result's digits, as the offset from the first word of its binade; `operand`: its last digits."""
        c0, high, _ = self._parts(segment, operand)
        below = self.point - self.step  # bits of c0 after the last place
        rest = ((c0 & ((1 << below) - 1)) << (self.step - LOW)).s32() + high
        return (c0 >> below) + (rest >> (self.point - LOW)).u32()

    def total(self, segment: U32, operand: U32) -> tuple[S32, U32]:
        """The parabola in units of 2^-point of its last place, of less than 2^38: all but LOW bits, and these."""
        c0, high, low = self._parts(segment, operand)
        return (c0 << (self.step - LOW)).s32() + high, low

    def _parts(self, segment: U32, operand: U32) -> tuple[U32, S32, U32]:
        """c0, and the other terms: all but LOW bits, and these."""
        packed = segment.look_up(entries(self.name)).u64()
        c1, c2 = packed.high().s32() >> C2, (packed.high() << (32 - C2)).s32() >> (32 - C2)
        digits = operand & ((1 << self.rest) - 1)
        square = (squared(digits >> (self.rest - 16)) << self.square).s32()
        fine = c1 * (digits & ((1 << LOW) - 1)).s32() + c2 * square + self.common
        return packed.low(), c1 * (digits >> LOW).s32() + (fine >> LOW), fine.u32() & ((1 << LOW) - 1)


class WideParabola(Parabola):
    """A parabola whose terms have more than 31 bits."""

    def whole(self, segment: U32, operand: U32) -> S64:
        packed = segment.look_up(wide_entries(self.name))
        digits = operand & ((1 << self.rest) - 1)
        c0, c1, c2 = packed & ((1 << C0) - 1), (packed << (64 - C0 - C1)) >> (64 - C1), packed >> (C0 + C1)
        square = squared(digits >> (self.rest - 16)).wide().s64() << self.square
        return (c0 << self.step) + c1 * digits.wide().s64() + c2 * square + self.common


RCP = Parabola("rcp", rest=16, point=16, square=1, step=14, common=4046)
RSQ = Parabola("rsq", rest=17, point=17, square=2, step=15, common=32766)
SQRT = Parabola("sqrt", rest=17, point=18, square=2, step=16, common=65534)
EX2 = Parabola("ex2", rest=17, point=17, square=2, step=15, common=24456)
LG2 = Parabola("lg2", rest=17, point=15, square=1, step=12, common=837)
SIN = Parabola("sin", rest=17, point=13, square=0, step=11)
TANH = WideParabola("tanh", rest=17, point=15, square=1, step=13)


def coefficients(name: str) -> list[tuple[int, int, int]]:
    """c0, c1, c2 of the segments of a function."""
    with FILE.open(encoding="utf-8") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return [(int(row["c0"]), int(row["c1"]), int(row["c2"])) for row in rows if row["function"] == name]


@cache
def entries(name: str) -> tuple[int, ...]:
    """The segments of a function, each as a word with c0, and one with c1 above c2."""
    return tuple(c0 | (c1 << C2 | c2 & ((1 << C2) - 1)) << 32 for c0, c1, c2 in coefficients(name))


@cache
def wide_entries(name: str) -> tuple[int, ...]:
    """The same, each as c0 + (c1 << C0) + (c2 << (C0 + C1))."""
    return tuple(c0 | (c1 & ((1 << C1) - 1)) << C0 | c2 << (C0 + C1) for c0, c1, c2 in coefficients(name))


def squared(digits: U32) -> U32:
    """The square of 16 digits after the point, in units of 2^-15: products of two bits below that are left out.

    The first 8 digits have all their products but one, the last digit's with itself; of the others' products with
    digit i those are left out that i shifts out."""
    short = digits.u16()
    first, others = short >> 8, short & 0xFF
    total = (first * first) >> 1
    for i in range(1, 8):
        total = total + short.bit(16 - i).choose(others >> i, 0)
    return total.u32()

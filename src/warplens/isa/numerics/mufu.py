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

from warplens.isa.dsl.lanes import S64, U32

FILE = Path(__file__).with_name("mufu.csv")
C0, C1 = 26, 21  # bits that hold them in a packed entry


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

    def total(self, segment: U32, operand: U32) -> S64:
        """The parabola in units of 2^-point of its last place; `operand`: its last digits."""
        packed = segment.look_up(entries(self.name))
        digits = operand & ((1 << self.rest) - 1)
        c0, c1, c2 = packed & ((1 << C0) - 1), (packed << (64 - C0 - C1)) >> (64 - C1), packed >> (C0 + C1)
        square = squared(digits >> (self.rest - 16)).wide().s64() << self.square
        return (c0 << self.step) + c1 * digits.wide().s64() + c2 * square + self.common

    def word(self, segment: U32, operand: U32) -> U32:
        """The result's digits, as the offset from the first word of its binade."""
        return (self.total(segment, operand) >> self.point).u64().low()


RCP = Parabola("rcp", rest=16, point=16, square=1, step=14, common=4046)
RSQ = Parabola("rsq", rest=17, point=17, square=2, step=15, common=32766)
SQRT = Parabola("sqrt", rest=17, point=18, square=2, step=16, common=65534)
EX2 = Parabola("ex2", rest=17, point=17, square=2, step=15, common=24456)
LG2 = Parabola("lg2", rest=17, point=15, square=1, step=12, common=837)
SIN = Parabola("sin", rest=17, point=13, square=0, step=11)
TANH = Parabola("tanh", rest=17, point=15, square=1, step=13)


@cache
def entries(name: str) -> tuple[int, ...]:
    """The segments of a function, each as c0 + (c1 << C0) + (c2 << (C0 + C1))."""
    with FILE.open(encoding="utf-8") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return tuple(packed(*(int(row[c]) for c in ("c0", "c1", "c2"))) for row in rows if row["function"] == name)


def packed(c0: int, c1: int, c2: int) -> int:
    return c0 | (c1 & ((1 << C1) - 1)) << C0 | c2 << (C0 + C1)


def squared(digits: U32) -> U32:
    """The square of 16 digits after the point, in units of 2^-15: products of two bits below that are left out."""
    short = digits.u16()
    total = short.like(0)
    for i in range(1, 8):  # bit i from the top, times itself and those after it
        products = ((short >> i) & ((1 << (16 - 2 * i)) - 1)) + (1 << (15 - 2 * i))
        total = total + short.bit(16 - i).choose(products, 0)
    return total.u32()

"""The sentences' primitives on plain arrays, lane after lane: slow and obvious."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from helpers.exact_floats import DOUBLE, SINGLE, Format, add, convert, fma, mul
from warplens.isa.dsl.lanes import F64, FAR, Float, Lanes


def number(kind: type[Lanes], bits: int) -> int:
    """The integer that these bits stand for."""
    return bits - (1 << kind.bits) if kind.signed and bits >> (kind.bits - 1) else bits


def format_of(kind: type[Lanes]) -> Format:
    return DOUBLE if kind is F64 else SINGLE


class NumpyEmitter:
    """Nodes are arrays of unsigned 64-bit integers: the bits of each lane."""

    def __init__(self, lanes: int) -> None:
        self.lanes = lanes

    def constant(self, kind: type[Lanes], value: float | int) -> np.ndarray:
        if issubclass(kind, Float):
            array = np.array([value], np.float64 if kind is F64 else np.float32)
            bits = int(array.view(np.uint64 if kind is F64 else np.uint32)[0])
        else:
            bits = int(value) & ((1 << kind.bits) - 1)
        return np.full(self.lanes, bits, np.uint64)

    def do(self, primitive: str, kind: type[Lanes], *args: Lanes, **how: Any) -> np.ndarray:
        name = {"and": "and_", "or": "or_", "not": "not_", "abs": "abs_", "min": "min_", "max": "max_"}
        function: Callable[..., int] = getattr(self, name.get(primitive, primitive))
        source = type(args[0])
        lanes = zip(*([int(bits) for bits in a.node] for a in args), strict=True)
        mask = (1 << kind.bits) - 1
        return np.array([int(function(kind, source, *lane, **how)) & mask for lane in lanes], np.uint64)

    # Bits

    def bitcast(self, k: Any, s: Any, a: int) -> int:
        return a

    def extend(self, k: Any, s: Any, a: int) -> int:
        return number(s, a)

    def truncate(self, k: Any, s: Any, a: int) -> int:
        return a

    def high(self, k: Any, s: Any, a: int) -> int:
        return a >> 32

    def high_plus(self, k: Any, s: Any, a: int, b: int) -> int:
        return (a + b) >> 32 & 0xFFFF_FFFF

    def join(self, k: Any, s: Any, low: int, high: int) -> int:
        return low | high << 32

    def look_up(self, k: Any, s: Any, a: int, *, table: tuple[int, ...]) -> int:
        return table[a]

    def select(self, k: Any, s: Any, p: int, yes: int, no: int) -> int:
        return yes if p else no

    def and_(self, k: Any, s: Any, a: int, b: int) -> int:
        return a & b

    def or_(self, k: Any, s: Any, a: int, b: int) -> int:
        return a | b

    def xor(self, k: Any, s: Any, a: int, b: int) -> int:
        return a ^ b

    def not_(self, k: Any, s: Any, a: int) -> int:
        return ~a

    def popc(self, k: Any, s: Any, a: int) -> int:
        return a.bit_count()

    def clz(self, k: Any, s: Any, a: int) -> int:
        return s.bits - a.bit_length()

    def brev(self, k: Any, s: Any, a: int) -> int:
        return int(f"{a:0{s.bits}b}"[::-1], 2)

    # Integers

    def add(self, k: Any, s: Any, a: int, b: int) -> int:
        return a + b

    def sub(self, k: Any, s: Any, a: int, b: int) -> int:
        return a - b

    def mul(self, k: Any, s: Any, a: int, b: int) -> int:
        return a * b

    def shl(self, k: Any, s: Any, a: int, b: int) -> int:
        return a << b if b < s.bits else 0

    def shr(self, k: Any, s: Any, a: int, b: int) -> int:
        return number(s, a) >> min(b, s.bits)

    def min_(self, k: Any, s: Any, a: int, b: int) -> int:
        return min(number(s, a), number(s, b))

    def max_(self, k: Any, s: Any, a: int, b: int) -> int:
        return max(number(s, a), number(s, b))

    def abs_(self, k: Any, s: Any, a: int) -> int:
        return abs(number(s, a))

    def compare(self, k: Any, s: Any, a: int, b: int, *, order: str, unordered: bool = False) -> bool:
        if issubclass(s, Float):
            f = format_of(s)
            if f.is_nan(a) or f.is_nan(b):
                return unordered
            x, y = (self.place(f, bits) for bits in (a, b))
        else:
            x, y = number(s, a), number(s, b)
        return {"lt": x < y, "le": x <= y, "gt": x > y, "ge": x >= y, "eq": x == y, "ne": x != y}[order]

    def place(self, f: Format, bits: int) -> int:
        """Where a number stands in the order of all: the zeros in one place."""
        return -f.magnitude(bits) if f.sign(bits) else f.magnitude(bits)

    # Floats

    def fadd(self, k: Any, s: Any, a: int, b: int, *, rounding: str) -> int:
        return add(format_of(k), a, b, rounding)

    def fmul(self, k: Any, s: Any, a: int, b: int, *, rounding: str) -> int:
        return mul(format_of(k), a, b, rounding)

    def fma(self, k: Any, s: Any, a: int, b: int, c: int, *, rounding: str) -> int:
        return fma(format_of(k), a, b, c, rounding)

    def fneg(self, k: Any, s: Any, a: int) -> int:
        return a ^ 1 << (k.bits - 1)

    def fabs(self, k: Any, s: Any, a: int) -> int:
        return format_of(k).magnitude(a)

    def fsqrt(self, k: Any, s: Any, a: int) -> int:
        f = format_of(k)
        if f.magnitude(a) == 0 or (f.is_infinite(a) and not f.sign(a)):
            return a
        if f.is_nan(a) or f.sign(a):
            return f.nan
        exact = f.value(a)
        scale = 1 << 200  # a square root to 200 binary digits, with the rest marked in the last one
        root = math.isqrt(exact.numerator * exact.denominator * scale * scale)
        inexact = root * root != exact.numerator * exact.denominator * scale * scale
        return f.rounded(Fraction(2 * root + inexact, 2 * exact.denominator * scale))

    def _integral(self, f: Format, a: int, way: Callable[[Any], int]) -> int:
        if f.is_nan(a):
            return f.nan
        if f.is_infinite(a):
            return a
        return f.rounded(Fraction(way(f.value(a))), zero_negative=bool(f.sign(a)))

    def ffloor(self, k: Any, s: Any, a: int) -> int:
        return self._integral(format_of(k), a, math.floor)

    def fceil(self, k: Any, s: Any, a: int) -> int:
        return self._integral(format_of(k), a, math.ceil)

    def ftrunc(self, k: Any, s: Any, a: int) -> int:
        return self._integral(format_of(k), a, math.trunc)

    def fnearest(self, k: Any, s: Any, a: int) -> int:
        return self._integral(format_of(k), a, round)

    def ftz(self, k: Any, s: Any, a: int, away: int | None = None) -> int:
        f = format_of(k)
        small = f.magnitude(a) >> f.digits == 0 if away is None else f.magnitude(away) >> f.digits < 1 + FAR
        return f.signed(0, bool(f.sign(a))) if small else a

    def saturate(self, k: Any, s: Any, a: int) -> int:
        f = format_of(k)
        one = f.bias << f.digits
        return 0 if f.is_nan(a) or f.sign(a) else min(a, one)

    def fmin(self, k: Any, s: Any, a: int, b: int) -> int:
        return self._lesser(format_of(k), a, b, 1)

    def fmax(self, k: Any, s: Any, a: int, b: int) -> int:
        return self._lesser(format_of(k), a, b, -1)

    def _lesser(self, f: Format, a: int, b: int, way: int) -> int:
        if f.is_nan(a):
            return f.nan if f.is_nan(b) else b
        if f.is_nan(b):
            return a
        return min(a, b, key=lambda x: way * (self.place(f, x) - 0.5 * f.sign(x)))

    def isnan(self, k: Any, s: Any, a: int) -> bool:
        return format_of(s).is_nan(a)

    def to_int(self, k: Any, s: Any, a: int) -> int:
        f = format_of(s)
        least, most = (-(1 << (k.bits - 1)), (1 << (k.bits - 1)) - 1) if k.signed else (0, (1 << k.bits) - 1)
        if f.is_nan(a):
            return 0
        if f.is_infinite(a):
            return least if f.sign(a) else most
        return max(least, min(most, math.trunc(f.value(a))))

    chop = to_int

    def from_int(self, k: Any, s: Any, a: int, *, rounding: str) -> int:
        f = format_of(k)
        return f.rounded(Fraction(number(s, a)), rounding)

    def fextend(self, k: Any, s: Any, a: int) -> int:
        return convert(SINGLE, DOUBLE, a)

    def fround(self, k: Any, s: Any, a: int) -> int:
        return convert(DOUBLE, SINGLE, a)

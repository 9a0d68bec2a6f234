"""Tensor-core float sums: exact for all numbers, and a fast path for most.

Read on an H200 (measurements/README.md), bit for bit: the products of a row and a column are exact, and are summed with
the addend in one step.  For that each is cut off (towards zero) 25 binary places after the largest exponent of all,
where a product's exponent is the sum of its factors', whatever its digits.  The exact sum of what is left is cut off
again to a float, or rounded to nearest to a half.  A result of zero is +0, a NaN 0x7fffffff or 0x7fff.  Other
architectures sum in smaller groups or keep fewer places; here all follow the H200, QMMA too, which an H200 lacks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Literal, NamedTuple

from warplens.isa.dsl.lanes import F32, F64, S32, U32, Pred
from warplens.isa.numerics.any_nan import AnyNan
from warplens.isa.numerics.fragments import E, column, row
from warplens.isa.numerics.narrow_formats import e4m3_to_float, e5m2_to_float, float_to_half, half_to_float, odd_float

PLACES = 25
NOWHERE = -400  # the exponent of zero: below that of any product, also with a factor that is not zero
ALL_ZERO = NOWHERE + 255  # sums of such exponents lie below
LEAST_TOP, LARGEST_TOP = 26, 240  # exponents of floats that do for everything scaled here
Words = Sequence[U32]
Pairs = Iterator[tuple[tuple[E, E], ...]]  # place by place in row and column, for each of a lane's four results
Result = Literal["F16", "F32"]
Input = Literal["F16", "BF16", "TF32"]
Tiny = Literal["E4M3", "E5M2"]
Kinds = tuple[Input | Tiny, Input | Tiny]  # of A and of B
Chooser = Callable[..., Sequence[Any]]  # (column, half, words of metadata) -> what a row of A meets of it


class FloatParts(NamedTuple):
    """A float with its exponent (biased by 127), which is that of the format where digits are missing."""

    value: F32
    exponent: S32


def number(value: F32, least: int) -> FloatParts:
    """`least`: the smallest exponent of the format."""
    exponent = ((value.u32() >> 23) & 0xFF).s32().max(least)
    return FloatParts(value, value.compare("eq", 0.0).choose(exponent.like(NOWHERE), exponent))


def numbers(word: U32, kind: Input | Tiny) -> list[FloatParts]:
    if kind == "TF32":
        return [number((word & ~0x1FFF).float_bits(), 1)]
    if kind == "E4M3" or kind == "E5M2":
        wide, least = (e4m3_to_float, 121) if kind == "E4M3" else (e5m2_to_float, 113)
        return [number(wide((word >> shift) & 0xFF), least) for shift in (0, 8, 16, 24)]
    brain = kind == "BF16"
    return [number(half_to_float(half, brain), 1 if brain else 113) for half in (word & 0xFFFF, word >> 16)]


@dataclass(frozen=True)
class Terms:
    """What a lane's four results sum up: values and exponents of the factors and of the addends.  ordinary: where
    factors are neither infinite nor NaN."""

    values: Pairs[F32]
    exponents: Pairs[S32]
    addends: Sequence[FloatParts]
    ordinary: Sequence[Pred]


def terms(kinds: Kinds, result: Result, choose: Chooser, a: Words, b: Words, c: Words, *meta: Words) -> Terms:
    left, right = ([numbers(word, kind) for word in words] for words, kind in zip((a, b), kinds, strict=True))
    addends = [number(w.float_bits(), 1) for w in c] if result == "F32" else [x for w in c for x in numbers(w, "F16")]

    def pairs(part: Callable[[FloatParts], E]) -> Pairs[E]:
        rows, columns = ([[part(x) for x in word] for word in words] for words in (left, right))
        wide = [column(columns, side) for side in range(2)]
        results = (zip(row(rows, 2, half), choose(ys, half, *meta), strict=True) for half in range(2) for ys in wide)
        return zip(*results, strict=True)

    ordinary = [x.exponent < 255 for words in (left, right) for word in words for x in word]
    return Terms(pairs(lambda x: x.value), pairs(lambda x: x.exponent), addends, ordinary)


def largest(exponents: Pairs[S32], addends: Sequence[FloatParts]) -> list[S32]:
    """The largest exponent of each result's products and its addend."""
    tops = [addend.exponent + 127 for addend in addends]
    for four in exponents:
        tops = [top.max(x + y) for top, (x, y) in zip(tops, four, strict=True)]
    return [top - 127 for top in tops]


# For all numbers


def float_products(kinds: Kinds, result: Result, choose: Chooser, *words: Words) -> Words:
    """All results of a lane: rows g and g + 8, columns 2 t and 2 t + 1.  Infinities and NaNs go their way through the
    doubles."""
    given = terms(kinds, result, choose, *words)
    places = [top.max(NOWHERE) - PLACES - 127 for top in largest(given.exponents, given.addends)]
    scales = [power_of_two(-place) for place in places]
    sums: list[F64] = [(x.value.f64().bitcast(AnyNan) * k).trunc() for x, k in zip(given.addends, scales, strict=True)]
    for four in given.values:
        exact = [x.f64().bitcast(AnyNan) * y.f64() for x, y in four]
        sums = [total + (x * scale).trunc() for total, x, scale in zip(sums, exact, scales, strict=True)]
    sums = [total * power_of_two(place) for total, place in zip(sums, places, strict=True)]
    return [cut_off(x).u32() for x in sums] if result == "F32" else half_pairs(sums)


def power_of_two(exponent: S32) -> F64:
    return ((exponent + 1023).wide().u64() << 52).double_bits()


def cut_off(x: F64) -> F32:
    """The nearest float towards zero, but infinity from 2^128 on; never -0."""
    nearest = x.f32()
    inside = x.abs().compare("lt", 2.0**128)
    beyond = inside & nearest.f64().abs().compare("gt", x.abs())
    return (nearest.u32() - beyond.u32()).float_bits() + 0.0


def short_float(x: F64, digits: int) -> U32:
    """The nearest float of so many digits towards zero; never -0."""
    kept = (x.u64() & -(1 << 53 - digits)).double_bits()
    return cut_off(x.isnan().choose(x, kept)).u32()


def short_half(x: F64) -> U32:
    """Rounded to nearest; never -0."""
    half = float_to_half(odd_float(x), False)
    return half.ne(0x8000).choose(half, 0)


def half_pairs(sums: Sequence[F64]) -> Words:
    return [half_pair(*sums[at : at + 2]) for at in (0, 2)]


def half_pair(low: F64, high: F64) -> U32:
    return short_half(low) | (short_half(high) << 16)


# For most


def quick_float_products(kinds: Kinds, result: Result, choose: Chooser, *words: Words) -> tuple[Words, Pred]:
    """The same in single precision and whole numbers, and where it is the same: where no exponent is extreme.

    A float holds the product of 11 by 11 binary digits, or one so small that all of it is cut off.  Scaled, products
    are below 2^27 and the addend below 2^26, so that eight of them and the addend make a whole number of 32 bits.
    """
    given = terms(kinds, result, choose, *words)
    tops = largest(given.exponents, given.addends)
    usual = [(top >= LEAST_TOP) & (top <= LARGEST_TOP) | (top < ALL_ZERO) for top in tops]
    places = [top.max(LEAST_TOP) - PLACES - 127 for top in tops]
    scales = [float_power_of_two(-place) for place in places]
    sums = [[(x.value * scale).chopped(S32)] for x, scale in zip(given.addends, scales, strict=True)]
    for number, four in enumerate(given.values):
        for parts, scale, (x, y) in zip(sums, scales, four, strict=True):
            product = (x * y * scale).chopped(S32)
            if number % 8 or number == 0:
                parts[-1] = parts[-1] + product
            else:
                parts.append(product)
    totals = [reduce(F64.plus, (part.f64() for part in parts)) for parts in sums]
    return scaled(totals, places, result), reduce(Pred.__and__, (*given.ordinary, *usual))


def scaled(totals: Sequence[F64], places: Sequence[S32], result: Result) -> Words:
    """Results from whole numbers: floats of what their digits can hold, or halves."""
    if result == "F16":
        return half_pairs([x * power_of_two(place) for x, place in zip(totals, places, strict=True)])
    short = [(x.u64() & -(1 << 29)).double_bits().f32() for x in totals]
    return [(x * float_power_of_two(place)).u32() for x, place in zip(short, places, strict=True)]


def float_power_of_two(exponent: S32) -> F32:
    return ((exponent + 127) << 23).float_bits()

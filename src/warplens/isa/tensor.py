"""Products of small matrices by a warp: HMMA, IMMA, BMMA, DMMA, and the transposing move (sass.md 2.2).

Read on an H200 (measurements/README.md), bit for bit: the products of a row and a column are exact, and are summed with
the addend in one step.  For that each is cut off (towards zero) 25 binary places behind the largest exponent of all,
where a product's exponent is the sum of its factors', whatever its digits.  The exact sum of what is left is cut off
again to a float, or rounded to nearest to a half.  A result of zero is +0, a NaN 0x7fffffff or 0x7fff.  Other
architectures sum in smaller groups or keep fewer places; here all follow the H200.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeVar

from warplens.isa._fragments import column, row
from warplens.isa._lanes import F32, F64, S32, S64, U32, U64, Rounding
from warplens.isa._narrow import float_to_half, half_to_float, odd_float
from warplens.isa._op import op
from warplens.isa._warp import Data, Warp
from warplens.isa.integer import field
from warplens.program import Register

X = TypeVar("X")
PLACES = 25
NOWHERE = -300  # the exponent of zero: below that of any product
Words = Sequence[U32]
Result = Literal["F16", "F32"]
Input = Literal["F16", "BF16", "TF32"]


@dataclass(frozen=True, slots=True)
class Number:
    """A float with its exponent (biased by 127), which is that of the format where digits are missing."""

    value: F32
    exponent: S32

    def of_lanes(self, lanes: Sequence[int]) -> Number:
        return Number(self.value.of_lanes(lanes), self.exponent.of_lanes(lanes))


def number(value: F32, least: int) -> Number:
    """`least`: the smallest exponent of the format."""
    exponent = ((value.u32() >> 23) & 0xFF).s32().max(least)
    return Number(value, value.compare("eq", 0.0).choose(exponent.like(NOWHERE), exponent))


def numbers(word: U32, kind: Input) -> list[Number]:
    if kind == "TF32":
        return [number((word & ~0x1FFF).float_bits(), 1)]
    brain = kind == "BF16"
    return [number(half_to_float(half, brain), 1 if brain else 113) for half in (word & 0xFFFF, word >> 16)]


def sum_of_products(xs: Sequence[Number], ys: Sequence[Number], addend: Number) -> F64:
    """The exact sum of what is not cut off.  Infinities and NaNs go their way through the doubles."""
    top = addend.exponent
    for x, y in zip(xs, ys, strict=True):
        top = top.max(x.exponent + y.exponent - 127)
    top = top.max(NOWHERE)
    scale, back = (power_of_two(k) for k in (-top + (127 + PLACES), top - (127 + PLACES)))
    total = (addend.value.f64() * scale).trunc()
    for x, y in zip(xs, ys, strict=True):
        total = total + (x.value.f64() * y.value.f64() * scale).trunc()
    return total * back


def power_of_two(exponent: S32) -> F64:
    return ((exponent + 1023).wide().u64() << 52).double_bits()


def cut_off(x: F64) -> F32:
    """The nearest float towards zero, but infinity from 2^128 on; never -0."""
    nearest = x.f32()
    inside = x.abs().compare("lt", 2.0**128)
    beyond = inside & nearest.f64().abs().compare("gt", x.abs())
    return (nearest.u32() - beyond.u32()).float_bits() + 0.0


def half_pair(low: F64, high: F64) -> U32:
    """Rounded to nearest; never -0."""
    one, other = (float_to_half(odd_float(x), False) for x in (low, high))
    return one.ne(0x8000).choose(one, 0) | (other.ne(0x8000).choose(other, 0) << 16)


def float_products(kind: Input, result: Result, choose: Chooser, a: Words, b: Words, c: Words, *meta: Words) -> Words:
    """All results of a lane: rows g and g + 8, columns 2 t and 2 t + 1."""
    left, right = ([numbers(word, kind) for word in words] for words in (a, b))
    columns = [column(right, side) for side in range(2)]
    if result == "F32":
        addends = [number(word.float_bits(), 1) for word in c]
    else:
        addends = [half for word in c for half in numbers(word, "F16")]
    sums = [
        sum_of_products(xs, choose(ys, half, *meta), addends[2 * half + side])
        for half, xs in enumerate(row(left, 2, half) for half in range(2))
        for side, ys in enumerate(columns)
    ]
    if result == "F32":
        return [cut_off(x).u32() for x in sums]
    return [half_pair(*sums[at : at + 2]) for at in (0, 2)]


# How many of B's elements a row of A meets: all, or those that the metadata of a sparse A names

Chooser = Callable[..., Sequence[Any]]  # (column, half, words of metadata) -> as many as the row has


def all_of(column: Sequence[X], half: int) -> Sequence[X]:
    return column


SHAPES = {"1684": (2, 1), "1688": (2, 1), "16816": (4, 2)}  # registers of A and B for 16-bit elements


@op("HMMA", pipe="tensor", says="{to} = {a} * {b} + {c}, matrices {shape}, {kind} summed as {result}")
def hmma(
    w: Warp, a: Register, b: Register, c: Register, *, shape: Literal["1684", "1688", "16816"], result: Result,
    kind: Input = "F16",
) -> Data:  # fmt: skip
    of_a, of_b = SHAPES[shape] if kind != "TF32" else {"1684": (2, 1), "1688": (4, 2)}[shape]
    words = 4 if result == "F32" else 2
    runs = (w.stored(a, of_a), w.stored(b, of_b), w.stored(c, words))
    return w.once("", words, partial(float_products, kind, result, all_of), *runs)


# Integers: exact, modulo 2^32 or clamped

Integer = Literal["S8", "U8", "S4", "U4"]


def integers(word: U32, kind: Integer) -> list[S32]:
    width = int(kind[1])
    return [field(word, width, k, kind[0] == "S").s32() for k in range(32 // width)]


def integer_products(
    kinds: tuple[Integer, Integer], saturates: bool, halves: int, choose: Chooser, a: Words, b: Words, c: Words,
    *meta: Words,
) -> Words:  # fmt: skip
    left, right = ([integers(word, kind) for word in words] for words, kind in zip((a, b), kinds, strict=True))
    columns = [column(right, side) for side in range(2)]
    addends = [word.s32() for word in c]
    results = []
    for half in range(halves):
        xs = row(left, halves, half)
        for side, ys in enumerate(columns):
            results.append(added(dot(xs, choose(ys, half, *meta)), addends[2 * half + side], saturates))
    return results


def dot(xs: Sequence[S32], ys: Sequence[S32]) -> S32:
    total = xs[0] * ys[0]
    for x, y in zip(xs[1:], ys[1:], strict=True):
        total = total + x * y
    return total


def added(total: S32, addend: S32, saturates: bool) -> U32:
    if not saturates:
        return (total + addend).u32()
    wide: S64 = total.wide() + addend.wide()
    return wide.max(-(1 << 31)).min((1 << 31) - 1).low()


@op("IMMA", pipe="tensor", says="{to} = {a} * {b} + {c}, matrices {shape}, {x} and {y}{SAT:, clamped|}")
def imma(
    w: Warp, a: Register, b: Register, c: Register, *,
    shape: Literal["8816", "8832", "16816", "16832", "16864"], x: Integer, y: Integer, SAT: bool,
) -> Data:  # fmt: skip
    halves = 1 if shape.startswith("88") else 2
    depth = int(shape.removeprefix("88" if halves == 1 else "168"))
    blocks = depth * int(x[1]) // 128
    words = 2 * halves
    runs = (w.stored(a, halves * blocks), w.stored(b, blocks), w.stored(c, words))
    return w.once("", words, partial(integer_products, (x, y), SAT, halves, all_of), *runs)


def bit_products(how: str, halves: int, a: Words, b: Words, c: Words) -> Words:
    """The number of ones in which row and column differ (XOR) or agree (AND)."""
    columns = [column([[word] for word in b], side) for side in range(2)]
    results = []
    for half in range(halves):
        xs = row([[word] for word in a], halves, half)
        for side, ys in enumerate(columns):
            total = c[2 * half + side]
            for x, y in zip(xs, ys, strict=True):
                total = total + ((x ^ y) if how == "XOR" else (x & y)).popc()
            results.append(total)
    return results


@op("BMMA", pipe="tensor", ignores="POPC", says="{to} = ones of {a} {how} {b}, added to {c}, matrices {shape} of bits")
def bmma(
    w: Warp, a: Register, b: Register, c: Register, *, shape: Literal["88128", "168128", "168256"],
    how: Literal["XOR", "AND"],
) -> Data:  # fmt: skip
    halves = 1 if shape.startswith("88") else 2
    blocks = 2 if shape.endswith("256") else 1
    runs = (w.stored(a, halves * blocks), w.stored(b, blocks), w.stored(c, 2 * halves))
    return w.once("", 2 * halves, partial(bit_products, how, halves), *runs)


# Doubles: one fused multiply-add after the other, in the order of the row


def doubles(words: Words) -> list[F64]:
    return [low.join(high).double_bits() for low, high in zip(words[::2], words[1::2], strict=True)]


def double_products(rounding: Rounding, halves: int, a: Words, b: Words, c: Words) -> Words:
    left, right, sums = ([[x] for x in doubles(words)] for words in (a, b, c))
    results: list[U64] = []
    for half in range(halves):
        xs = row(left, halves, half)
        for side in range(2):
            (total,) = sums[2 * half + side]
            for x, y in zip(xs, column(right, side), strict=True):
                total = x.times_plus(y, total, rounding)
            results.append(total.u64())
    return [word for result in results for word in (result.low(), result.high())]


@op("DMMA", pipe="fp64", says="{to} = {a} * {b} + {c}, matrices {shape} of doubles")
def dmma(
    w: Warp, a: Register, b: Register, c: Register, *,
    shape: Literal["884", "8x8x4", "16x8x4", "16x8x8", "16x8x16"], rounding: Rounding = "RN",
) -> Data:  # fmt: skip
    halves = 2 if shape.startswith("16") else 1
    blocks = 1 if shape == "884" else int(shape.rpartition("x")[2]) // 4
    words = 4 * halves
    runs = (w.stored(a, 2 * halves * blocks), w.stored(b, 2 * blocks), w.stored(c, words))
    return w.once("", words, partial(double_products, rounding, halves), *runs)


# 8 x 8 matrices of 16 bits, a row in four lanes


def transposed(word: U32, lane: U32) -> U32:
    """Lane 4 r + c / 2 holds what stood in row c, column r."""
    even, odd = ([(lane % 4 * 2 + k) * 4 + lane // 8 for lane in range(32)] for k in range(2))
    shift = (lane << 2) & 16
    return ((word.of_lanes(even) >> shift) & 0xFFFF) | ((word.of_lanes(odd) >> shift) << 16)


@op("MOVM.16.MT88", pipe="lsu", says="{to} = {a}, an 8 x 8 matrix of 16 bits, transposed")
def movm(w: Warp, a: U32) -> U32:
    return transposed(a, w.lane)

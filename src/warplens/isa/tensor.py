"""Matrix products by a warp: HMMA, QMMA, IMMA, BMMA, DMMA, and the transposing move (sass.md 2.2)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce
from typing import Literal, TypeVar

from warplens.core.program import Register
from warplens.isa.dsl.lanes import F64, S32, S64, U32, Pred, Rounding
from warplens.isa.dsl.op import op
from warplens.isa.dsl.warp_interface import Data, Warp
from warplens.isa.integer import field
from warplens.isa.numerics.any_nan import AnyNan
from warplens.isa.numerics.float_products import (
    Chooser,
    Input,
    Result,
    Tiny,
    Words,
    float_products,
    quick_float_products,
)
from warplens.isa.numerics.fragments import column, row

X = TypeVar("X")
Doubles = Sequence[Sequence[F64]]  # the elements of each register


# How many of B's elements a row of A meets: all, or those that the metadata of a sparse A names


def all_of(column: Sequence[X], half: int) -> Sequence[X]:
    return column


SHAPES = {"1684": (2, 1), "1688": (2, 1), "16816": (4, 2)}  # registers of A and B for 16-bit elements


@op("HMMA", pipe="tensor", text="{to} = {a} * {b} + {c}, matrices {shape}, {kind} summed as {result}")
def hmma(
    w: Warp, a: Register, b: Register, c: Register, *, shape: Literal["1684", "1688", "16816"], result: Result,
    kind: Input = "F16",
) -> Data:  # fmt: skip
    of_a, of_b = SHAPES[shape] if kind != "TF32" else {"1684": (2, 1), "1688": (4, 2)}[shape]
    words = 4 if result == "F32" else 2
    runs = (w.stored(a, of_a), w.stored(b, of_b), w.stored(c, words))
    quick = partial(quick_float_products, (kind, kind), result, all_of)
    return w.once("", words, partial(float_products, (kind, kind), result, all_of), *runs, quick=quick)


@op("QMMA", pipe="tensor", text="{to} = {a} * {b} + {c}, matrices {shape}, {x} and {y} summed as {result}")
def qmma(
    w: Warp, a: Register, b: Register, c: Register, *, shape: Literal["16816", "16832"], result: Result,
    x: Tiny, y: Tiny,
) -> Data:  # fmt: skip
    """8-bit floats, on sm_89 and sm_120; the compiler makes HMMA of halves of them on sm_90 and sm_100."""
    of_b = 1 if shape == "16816" else 2
    words = 4 if result == "F32" else 2
    runs = (w.stored(a, 2 * of_b), w.stored(b, of_b), w.stored(c, words))
    quick = partial(quick_float_products, (x, y), result, all_of)
    return w.once("", words, partial(float_products, (x, y), result, all_of), *runs, quick=quick)


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


@op("IMMA", pipe="tensor", text="{to} = {a} * {b} + {c}, matrices {shape}, {x} and {y}{SAT:, clamped|}")
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


@op("BMMA", pipe="tensor", ignores="POPC", text="{to} = ones of {a} {how} {b}, added to {c}, matrices {shape} of bits")
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
    return words_of(sums_of_doubles(rounding, halves, *([[x] for x in doubles(words)] for words in (a, b, c))))


def quick_double_products(rounding: Rounding, halves: int, a: Words, b: Words, c: Words) -> tuple[Words, Pred]:
    """The same where no result is a NaN."""
    given = ([[x.bitcast(AnyNan)] for x in doubles(words)] for words in (a, b, c))
    results = sums_of_doubles(rounding, halves, *given)
    return words_of(results), ~reduce(Pred.__or__, (result.isnan() for result in results))


def sums_of_doubles(rounding: Rounding, halves: int, left: Doubles, right: Doubles, addends: Doubles) -> list[F64]:
    results = []
    for half in range(halves):
        xs = row(left, halves, half)
        for side in range(2):
            (total,) = addends[2 * half + side]
            for x, y in zip(xs, column(right, side), strict=True):
                total = x.times_plus(y, total, rounding)
            results.append(total)
    return results


def words_of(results: Sequence[F64]) -> Words:
    return [word for x in results for word in (x.u64().low(), x.u64().high())]


@op("DMMA", pipe="fp64", text="{to} = {a} * {b} + {c}, matrices {shape} of doubles")
def dmma(
    w: Warp, a: Register, b: Register, c: Register, *,
    shape: Literal["884", "8x8x4", "16x8x4", "16x8x8", "16x8x16"], rounding: Rounding = "RN",
) -> Data:  # fmt: skip
    halves = 2 if shape.startswith("16") else 1
    blocks = 1 if shape == "884" else int(shape.rpartition("x")[2]) // 4
    words = 4 * halves
    runs = (w.stored(a, 2 * halves * blocks), w.stored(b, 2 * blocks), w.stored(c, words))
    quick = partial(quick_double_products, rounding, halves)
    return w.once("", words, partial(double_products, rounding, halves), *runs, quick=quick)


# 8 x 8 matrices of 16 bits, a row in four lanes


def transposed(word: U32, lane: U32) -> U32:
    """Lane 4 r + c / 2 holds what stood in row c, column r."""
    even, odd = ([(lane % 4 * 2 + k) * 4 + lane // 8 for lane in range(32)] for k in range(2))
    shift = (lane << 2) & 16
    return ((word.of_lanes(even) >> shift) & 0xFFFF) | ((word.of_lanes(odd) >> shift) << 16)


@op("MOVM.16.MT88", pipe="lsu", text="{to} = {a}, an 8 x 8 matrix of 16 bits, transposed")
def movm(w: Warp, a: U32) -> U32:
    return transposed(a, w.lane)

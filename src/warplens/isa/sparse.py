"""Sparse matrix products: HMMA.SP and IMMA.SP, every second element of A left out (PTX ISA, mma.sp).

The metadata selects in four bits which places of a chunk of B an A's elements meet: 2 of 4 halves or bytes, 1 of 2 TF32
numbers, 2 of 4 pairs of 4-bit integers.  Which lane of four holds them, and where, was tried on an H200
(measurements/h200/tensor.npz).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Literal, TypeVar

from warplens.core.program import Register
from warplens.isa.dsl.lanes import S32, U32, Lanes
from warplens.isa.dsl.op import op
from warplens.isa.dsl.warp_interface import Data, Warp
from warplens.isa.numerics.float_products import Input, Result, Words, float_products, quick_float_products
from warplens.isa.numerics.fragments import LANES
from warplens.isa.tensor import Integer, integer_products

X = TypeVar("X", bound=Lanes)


def either(first: X, second: X, which: U32) -> X:
    """The second where `which` is not 0."""
    return which.ne(0).choose(second, first)


def one_of(places: Sequence[X], index: U32) -> X:
    """The element of place `index`: of two, or of four."""
    if len(places) == 2:
        return either(places[0], places[1], index & 1)
    halves = [either(places[k], places[k + 1], index & 1) for k in (0, 2)]
    return either(halves[0], halves[1], index & 2)


def held(metadata: U32, lane: int) -> U32:
    """What lane 4 g + `lane` holds."""
    return metadata.of_lanes([thread // 4 * 4 + lane for thread in LANES])


def met_numbers(tf32: bool, first: int, ys: Sequence[X], half: int, metadata: Words) -> Sequence[X]:
    """Eight chunks of a block of B lie in the four lanes' nibbles of one word, those of row g before those of g + 8."""
    wide = 2 if tf32 else 4
    chosen = []
    for chunk in range(len(ys) // wide):
        nibble = held(metadata[0], first + chunk // 4) >> (16 * half + 4 * (chunk % 4))
        places = ys[wide * chunk : wide * (chunk + 1)]
        indices = [nibble >> 1] if tf32 else [nibble, nibble >> 2]
        chosen += [one_of(places, index) for index in indices]
    return chosen


def met_integers(pairs: bool, first: int, ys: Sequence[S32], half: int, metadata: Words) -> Sequence[S32]:
    """Row g and row g + 8 have a lane each, for eight chunks."""
    wide, run = (8, 2) if pairs else (4, 1)
    chosen = []
    for chunk in range(len(ys) // wide):
        nibble = held(metadata[0], first + half + 2 * (chunk // 8)) >> (4 * (chunk % 8))
        places = ys[wide * chunk : wide * (chunk + 1)]
        chosen += [one_of(places[k::run], index) for index in (nibble, nibble >> 2) for k in range(run)]
    return chosen


@op("HMMA.SP", pipe="tensor", text="{to} = {a} (half zeros, by {metadata}) * {b} + {c}, matrices {shape}, {kind}")
def hmma_sp(
    w: Warp, a: Register, b: Register, c: Register, metadata: Register, selector: int = 0, *,
    shape: Literal["1688", "16816", "16832"], result: Result, kind: Input = "F16",
) -> Data:  # fmt: skip
    tf32 = kind == "TF32"
    blocks = 1 if shape == ("1688" if tf32 else "16816") else 2
    words = 4 if result == "F32" else 2
    met = partial(met_numbers, tf32, blocks * selector)
    runs = (w.stored(a, 2 * blocks), w.stored(b, 2 * blocks), w.stored(c, words), w.stored(metadata, 1))
    quick = partial(quick_float_products, (kind, kind), result, met)
    return w.once(f".{selector}", words, partial(float_products, (kind, kind), result, met), *runs, quick=quick)


@op("IMMA.SP", pipe="tensor", text="{to} = {a} (half zeros, by {metadata}) * {b} + {c}, matrices {shape}, {x} and {y}")
def imma_sp(
    w: Warp, a: Register, b: Register, c: Register, metadata: Register, selector: int = 0, *,
    shape: Literal["16832", "16864", "168128"], x: Integer, y: Integer, SAT: bool,
) -> Data:  # fmt: skip
    pairs = x.endswith("4")
    blocks = 1 if shape == ("16864" if pairs else "16832") else 2
    met = partial(met_integers, pairs, 2 * selector)
    runs = (w.stored(a, 2 * blocks), w.stored(b, 2 * blocks), w.stored(c, 4), w.stored(metadata, 1))
    return w.once(f".{selector}", 4, partial(integer_products, (x, y), SAT, 2, met), *runs)

"""Products on tensor cores beside the same in whole numbers, term after term: of usual numbers, which the executor sums
quickly (isa/_float_products.py), of others, and of warps that have both."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from launches import same, written
from numpy.typing import NDArray
from tensor_launches import FORMS

Words = NDArray[np.uint32]
PLACES = 25
LEAST = {"F16": -14, "BF16": -126, "TF32": -126, "F32": -126}  # exponents
NONE = -1000  # of zero
KINDS = {  # factors, results
    "m16n8k16_f32": ("F16", "F32"), "m16n8k16_f16": ("F16", "F16"), "bf16k16": ("BF16", "F32"),
    "tf32k8": ("TF32", "F32"), "m16n8k8_f32": ("F16", "F32"),
}  # fmt: skip
EXPONENTS = {  # of the floats that are drawn, biased
    "usual": (110, 140), "far apart": (60, 190), "tiny": (1, 40), "huge": (215, 254), "all": (0, 255),
}  # fmt: skip
INFINITY = {"F16": 0x7C00, "BF16": 0x7F80, "TF32": 0x7F800000, "F32": 0x7F800000}
FULL = {"F16": 0x3FFF3FFF, "BF16": 0x3FFF3FFF, "TF32": 0x3FFFFFFF, "F32": 0x40FFFFFF}  # digits of ones only


def elements(word: int, kind: str) -> list[float]:
    """The numbers in a word."""
    if kind == "F16":
        return [float(x) for x in np.array([word], np.uint32).view(np.float16)]
    words = {"BF16": [word << 16 & 0xFFFF0000, word & 0xFFFF0000], "TF32": [word & 0xFFFFE000], "F32": [word]}[kind]
    return [float(x) for x in np.array(words, np.uint32).view(np.float32)]


def exponent(x: float | Fraction, kind: str) -> int:
    return max(math.frexp(x)[1] - 1, LEAST[kind]) if x else NONE


def summed(xs: Sequence[float], ys: Sequence[float], addend: float, kind: str, result: str) -> int:
    """The bits of a result."""
    if not all(map(math.isfinite, (*xs, *ys, addend))):
        with np.errstate(invalid="ignore"):
            value = np.float64(addend) + sum(np.float64(x) * y for x, y in zip(xs, ys, strict=True))
        return (0x7FFF if result == "F16" else 0x7FFFFFFF) if np.isnan(value) else bits(value, result)
    top = max(exponent(addend, result), *(exponent(x, kind) + exponent(y, kind) for x, y in zip(xs, ys, strict=True)))
    last = Fraction(2) ** (top - PLACES)
    exact = (Fraction(addend), *(Fraction(x) * Fraction(y) for x, y in zip(xs, ys, strict=True)))
    total = last * sum(math.trunc(term / last) for term in exact)
    if result == "F32" and total:
        last = Fraction(2) ** max(exponent(total, result) - 23, -149)
        total = last * math.trunc(total / last)
    return bits(float(total), result)


def bits(value: float, result: str) -> int:
    with np.errstate(over="ignore"):
        return int(np.float16(value).view(np.uint16) if result == "F16" else np.float32(value).view(np.uint32))


def drawn(rng: np.random.Generator, count: int, kind: str, exponents: tuple[int, int]) -> Words:
    """Random digits, exponents between these two, and some zeros."""
    digits, signs = rng.integers(0, 1 << 23, (2, count)), rng.integers(0, 2, (2, count)) << 31
    words = digits | signs | rng.integers(*exponents, (2, count), endpoint=True) << 23
    words = np.where(rng.random((2, count)) < 0.1, signs, words).astype(np.uint32)
    if kind == "F16":
        with np.errstate(over="ignore", invalid="ignore"):
            return np.ascontiguousarray(words.view(np.float32).astype(np.float16).T).view(np.uint32).ravel()
    return words[0] >> 16 | words[1] & 0xFFFF0000 if kind == "BF16" else words[0]


def expected(a: Words, b: Words, c: Words, kind: str, result: str) -> list[int]:
    """The words of a warp's results, from its lanes' registers (isa/_fragments.py)."""
    words = []
    for lane in range(32):
        addends = [x for word in c[lane] for x in elements(word, result)]
        found = []
        for half in range(2):
            xs = [x for word in a.T[half::2] for s in range(4) for x in elements(word[lane // 4 * 4 + s], kind)]
            for side in range(2):
                first = (lane % 4 * 2 + side) * 4
                ys = [y for word in b.T for s in range(4) for y in elements(word[first + s], kind)]
                found.append(summed(xs, ys, addends[2 * half + side], kind, result))
        words += found if result == "F32" else [found[k] | found[k + 1] << 16 for k in (0, 2)]
    return words


@pytest.mark.parametrize("name", KINDS)
def test_sums_are_exact_to_their_last_place(name: str) -> None:
    form, (kind, result) = FORMS[name], KINDS[name]
    rng = np.random.default_rng(90)
    choices = [(x, y) for x in EXPONENTS for y in ("usual", "all")] + [("usual", "tiny"), ("usual", "huge")]
    counts = [32 * count for count in form.registers]
    warps = []
    for factors, addend in choices:
        ranges = (EXPONENTS[factors], EXPONENTS[factors], EXPONENTS[addend])
        warps.append([drawn(rng, n, k, r) for n, k, r in zip(counts, (kind, kind, result), ranges, strict=True)])
    usual = [drawn(rng, n, k, EXPONENTS["usual"]) for n, k in zip(counts, (kind, kind, result), strict=True)]
    for place in range(3):  # one infinity among usual numbers
        warps.append([part.copy() for part in usual])
        warps[-1][place][7] = INFINITY[kind if place < 2 else result]
    warps.append([warps[-3][0], np.zeros_like(usual[1]), usual[2]])  # times nothing but zeros
    warps.append([np.full_like(part, FULL[k]) for part, k in zip(usual, (kind, kind, result), strict=True)])
    a, b, c = (np.stack(part).reshape(len(warps), 32, -1) for part in zip(*warps, strict=True))
    got = np.zeros(c.shape, np.uint32)
    written(form.source, "product").launch(len(warps), 32, a, b, c, got, np.zeros((len(warps), 32), np.uint32))
    wanted = [expected(*warp, kind, result) for warp in zip(a, b, c, strict=True)]
    same(got.reshape(len(warps), -1), np.array(wanted, np.uint32))

"""Products on tensor cores beside the same in whole numbers, term after term: of usual numbers, which the executor sums
quickly (isa/numerics/float_products.py), of others, and of warps that have both."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from helpers.kernel_launches import same, written
from helpers.tensor_launches import BYTE_FORMS, FORMS

Words = NDArray[np.uint32]
PLACES = 25
LEAST = {"F16": -14, "BF16": -126, "TF32": -126, "F32": -126, "E4M3": -6, "E5M2": -14}  # exponents
NONE = -1000  # of zero
KINDS = {  # factors, results
    "m16n8k16_f32": ("F16", "F32"), "m16n8k16_f16": ("F16", "F16"), "bf16k16": ("BF16", "F32"),
    "tf32k8": ("TF32", "F32"), "m16n8k8_f32": ("F16", "F32"),
}  # fmt: skip
BYTE_KINDS = {  # of A, of B, results
    "e4m3_e4m3": ("E4M3", "E4M3", "F32"), "e4m3_e5m2": ("E4M3", "E5M2", "F32"), "e5m2_e4m3": ("E5M2", "E4M3", "F32"),
    "e5m2_e5m2": ("E5M2", "E5M2", "F32"), "e4m3k16": ("E4M3", "E4M3", "F32"), "e5m2k16": ("E5M2", "E5M2", "F32"),
    "e4m3_f16": ("E4M3", "E4M3", "F16"), "e5m2k16_f16": ("E5M2", "E5M2", "F16"),
}  # fmt: skip
WHOLE = {"E4M3": (0x38, 0x40, 0x44), "E5M2": (0x3C, 0x40, 0x42)}  # 1, 2, 3
EXPONENTS = {  # of the floats that are drawn, biased
    "usual": (110, 140), "far apart": (60, 190), "tiny": (1, 40), "huge": (215, 254), "all": (0, 255),
}  # fmt: skip
INFINITY = {"F16": 0x7C00, "BF16": 0x7F80, "TF32": 0x7F800000, "F32": 0x7F800000}
FULL = {"F16": 0x3FFF3FFF, "BF16": 0x3FFF3FFF, "TF32": 0x3FFFFFFF, "F32": 0x40FFFFFF}  # digits of ones only


def elements(word: int, kind: str) -> list[float]:
    """The numbers in a word."""
    if kind == "F16":
        return [float(x) for x in np.array([word], np.uint32).view(np.float16)]
    if kind in ("E4M3", "E5M2"):
        return [byte_float(word >> shift & 0xFF, kind) for shift in (0, 8, 16, 24)]
    words = {"BF16": [word << 16 & 0xFFFF0000, word & 0xFFFF0000], "TF32": [word & 0xFFFFE000], "F32": [word]}[kind]
    return [float(x) for x in np.array(words, np.uint32).view(np.float32)]


def byte_float(byte: int, kind: str) -> float:
    """Of an E4M3, all ones is NaN, and there is no infinity."""
    if kind == "E5M2":
        return float(np.array([byte << 8], np.uint16).view(np.float16)[0])
    if byte & 0x7F == 0x7F:
        return math.nan
    power, digits = int(byte) >> 3 & 15, int(byte) & 7
    size = math.ldexp(digits + (8 if power else 0), max(power, 1) - 10)
    return -size if byte & 0x80 else size


def exponent(x: float, kind: str) -> int:
    return max(math.frexp(x)[1] - 1, LEAST[kind]) if x else NONE


def summed(xs: Sequence[float], ys: Sequence[float], addend: float, kinds: tuple[str, str], result: str) -> int:
    """The bits of a result.  A double holds every product and every sum exactly."""
    if not all(map(math.isfinite, (*xs, *ys, addend))):
        with np.errstate(invalid="ignore"):
            value = np.float64(addend) + sum(np.float64(x) * y for x, y in zip(xs, ys, strict=True))
        return (0x7FFF if result == "F16" else 0x7FFFFFFF) if np.isnan(value) else bits(value, result)
    pairs = list(zip(xs, ys, strict=True))
    last = max(exponent(addend, result), *(exponent(x, kinds[0]) + exponent(y, kinds[1]) for x, y in pairs)) - PLACES
    total = sum(math.trunc(math.ldexp(term, -last)) for term in (addend, *(x * y for x, y in pairs)))
    value = math.ldexp(total, last)
    if result == "F32" and value:
        last = max(exponent(value, result) - 23, -149)
        value = math.ldexp(math.trunc(math.ldexp(value, -last)), last)
    return bits(value, result)


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


def expected(a: Words, b: Words, c: Words, kinds: tuple[str, str], result: str) -> list[int]:
    """The words of a warp's results, from its lanes' registers (isa/numerics/fragments.py)."""
    rows = {
        (group, half): [x for word in a.T[half::2] for s in range(4) for x in elements(word[4 * group + s], kinds[0])]
        for group in range(8)
        for half in range(2)
    }
    columns = [[y for word in b.T for s in range(4) for y in elements(word[4 * n + s], kinds[1])] for n in range(8)]
    words = []
    for lane in range(32):
        addends = [x for word in c[lane] for x in elements(word, result)]
        found = [
            summed(rows[lane // 4, half], columns[lane % 4 * 2 + side], addends[2 * half + side], kinds, result)
            for half in range(2)
            for side in range(2)
        ]
        words += found if result == "F32" else [found[k] | found[k + 1] << 16 for k in (0, 2)]
    return words


@pytest.mark.every(2)
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
    none = np.zeros((len(warps), 32), np.uint32)
    written(form.source, "product").launch(len(warps), 32, a, b, c.view("V4"), got.view("V4"), none)
    wanted = [expected(*warp, (kind, kind), result) for warp in zip(a, b, c, strict=True)]
    same(got.reshape(len(warps), -1), np.array(wanted, np.uint32))


@pytest.mark.every(22)
@pytest.mark.parametrize("target", ["sm_89", "sm_120"])
@pytest.mark.parametrize("name", BYTE_FORMS)
def test_sums_of_byte_floats(name: str, target: str) -> None:
    """All bytes, beside addends of all sizes: NaN and infinities in the first warps only, denormals in all."""
    form, (x, y, result) = BYTE_FORMS[name], BYTE_KINDS[name]
    rng = np.random.default_rng(91)
    product = written(form.source, "product", target)
    assert any(i.base == "QMMA" for i in product.program.instructions)
    warps = []
    for number, addend in enumerate(["usual", "usual", "all", "usual", "far apart", "usual"]):
        bytes_ = [rng.integers(0, 256, 128 * n, dtype=np.uint8) for n in form.registers[:2]]
        for part, kind in zip(bytes_, (x, y), strict=True):
            top = 0x7F if kind == "E4M3" else 0x7C
            part[(part & top == top) & ((number > 1) | (rng.random(part.size) < 0.9))] = 0x81
        words = [part.view(np.uint32).reshape(32, -1) for part in bytes_]
        warps.append((*words, drawn(rng, 32 * form.registers[2], result, EXPONENTS[addend]).reshape(32, -1)))
    a, b, c = (np.stack(part) for part in zip(*warps, strict=True))
    got = np.zeros(c.shape, np.uint32)
    product.launch(len(warps), 32, a, b, c.view("V4"), got.view("V4"), np.zeros((len(warps), 32), np.uint32))
    wanted = [expected(*warp, (x, y), result) for warp in zip(a, b, c, strict=True)]
    same(got.reshape(len(warps), -1), np.array(wanted, np.uint32))


@pytest.mark.every(16)  # two targets; QMMA is also in the test above
@pytest.mark.parametrize("target", ["sm_89", "sm_90", "sm_100", "sm_120"])
@pytest.mark.parametrize("name", BYTE_FORMS)
def test_whole_numbers_in_byte_floats(name: str, target: str) -> None:
    """Small ones are exact however they are summed: the same from QMMA and from HMMA of halves."""
    form, kinds = BYTE_FORMS[name], BYTE_KINDS[name]
    rng = np.random.default_rng(92)
    signed = [np.array([0, *WHOLE[k], *(0x80 | w for w in WHOLE[k])], np.uint8) for k in kinds[:2]]
    counts = [128 * n for n in form.registers[:2]]
    a, b = (rng.choice(s, n).view(np.uint32).reshape(32, -1) for s, n in zip(signed, counts, strict=True))
    c, none = np.zeros((32, form.registers[2]), np.uint32), np.zeros(32, np.uint32)
    wanted = np.array(expected(a, b, c, kinds[:2], kinds[2]), np.uint32)
    got = np.zeros_like(c)
    written(form.source, "product", target).launch(1, 32, a, b, c.view("V4"), got.view("V4"), none)
    same(got.ravel(), wanted)

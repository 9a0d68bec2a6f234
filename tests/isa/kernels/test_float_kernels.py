"""Floating arithmetic, bit for bit where no special function takes part, else within the documented error."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from helpers.exact_floats import DOUBLE, SINGLE, add, fma, mul
from helpers.kernel_launches import alike, awkward_floats, fractions, kernel, on_host, same


def exactly(function: Any, kind: Any, rounding: str, *operands: NDArray[Any]) -> NDArray[Any]:
    """An operation of exact.py on arrays of floats."""
    fmt, word = (SINGLE, np.uint32) if kind is np.float32 else (DOUBLE, np.uint64)
    columns = (operand.view(word).tolist() for operand in operands)
    return np.array([function(fmt, *row, rounding) for row in zip(*columns, strict=True)], word).view(kind)


def rows(o: NDArray[Any], n: int) -> list[NDArray[Any]]:
    return list(o.reshape(-1, n))


@pytest.mark.every(7)
@pytest.mark.parametrize("fused", [True, False])
def test_f32(arch: str, fused: bool) -> None:
    """The divisor of __fdividef is a power of two, of which the approximate reciprocal is exact."""
    n, rng = 200, np.random.default_rng(1)
    a = awkward_floats(rng, 3 * n)
    a[n : 2 * n] = np.exp2(rng.integers(-60, 60, n)) * rng.choice([-1, 1], n)
    x, y, z = rows(a, n)
    directed = np.concatenate([
        exactly(add, np.float32, "RZ", x, y), exactly(mul, np.float32, "RP", x, z),
        exactly(fma, np.float32, "RM", x, y, z),
    ])  # fmt: skip
    o, want = np.full(9 * n + 3, 7, np.float32), np.full(9 * n + 3, 7, np.float32)
    kernel("k03_float_arith.cu", "f32", arch, *(() if fused else ("--fmad=false",))).launch(5, 48, a, o, n)
    on_host("f32", a, directed, want, n, int(fused))
    for k, (got, expected) in enumerate(zip(rows(o[:-3], n), rows(want[:-3], n), strict=True)):
        np.testing.assert_array_equal(got, expected, err_msg=f"expression {k}")
    alike(o, want)


def test_saxpy(arch: str) -> None:
    n, rng = 300, np.random.default_rng(2)
    x, y = awkward_floats(rng, n), awkward_floats(rng, n)
    want = np.zeros_like(y)
    on_host("multiply_add", np.full(n, 1.7, np.float32), x, y, want, n)
    kernel("k03_float_arith.cu", "saxpy", arch).launch(10, 32, np.float32(1.7), x, y, n)
    alike(y, want)


def test_f64(arch: str) -> None:
    n, rng = 160, np.random.default_rng(3)
    a = awkward_floats(rng, 3 * n, np.float64)
    a[: n // 2] = (rng.random(n // 2) - 0.5) * 2.0 ** rng.integers(-2, 40, n // 2)
    a[n : n + n // 2] = (rng.random(n // 2) - 0.5) * 2.0 ** rng.integers(-2, 40, n // 2)
    a[2 * n : 2 * n + 9] = a[n : n + 9]
    o = np.zeros(20 * n)
    kernel("k05_double_arith.cu", "f64", arch).launch(4, 48, a, o, n)
    got, (x, y, z) = rows(o, n), rows(a, n)
    with np.errstate(all="ignore"):
        want = {
            0: x + y, 1: x * y, 2: exactly(fma, np.float64, "RN", x, y, z), 3: x / y, 4: np.sqrt(x),
            5: np.fmin(x, y), 6: np.fmax(x, y), 7: np.where(x < y, x, z), 8: 1 / x, 10: np.floor(x),
            11: x.astype(np.float32).astype(np.float64), 15: -np.abs(x), 16: np.rint(y),
            17: ((x == y) | (y >= z)).astype(np.float64), 18: exactly(mul, np.float64, "RZ", x, y),
            12: whole(y, np.int32), 13: whole(z, np.int64), 14: whole(x, np.uint32), 19: whole(x, np.uint64),
        }  # fmt: skip
        near = 1 / np.sqrt(x)
    for k, expected in want.items():
        known = ~np.isnan(expected) if k in (12, 13, 14, 19) else np.full(n, True)  # NaN is no whole number
        zeros = (got[k] == 0) & (expected == 0) if k in (5, 6) else np.full(n, False)  # of either sign
        alike(np.where(known & ~zeros, got[k], 0), np.where(known & ~zeros, expected, 0))
    plain = np.isfinite(x) & (x > 0)
    assert (np.abs(got[9][plain] / near[plain] - 1) <= 2.0**-51).all()


def whole(x: NDArray[Any], kind: Any) -> NDArray[Any]:
    """Towards zero, the nearest end of the type's range beyond it, as a double again; NaN stays."""
    info = np.iinfo(kind)
    inside = (x > float(info.min) - 1) & (x < float(info.max))
    cut = np.where(inside, np.trunc(x), np.where(x < 0, float(info.min), float(info.max)))
    return np.where(np.isnan(x), np.nan, cut + 0.0)


def units(got: NDArray[Any], exact: NDArray[Any]) -> NDArray[Any]:
    """The error in units of the last place of the result's type."""
    with np.errstate(all="ignore"):
        nearest = exact.astype(got.dtype)
        error = np.abs(got.astype(exact.dtype) - exact) / np.spacing(np.abs(nearest)).astype(exact.dtype)
    return np.where((got == nearest) | (np.isnan(got) & np.isnan(nearest)), 0, error)


@pytest.mark.long
def test_fmath(arch: str) -> None:
    """The errors are those of the CUDA C++ Programming Guide, Mathematical Functions."""
    n, rng = 256, np.random.default_rng(4)
    a = fractions(rng, 2 * n)
    a[:n] = np.abs(a[:n])  # where square roots and logarithms are
    a[:64] = (rng.random(64) * 200 - 100).astype(np.float32)
    a[64:96] = np.float32(2.0) ** rng.integers(10, 100, 32)  # large angles
    a[96:104] = 0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 0.5
    o = np.zeros(21 * n, np.float32)
    kernel("k04_float_math.cu", "fmath", arch).launch(3, 96, a, o, n)
    x, y = rows(a.astype(np.longdouble), n)
    single = rows(a, n)[0]
    from math import erf

    with np.errstate(all="ignore"):
        exact = [
            (np.sqrt(x), 0), (1 / np.sqrt(x), 2), (1 / x, 0), (np.exp(x), 2), (np.exp2(x), 2), (np.log(x), 1),
            (np.log2(x), 1), (np.sin(x), 2), (np.cos(x), 2), (np.tan(x), 4), (x**y, 4), (np.tanh(x), 2),
            (np.cbrt(x), 1), (np.array([erf(v) for v in single.tolist()], np.longdouble), 2),
            (np.floor(x), 0), (np.ceil(x), 0), (np.copysign(np.floor(np.abs(x) + 0.5), x), 0), (np.trunc(x), 0),
            (np.rint(x), 0), (np.arctan2(x, y), 3), (np.hypot(x, y), 3),
        ]  # fmt: skip
    for k, (got, (want, most)) in enumerate(zip(rows(o, n), exact, strict=True)):
        wrong = ~(units(got, want) <= most + 0.5)
        assert not wrong.any(), (k, single[wrong][:5], got[wrong][:5], want[wrong][:5], units(got, want)[wrong][:5])


def test_ffast(arch: str) -> None:
    """The errors are those of the CUDA C++ Programming Guide, Intrinsic Functions, and of the PTX ISA."""
    n = 128
    a = (np.random.default_rng(5).random(n) * 3).astype(np.float32) + np.float32(0.01)
    o = np.zeros(13 * n, np.float32)
    kernel("k04_float_math.cu", "ffast", arch).launch(1, n, a, o, n)
    x = a.astype(np.float64)
    got = [row.astype(np.float64) for row in rows(o, n)]
    middle = (x >= 0.5) & (x <= 2)
    for k, want, most in (
        (0, np.sin(x), 2**-21.41), (1, np.cos(x), 2**-21.19), (3, np.log(x), np.where(middle, 2**-21.41, 1e-6)),
        (8, np.log2(x), np.where(middle, 2.0**-22, 1e-6)),
    ):  # fmt: skip
        assert (np.abs(got[k] - want) <= most).all(), k
    ulp = 2.0**-23
    for k, want, most in (
        (2, np.exp(x), (2 + np.floor(1.173 * x)) * ulp), (4, x**2.5, 2.0**-18),
        (7, 10**x, (2 + np.floor(2.97 * x)) * ulp),
        (9, np.tanh(x), 2.0**-10.987), (10, np.exp2(x), 2.0**-22), (11, np.sqrt(x), 2.0**-22), (12, 1 / x, ulp),
    ):  # fmt: skip
        assert (np.abs(got[k] / want - 1) <= most).all(), k
    same(rows(o, n)[5], np.sqrt(a))
    same(rows(o, n)[6], (1 / np.sqrt(x)).astype(np.float32))


def test_f64m(arch: str) -> None:
    n = 96
    a = np.random.default_rng(6).random(n) * 40 + 1e-3
    a[:9] = 0.5, 1, 2, 700, 1e-300, 1e300, 1e5, 1e17, 3
    o = np.zeros(4 * n)
    kernel("k05_double_arith.cu", "f64m", arch).launch(1, n, a, o, n)
    x = a.astype(np.longdouble)
    with np.errstate(over="ignore"):
        exact = ((np.exp(x), 1), (np.log(x), 1), (np.sin(x), 2), (x ** np.longdouble(1.5), 2))
        for k, (got, (want, most)) in enumerate(zip(rows(o, n), exact, strict=True)):
            wrong = ~(units(got, want) <= most + 0.5)
            assert not wrong.any(), (k, a[wrong][:5], got[wrong][:5], want[wrong][:5])


def test_uf(arch: str) -> None:
    for a, b, n in ((0.75, 1.3, 9), (1.5, -0.2, 0), (2.0, 0.1, 20)):
        o = np.zeros(40, np.float32)
        kernel("k35_uniform.cu", "uf", arch).launch(1, 40, o, np.float32(a), np.float32(b), n)
        x, y, c = np.array([a], np.float32), np.array([b], np.float32), np.zeros(1, np.float32)
        on_host("multiply_add", x, y, np.ones(1, np.float32), c, 1)
        for _ in range(n):
            on_host("multiply_add", c.copy(), x, y, c, 1)
        step = c + np.maximum(x, y)
        step = step + np.float32(n)
        same(o, np.repeat(step + np.where(x < y, np.float32(1), np.float32(2)), 40))


def test_uni(arch: str) -> None:
    n, m, rng = 13, 30, np.random.default_rng(7)
    a, o = fractions(rng, n * m + 40), np.zeros(3 * 40, np.float32)
    scale, want = np.array([1.3], np.float32), np.zeros(3, np.float32)
    kernel("k35_uniform.cu", "uni", arch).launch(3, 40, a, o, n, m, scale[0])
    on_host("uni", a, want, n, m, scale, 3)
    same(o, np.repeat(want, 40))

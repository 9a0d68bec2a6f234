"""Half and bfloat16, alone and in pairs: every result rounded once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from helpers.exact_floats import BFLOAT, HALF, Format, add, fma, mul
from helpers.kernel_launches import alike, awkward_floats, fractions, kernel, same

HALVES, BFLOATS = "k06_half.cu", "k07_bf16.cu"


def halves(rng: np.random.Generator, *shape: int) -> NDArray[Any]:
    """Mostly of middling size, with the awkward ones among them."""
    count = int(np.prod(shape))
    middling = (rng.random(count) * 16 - 8).astype(np.float16)
    return np.where(rng.random(count) < 0.5, middling, awkward_floats(rng, count, np.float16)).reshape(shape)


def exactly(fmt: Format, function: Any, *operands: NDArray[Any]) -> NDArray[Any]:
    """An operation of exact.py on arrays of 16-bit floats, given and taken as their bits."""
    words = [operand.view(np.uint16).reshape(-1).tolist() for operand in operands]
    found = [function(fmt, *row) for row in zip(*words, strict=True)]
    return np.array(found, np.uint16).reshape(operands[0].shape)


def rounded(values: NDArray[Any]) -> NDArray[Any]:
    with np.errstate(all="ignore"):
        return values.astype(np.float16)


def unsigned_zero(values: NDArray[Any]) -> NDArray[Any]:
    """Of a maximum of +0 and -0 either may come out on the host."""
    return np.where(values == 0, np.float16(0), values)


def test_h16(arch: str) -> None:
    n, rng = 160, np.random.default_rng(1)
    a, f = halves(rng, 3 * n), np.zeros(3 * n, np.float32)
    f[n:] = fractions(rng, 2 * n)
    source = f.copy()
    o = np.zeros(13 * n, np.float16)
    kernel(HALVES, "h16", arch).launch(4, 48, a, o, f, n)
    x, y, z = a.reshape(3, n)
    got = o.reshape(13, n)
    wide_x, wide_y = x.astype(np.float64), y.astype(np.float64)
    with np.errstate(all="ignore"):
        fused = exactly(HALF, fma, x, y, z).view(np.float16)
        want = {
            0: x + y, 1: x * y, 2: fused, 3: rounded(wide_x / wide_y), 6: rounded(np.exp(wide_x)), 7: np.sqrt(x),
            8: np.where(x < y, x, z), 9: -x, 10: np.abs(y), 11: rounded(source[n : 2 * n]),
            12: np.full(n, n, np.float16),
        }  # fmt: skip
        for k, expected in want.items():
            alike(got[k], expected)
        for k, expected in ((4, np.fmax(x, y)), (5, np.fmin(x, y))):
            alike(unsigned_zero(got[k]), unsigned_zero(expected))
    alike(f[:n], x.astype(np.float32))
    finite = np.isfinite(wide_y)
    same(f[2 * n :][finite], np.trunc(wide_y[finite]).astype(np.float32) + np.float32(0))


def test_h2(arch: str) -> None:
    n, threads, rng = 70, 64, np.random.default_rng(2)
    a, f = halves(rng, 3 * n, 2), np.zeros((2 * n, 2), np.float32)
    a[5], a[n + 5] = 2, 2  # equal in both halves
    f[n:] = fractions(rng, n, 2)
    source = f.copy()
    o = np.zeros((13 * n, 2), np.float16)
    kernel(HALVES, "h2", arch).launch(1, threads, a, o, f, n)
    x, y, z = (v[:threads] for v in a.reshape(3, n, 2))
    got = o.reshape(13, n, 2)[:, :threads]
    with np.errstate(all="ignore"):
        fused = exactly(HALF, fma, x, y, z).view(np.float16)
        total = x + y
        want = {
            0: total, 1: x * y, 2: fused, 3: np.where(fused <= 0, np.float16(0), fused),
            5: (x < y).astype(np.float16), 6: np.where(np.isnan(total), np.float16(0), np.clip(total, 0, 1)),
            7: rounded(source[n : n + threads]), 8: x[:, ::-1], 9: x - y[:, :1],
            11: rounded(np.exp2(y.astype(np.float64))),
            12: np.where((x == y).all(1, keepdims=True), x, y),
        }  # fmt: skip
        for k, expected in want.items():
            if k in (3, 6):
                alike(unsigned_zero(got[k]), unsigned_zero(expected))
            else:
                alike(got[k], expected)
        alike(unsigned_zero(got[4]), unsigned_zero(np.fmax(x, y)))
        known = ~np.isnan(x)
        near = np.tanh(x.astype(np.float64))
        assert (np.abs(got[10] - near)[known] <= 2.0**-10.987).all()
    alike(f[:threads], x.astype(np.float32))


def bfloats(rng: np.random.Generator, *shape: int) -> NDArray[Any]:
    """As bits."""
    count = int(np.prod(shape))
    middling = (rng.random(count) * 16 - 8).astype(np.float32)
    values = np.where(rng.random(count) < 0.5, middling, awkward_floats(rng, count))
    return (values.view(np.uint32) >> 16).astype(np.uint16).reshape(shape)


def single(bits: NDArray[Any]) -> NDArray[Any]:
    return (bits.astype(np.uint32) << 16).view(np.float32)


def narrowed(values: NDArray[Any]) -> NDArray[Any]:
    """Singles or doubles as the nearest bfloat16, in bits."""
    from fractions import Fraction

    def one(v: float) -> int:
        if np.isnan(v):
            return BFLOAT.nan
        if np.isinf(v):
            return BFLOAT.infinity | (v < 0) << 15
        return BFLOAT.rounded(Fraction(v), "RN", bool(np.signbit(v)))

    return np.array([one(float(v)) for v in values.reshape(-1)], np.uint16).reshape(values.shape)


def alike_bfloats(got: NDArray[Any], want: NDArray[Any], zeros: bool = False) -> None:
    a, b = single(got), single(want)
    if zeros:
        a, b = (np.where(v == 0, np.float32(0), v) for v in (a, b))
    alike(a, b)


@pytest.mark.since("sm_80")
def test_b16(arch: str) -> None:
    n, rng = 160, np.random.default_rng(3)
    a, f = bfloats(rng, 3 * n), np.zeros(2 * n, np.float32)
    f[n:] = fractions(rng, n)
    source = f.copy()
    o = np.zeros(9 * n, np.uint16)
    kernel(BFLOATS, "b16", arch).launch(4, 48, a, o, f, n)
    x, y, z = a.reshape(3, n)
    got, less = o.reshape(9, n), single(x) < single(y)
    with np.errstate(all="ignore"):
        power = narrowed(np.exp2(single(y).astype(np.float64)))
        for k, expected in {
            0: exactly(BFLOAT, add, x, y), 1: exactly(BFLOAT, mul, x, y), 2: exactly(BFLOAT, fma, x, y, z),
            4: np.where(less, x, z), 5: narrowed(source[n:]), 6: x ^ np.uint16(0x8000),
            7: narrowed(np.full(n, n, np.float32)), 8: power,
        }.items():  # fmt: skip
            alike_bfloats(got[k], expected)
        most = (np.fmax(single(x), single(y)).view(np.uint32) >> 16).astype(np.uint16)
    alike_bfloats(got[3], most, zeros=True)
    alike(f[:n], single(x))


@pytest.mark.since("sm_80")
def test_b2(arch: str) -> None:
    n, threads, rng = 70, 64, np.random.default_rng(4)
    a, f = bfloats(rng, 3 * n, 2), np.zeros((2 * n, 2), np.float32)
    f[n:] = fractions(rng, n, 2)
    source = f.copy()
    o = np.zeros((6 * n, 2), np.uint16)
    kernel(BFLOATS, "b2", arch).launch(1, threads, a, o, f, n)
    x, y, z = (v[:threads] for v in a.reshape(3, n, 2))
    got = o.reshape(6, n, 2)[:, :threads]
    fused = exactly(BFLOAT, fma, x, y, z)
    positive = np.where(single(fused) <= 0, np.uint16(0), fused)
    least = (np.fmin(single(x), single(y)).view(np.uint32) >> 16).astype(np.uint16)
    for k, expected in {
        0: exactly(BFLOAT, add, x, y), 1: exactly(BFLOAT, mul, x, y), 2: fused, 3: least,
        4: narrowed(source[n : n + threads]), 5: positive,
    }.items():  # fmt: skip
        alike_bfloats(got[k], expected, zeros=k in (3, 5))
    alike(f[:threads], single(x))

"""Numbers from one type to another, in every direction."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from helpers.exact_floats import DOUBLE, SINGLE, add, convert, fma, mul
from helpers.kernel_launches import alike, awkward_floats, awkward_integers, kernel, same


def saturated(x: NDArray[Any], kind: Any) -> NDArray[Any]:
    """A whole float as an integer, the nearest end of the type's range beyond it; 0 for NaN."""
    info = np.iinfo(kind)
    inside = (x >= float(info.min)) & (x < float(info.max) + (info.bits < 54))
    ends = np.where(x < 0, info.min, info.max).astype(kind)
    return np.where(np.isnan(x), kind(0), np.where(inside, np.where(inside, x, 0).astype(kind), ends))


def test_cv(arch: str) -> None:
    n, rng = 96, np.random.default_rng(1)
    c, uc, s, us, a, b, q, uq = (
        awkward_integers(rng, 5 * n, kind)
        for kind in (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64)
    )
    f, d = awkward_floats(rng, n), awkward_floats(rng, 4 * n, np.float64)
    f[: n // 2] = (rng.random(n // 2) * 600 - 300).astype(np.float32)
    d[::3] = rng.random(d[::3].size) * 2.0**40 - 2.0**39
    sizes = ((np.float32, 12), (np.int32, 9), (np.uint32, 4), (np.int64, 4), (np.float64, 5), (np.int16, 3),
             (np.uint8, 2), (np.uint64, 3))  # fmt: skip
    outputs = [np.zeros(rows * n, kind) for kind, rows in sizes]
    with np.errstate(all="ignore"):
        kernel("k08_convert.cu", "cv", arch).launch(2, 48, c, uc, s, us, a, b, f, d, q, uq, *outputs, n)
        of, oi, ou, ol, od, os, ob, oul = (o.reshape(-1, n) for o in outputs)
        single, double = np.float32, np.float64
        cut = np.array([SINGLE.rounded(Fraction(int(v)), "RZ") for v in a[1 : n + 1]], np.uint32).view(single)
        up = np.array([convert(DOUBLE, SINGLE, int(v), "RP") for v in d[3 * n :].view(np.uint64)], np.uint32)
        for got, want in (
            *zip(of[:6], (v[:n].astype(single) for v in (c, uc, s, us, a, b)), strict=True),
            (of[6], d[:n].astype(single)), (of[7], q[:n].astype(single)), (of[8], uq[:n].astype(single)), (of[9], cut),
            (of[10], a[2 : n + 2].view(single)), (of[11], up.view(single)), (od[0], f.astype(double)),
            (od[1], a[:n].astype(double)), (od[2], b[:n].astype(double)), (od[3], q[:n].astype(double)),
            (od[4], uq[:n].astype(double)),
        ):  # fmt: skip
            alike(got, want)
        trunc, rint, i = np.trunc, np.rint, np.arange(n)
        for got, want in (
            (oi[0], saturated(trunc(f), np.int32)), (oi[1], saturated(rint(f), np.int32)),
            (oi[2], saturated(np.ceil(f), np.int32)), (oi[3], saturated(np.floor(f), np.int32)),
            (oi[5], a[i + 3 * n].astype(np.int8).astype(np.int32)), (oi[6], s[:n] * np.int32(3)),
            (oi[7], saturated(rint(f), np.int64).astype(np.int32)), (oi[8], q[i + 4 * n].astype(np.int32)),
            (ou[0], saturated(trunc(f), np.uint32)), (ou[1], f.view(np.uint32)),
            (ou[3], (d[:n].view(np.uint64) >> np.uint64(32)).astype(np.uint32)), (ol[1], c[i + n].astype(np.int64)),
            (ol[2], a[i + n].astype(np.int64)), (oul[1], b[i + n].astype(np.uint64)),
            (os[1], a[:n].astype(np.int16)), (ob[1], a[:n].astype(np.uint8)),
        ):  # fmt: skip
            same(got, want)
        # NaN as a whole number is what the instruction makes of it; C says nothing of it, nor of short and char
        # that a float does not fit into.
        for got, source, limit in (
            (oi[4], d[n : 2 * n], None), (ou[2], d[2 * n : 3 * n], None), (ol[0], f, None), (oul[0], f, None),
            (ol[3], d[:n], None), (oul[2], d[n : 2 * n], None), (os[0], f, np.int16), (ob[0], f, np.uint8),
            (os[2], d[:n], np.int16),
        ):  # fmt: skip
            kind = got.dtype.type
            sure = ~np.isnan(source)
            if limit is not None:
                sure &= (trunc(source) >= np.iinfo(limit).min) & (trunc(source) <= np.iinfo(limit).max)
            assert sure.sum() > 8
            same(got[sure], saturated(trunc(source), kind)[sure])


@pytest.mark.since("sm_100")
def test_f2(arch: str) -> None:
    """Packed floats, three-way maxima, loads of 32 bytes."""
    rng = np.random.default_rng(2)
    a, f = awkward_floats(rng, 2 * 512).view(np.uint64), awkward_floats(rng, 66)
    o, g = np.zeros(320, np.uint64), np.zeros(64, np.float32)
    kernel("k37_blackwell.cu", "f2", arch).launch(1, 64, a, o, f, g)
    x, y, z = a[:192].view(np.uint32).reshape(3, 128).tolist()
    singles = o[:192].view(np.float32).reshape(3, 128)
    for got, words in zip(singles, (
        [fma(SINGLE, *row) for row in zip(x, y, z, strict=True)], [add(SINGLE, *row) for row in zip(x, y, strict=True)],
        [mul(SINGLE, *row) for row in zip(x, y, strict=True)],
    ), strict=True):  # fmt: skip
        alike(got, np.array(words, np.uint32).view(np.float32))
    largest = np.fmax(np.fmax(f[:64], f[1:65]), f[2:66])
    alike(np.where(g == 0, np.float32(0), g), np.where(largest == 0, np.float32(0), largest))
    same(o[256:], np.bitwise_xor.reduce(a[:256].reshape(64, 4), 1))


def e4m3(code: int) -> float:
    """Of the 8-bit format with 3 digits and no infinities; 0x7f is NaN."""
    exponent, digits = code >> 3 & 15, code & 7
    size = (digits / 8 + 1) * 2.0 ** (exponent - 7) if exponent else digits / 8 * 2.0**-6
    return -size if code & 0x80 else size


def nearest_e4m3(value: float) -> int:
    """To even where two are as near, 448 beyond it."""
    if np.isnan(value):
        return 0x7F
    size = min(abs(value), 448)
    codes = sorted(range(0x7F), key=lambda code: (abs(e4m3(code) - size), code & 1))
    return codes[0] | (0x80 if np.signbit(value) else 0)


def test_fp8(arch: str) -> None:
    rng = np.random.default_rng(3)
    a = awkward_floats(rng, 128).reshape(64, 2)
    a[:40] = (rng.random((40, 2)) * 2 - 1) * np.exp2(rng.integers(-11, 10, (40, 2)))
    a[40, 0], a[41, 1] = 17, 19  # ties
    o, g = np.zeros(64, np.uint16), np.zeros((64, 2), np.float32)
    kernel("k37_blackwell.cu", "fp8", arch).launch(1, 64, a, o, g)
    codes = np.array([[nearest_e4m3(float(v)) for v in pair] for pair in a], np.uint16)
    same(o, codes[:, 0] | codes[:, 1] << 8)
    alike(g, (codes << 8).view(np.float16).astype(np.float32))  # five digits of exponent as in a half

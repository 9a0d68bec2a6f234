"""Kernels as they stand in a thousand repositories: sorting, random numbers, transforms, beginners' idioms."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from helpers.kernel_launches import fractions, kernel, on_host, same

IDIOMS = "k40_idioms.cu"


def xorshift(s: NDArray[np.uint32]) -> NDArray[np.uint32]:
    s = s ^ (s << np.uint32(13))
    s = s ^ (s >> np.uint32(17))
    return s ^ (s << np.uint32(5))


def test_pi(arch: str) -> None:
    n, threads, o = 25, 96, np.array([5], np.uint32)
    kernel("k32_rng_crypto.cu", "pi", arch).launch(3, 32, o, n, np.uint32(12345))
    s = np.uint32(12345) ^ (np.arange(threads, dtype=np.uint64) * 2654435761).astype(np.uint32)
    count = 5
    for _ in range(n):
        s = xorshift(s)
        x = s.astype(np.float32) * np.float32(2.3283064e-10)
        s = xorshift(s)
        y = s.astype(np.float32) * np.float32(2.3283064e-10)
        radius = np.zeros(threads, np.float32)
        on_host("multiply_add", x, x, y * y, radius, threads)
        count += int((radius < 1).sum())
    assert o[0] == count


def test_philox(arch: str) -> None:
    o, key, mask = np.zeros((75, 4), np.uint32), np.array([7, 0xFFFFFFF0], np.uint32), 2**32 - 1
    kernel("k32_rng_crypto.cu", "philox", arch).launch(3, 25, o, key.tobytes(), 0)
    for i in range(75):
        c, k = (i, 0, 0, 0), [7, 0xFFFFFFF0]
        for _ in range(10):
            p, q = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
            c = ((q >> 32) ^ c[1] ^ k[0], q & mask, (p >> 32) ^ c[3] ^ k[1], p & mask)
            k = [(k[0] + 0x9E3779B9) & mask, (k[1] + 0xBB67AE85) & mask]
        assert o[i].tolist() == list(c)


@pytest.mark.every(2)
@pytest.mark.parametrize("n", [2, 64, 256])
def test_bitonic(arch: str, n: int) -> None:
    a = np.random.default_rng(n).integers(-99, 99, (3, n), dtype=np.int32)
    want = np.sort(a, 1)
    kernel("k33_sort.cu", "bitonic", arch).launch(3, n, a, n, shared=4 * n)
    same(a, want)


def test_radix(arch: str) -> None:
    a = np.random.default_rng(1).integers(0, 2**32, 96, dtype=np.uint32)
    for bit in (0, 31):
        o = np.zeros(96, np.uint32)
        kernel("k33_sort.cu", "radix", arch).launch(1, 96, a, o, bit)
        for warp in range(3):
            v = a[32 * warp : 32 * warp + 32]
            same(o[32 * warp : 32 * warp + 32], v[np.argsort(v >> np.uint32(bit) & np.uint32(1), kind="stable")])


def test_bsearch(arch: str) -> None:
    rng = np.random.default_rng(2)
    for n in (1, 777):
        a, q = np.sort(rng.integers(0, 500, n, dtype=np.int32)), rng.integers(-9, 520, 96, dtype=np.int32)
        o = np.zeros(96, np.int32)
        kernel("k33_sort.cu", "bsearch", arch).launch(3, 32, a, n, q, o)
        same(o, np.searchsorted(a, q, "left").astype(np.int32))


@pytest.mark.every(2)
@pytest.mark.parametrize(("lg", "threads"), [(1, 32), (5, 40), (9, 96)])
def test_fft(arch: str, lg: int, threads: int) -> None:
    n, rng = 1 << lg, np.random.default_rng(lg)
    a = (rng.random((n, 2)) - 0.5).astype(np.float32)
    want = np.fft.fft(a[:, 0].astype(np.complex128) + 1j * a[:, 1])
    kernel("k34_fft_complex.cu", "fft", arch).launch(1, threads, a, lg, shared=8 * n)
    got = a[:, 0] + 1j * a[:, 1].astype(np.float64)
    # Each of the lg stages rounds a few times; the twiddles' angle, up to 2 pi, is rounded to 2^-22.
    assert (np.abs(got - want) <= lg * 2.0**-21 * np.sqrt(n)).all()


def test_cd(arch: str) -> None:
    a, o = fractions(np.random.default_rng(3), 64, 2).astype(np.float64) / 3, np.zeros((32, 2))
    kernel("k34_fft_complex.cu", "cd", arch, "--fmad=false").launch(1, 32, a, o)
    (xr, xi), (yr, yi) = a[:32].T, a[32:].T
    same(o, np.stack([xr * yr - xi * yi, xr * yi + xi * yr], 1))


def test_pl(arch: str) -> None:
    n, threads = 40, 32
    a = (np.random.default_rng(4).random(8 * n) * 6 - 3).astype(np.float32)
    o = np.zeros(threads, np.int32)
    kernel("k38_predication.cu", "pl", arch).launch(1, threads, a, o, n)
    for i in range(threads):
        p = [bool(a[i + k * n] > np.float32(0.5 * k)) for k in range(8)]
        c = 0
        for r in range(n):
            v = float(a[i + r])
            q = (p[0] and p[1]) or (p[2] and not p[3]) or v < p[4]
            p[5] ^= q
            p[6] = (p[6] and q) or p[7]
            p[7] = not p[7] and v > 1
            p[0] = p[0] or v < -1
            c += q + 2 * p[5]
        assert o[i] == c + sum(bit << k for k, bit in enumerate(p))


@pytest.mark.every(2)
@pytest.mark.parametrize(("w", "h"), [(37, 19), (3, 3), (1, 5)])
def test_life(arch: str, w: int, h: int) -> None:
    a = np.random.default_rng(w).integers(0, 2, (h, w), dtype=np.uint8)
    o = np.zeros_like(a)
    kernel("k38_predication.cu", "life", arch).launch((-(-w // 8), -(-h // 4)), (8, 4), a, o, w, h)
    around = sum(np.roll(a, (y, x), (0, 1)).astype(int) for y in (-1, 0, 1) for x in (-1, 0, 1) if x or y)
    same(o, ((around == 3) | ((around == 2) & (a == 1))).astype(np.uint8))


def test_gs(arch: str) -> None:
    n = 1003
    a, o = fractions(np.random.default_rng(5), n), np.zeros(n, np.float32)
    kernel(IDIOMS, "gs", arch).launch(3, 48, a, o, n)
    same(o, a * np.float32(2))


def test_tr(arch: str) -> None:
    a, o = fractions(np.random.default_rng(6), 64, 96), np.zeros((96, 64), np.float32)
    kernel(IDIOMS, "tr", arch).launch((3, 5), (32, 8), a, o, 96, 64)  # a block's 32 rows begin 8 below the last one's
    same(o, a.T.copy())


def test_aos(arch: str) -> None:
    n, rng = 50, np.random.default_rng(7)
    p = np.zeros(n + 3, [("x", "f4"), ("y", "f4"), ("z", "f4"), ("id", "i4")])
    q = np.zeros(n + 3, np.dtype({"names": ["c", "s", "f"], "formats": ["i1", "i2", "f4"], "offsets": [0, 2, 4]}))
    for name in "xyz":
        p[name] = fractions(rng, n + 3)
    q["c"], q["s"], q["f"] = rng.integers(-128, 127, n + 3), rng.integers(-999, 999, n + 3), fractions(rng, n + 3)
    want_p, want_q, sums = p.copy(), q.copy(), np.zeros(n, np.float32)
    kernel(IDIOMS, "aos", arch).launch(2, 32, p.view(np.uint8), q.view(np.uint8), n)
    on_host("multiply_add", *(want_p[name][:n].copy() for name in "yzx"), sums, n)
    want_p["x"][:n], want_p["id"][:n] = sums, np.arange(n)
    want_q["c"][:n] += 1
    want_q["s"][:n] -= 2
    want_q["f"][:n] *= np.float32(3)
    for got, want in ((p, want_p), (q, want_q)):
        for name in got.dtype.names or ():
            same(got[name].copy(), want[name].copy())


@pytest.mark.parametrize("threads", [1, 32])
def test_mem(arch: str, threads: int) -> None:
    """The string that thread i measures begins at i * n; no byte of b is a length, so that the flag is 0."""
    n, rng = 40, np.random.default_rng(threads)
    b = rng.integers(65, 90, n * 33, dtype=np.uint8)
    ends = np.arange(threads) * n + rng.integers(13, 38, threads)
    b[ends] = 0
    a = np.full(1100 + n * 32, 1, np.uint8)
    want = a.copy()
    kernel(IDIOMS, "mem", arch).launch(1, threads, a, b, n)
    for i in range(threads):
        want[i * n : i * n + 13] = b[i * n : i * n + 13]
    want[1000:1007] = 0
    want[:threads] = ends - np.arange(threads) * n
    want[n] = 0
    same(a, want)


@pytest.mark.parametrize(("w", "h"), [(33, 9), (1, 1)])
def test_gray(arch: str, w: int, h: int) -> None:
    image = np.random.default_rng(w).integers(0, 256, (h, w, 3), dtype=np.uint8)
    o = np.zeros((h, w), np.uint8)
    kernel(IDIOMS, "gray", arch, "--fmad=false").launch((-(-w // 16), -(-h // 2)), (16, 2), image, o, w, h)
    r, g, b = np.moveaxis(image.astype(np.float32), 2, 0)
    same(o, (np.float32(0.299) * r + np.float32(0.587) * g + np.float32(0.114) * b).astype(np.uint8))

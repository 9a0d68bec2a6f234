"""Integer kernels, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.kernel_launches import awkward_integers, kernel, on_host, same


def test_i32(arch: str) -> None:
    n = 1003  # four blocks of 251 hold it; the last warp of each block has 27 lanes
    rng = np.random.default_rng(1)
    a, b = awkward_integers(rng, 2 * n, np.int32), awkward_integers(rng, 2 * n, np.uint32)
    a[n:][a[n:] == 0], b[n:][b[n:] == 0] = 3, 7  # division by zero is undefined
    o, u = np.full(n + 5, -7, np.int32), np.full(n + 5, 9, np.uint32)
    want_o, want_u = o.copy(), u.copy()
    kernel("k01_int32_arith.cu", "i32", arch).launch(5, 251, a, b, o, u, n)
    on_host("i32", a, b, want_o, want_u, n)
    same(o, want_o)
    same(u, want_u)


def test_i32clamp(arch: str) -> None:
    for threads, lo, hi in ((40, -100, 1000), (1000, -(2**20), 2**26), (1, 5, 5), (33, 10, -10)):
        n = threads + 3
        a = awkward_integers(np.random.default_rng(threads), 7 * n, np.int32) >> 2  # overflow is undefined
        want = a.copy()
        kernel("k01_int32_arith.cu", "i32clamp", arch).launch(1, threads, a, lo, hi, n)
        on_host("i32clamp", want, lo, hi, n, threads)
        same(a, want)


def test_i64(arch: str) -> None:
    n, rng = 300, np.random.default_rng(2)
    a, b = awkward_integers(rng, 2 * n, np.int64), awkward_integers(rng, 2 * n, np.uint64)
    a[n:][a[n:] == 0], b[n:][b[n:] == 0] = 3, 7
    a[n:][a[n:] == -1] = -2  # and the least number by -1 overflows
    o, u = np.full(n + 5, -7, np.int64), np.full(n + 5, 9, np.uint64)
    want_o, want_u = o.copy(), u.copy()
    kernel("k02_int64_arith.cu", "i64", arch).launch(5, 72, a, b, o, u, n)
    on_host("i64", a, b, want_o, want_u, n)
    same(o, want_o)
    same(u, want_u)


def test_i64mix(arch: str) -> None:
    n, threads = 45, 40
    a = awkward_integers(np.random.default_rng(3), n + threads, np.int32)
    a[:n], a[9 : 9 + n] = 1, 0
    a[9] = 5  # so that one sum is 5
    o = np.full(3 * n, -1, np.int64)
    kernel("k02_int64_arith.cu", "i64mix", arch).launch(1, threads, a, o, n)
    wide = a.astype(np.int64)
    s = np.array([(wide[i : i + n] * wide[:n]).sum() for i in range(threads)])
    want = np.full((3, n), -1, np.int64)
    want[:, :threads] = s, np.abs(s), s == 5
    same(o, want.reshape(-1))


def test_bits(arch: str) -> None:
    n, rng = 192, np.random.default_rng(4)
    a, wide = awkward_integers(rng, 3 * n, np.uint32), awkward_integers(rng, n, np.uint64)
    a[n : 2 * n] %= 32  # fns wants a base below 32
    a[2 * n + 60 : 3 * n] %= 32
    o = np.zeros(35 * n, np.uint32)
    want = o.copy()
    kernel("k09_bitops.cu", "bits", arch).launch(3, 64, a, wide, o, n)
    on_host("bits", a, wide, want, n)
    for k, (got, expected) in enumerate(zip(o.reshape(35, n), want.reshape(35, n), strict=True)):
        np.testing.assert_array_equal(got, expected, err_msg=f"expression {k}")


def test_simd(arch: str) -> None:
    n, threads = 70, 64
    a = awkward_integers(np.random.default_rng(5), 3 * n, np.uint32)
    o = np.zeros(16 * n, np.uint32)
    want = o.copy()
    kernel("k09_bitops.cu", "simd", arch).launch(1, threads, a, o, n)
    on_host("simd", a, want, n, threads)
    for k, (got, expected) in enumerate(zip(o.reshape(16, n), want.reshape(16, n), strict=True)):
        np.testing.assert_array_equal(got, expected, err_msg=f"expression {k}")


@pytest.mark.parametrize(("x", "y", "z"), [(0x123456789ABCDEF, 9, 0x80F0), (5, 1, 1), (2**64 - 1, 31, 0xFFFFFFFF)])
def test_uni2(arch: str, x: int, y: int, z: int) -> None:
    o = np.zeros(40, np.int32)
    kernel("k35_uniform.cu", "uni2", arch).launch(1, 40, o, np.uint64(x), y, np.uint32(z))
    t = (x * y + z) % 2**64
    signed_z = z - 2**32 if z >= 2**31 else z
    c = z.bit_count() + 32 - y.bit_length() + min(y, 7) + max(signed_z, 3)
    lowest = (z & -z).bit_length()
    reverse = int(f"{y:032b}"[::-1], 2)
    want = (t >> y) + c + (3 if y > 5 else 4) + y // 3 + z % 7 + reverse + lowest + (z if y & 1 else ~z)
    assert (o.view(np.uint32) == want % 2**32).all()

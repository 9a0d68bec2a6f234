"""Integer kernels, bit for bit."""

from __future__ import annotations

import numpy as np
from launches import awkward_integers, kernel, on_host, same


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

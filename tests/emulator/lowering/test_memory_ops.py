"""Loads and stores of every width, in global and shared memory."""

from __future__ import annotations

import numpy as np

from helpers.kernel_launches import awkward_integers, fractions, kernel, same, written


def test_ldst(arch: str) -> None:
    n, rng = 101, np.random.default_rng(2)
    kinds = (np.int8, np.uint8, np.int16, np.uint16, np.int32)
    a, b, c, d, e = (awkward_integers(rng, n, kind) for kind in kinds)
    f, g = (awkward_integers(rng, width * n, np.int32).reshape(n, width) for width in (2, 4))
    o, oa, ob = np.full(n + 9, 5, np.int32), np.full(n + 9, 5, np.int8), np.full(n + 9, 5, np.int16)
    oc, od = np.full((n + 9, 2), 5, np.int32), np.full((n + 9, 4), 5, np.int32)
    kernel("k10_ldst_width.cu", "ldst", arch).launch(3, (8, 5), a, b, c, d, e, f, g, o, oa, ob, oc, od, n)
    # blockDim.x is 8 and threadIdx.y is not used: the five rows of a block do the same
    reached = 24
    total = sum(x.astype(np.int64) for x in (a, b, c, d, e, *(np.bitwise_xor.reduce(v, 1) for v in (f, g))))
    r = (total[:, None] + np.arange(4)).astype(np.int32)
    one = r[:, 0]
    narrow = ((oa, one.astype(np.int8)), (ob, one.astype(np.int16)))
    for got, want in ((o, one), *narrow, (oc, r[:, :2]), (od, r)):
        same(got[:reached], want[:reached].copy())
        assert (got[reached:] == 5).all()


def test_ldst_to_the_last_element(arch: str) -> None:
    n, rng = 999, np.random.default_rng(3)
    kinds = (np.int8, np.uint8, np.int16, np.uint16, np.int32)
    sources = [awkward_integers(rng, n, kind) for kind in kinds]
    f, g = np.zeros((n, 2), np.int32), np.zeros((n, 4), np.int32)
    o, oa, ob = np.zeros(n, np.int32), np.zeros(n, np.int8), np.zeros(n, np.int16)
    oc, od = np.zeros((n, 2), np.int32), np.zeros((n, 4), np.int32)
    launch = kernel("k10_ldst_width.cu", "ldst", arch).launch
    launch(21, 48, *sources, f, g, o, oa, ob, oc, od, n)
    want = np.sum([x.astype(np.int64) for x in sources], 0).astype(np.int32)
    same(o, want)
    same(oa, want.astype(np.int8))
    same(od[:, 3].copy(), want + np.int32(3))


def test_hints(arch: str) -> None:
    n, threads, rng = 45, 40, np.random.default_rng(4)
    p = rng.integers(-(2**28), 2**28, 6 * n, dtype=np.int32)
    v, o = rng.integers(-(2**28), 2**28, 2 * n, dtype=np.int32), np.full(10 * n, -1, np.int32)
    q, w = fractions(rng, 2 * n, 4), np.full((2 * n, 4), 0.5, np.float32)
    before = v.copy()
    kernel("k10_ldst_width.cu", "hints", arch).launch(1, threads, p, v, o, q, w, n)
    i = np.arange(threads)
    r = p[i] + before[i]
    same(v[i + n], r)
    same(np.delete(v, i + n), np.delete(before, i + n))
    r = r + p[i + n] + p[i + 2 * n] + p[i + 3 * n] + p[i + 4 * n] + p[i + 5 * n]
    want = np.full(10 * n, -1, np.int32)
    for k in range(4):
        want[i + k * n] = r
    want[i + 9 * n] = p[i] + p[i + 1]
    same(o, want)
    copied = np.full((2 * n, 4), 0.5, np.float32)
    copied[i], copied[i + n] = q[i], q[i + n]
    same(w, copied)


def test_v8(arch: str) -> None:
    a = fractions(np.random.default_rng(5), 42, 8)
    o = np.zeros((43, 8), np.float32)
    kernel("k10_ldst_width.cu", "v8", arch).launch(1, 41, a, o)
    same(o[:41], a[1:])
    assert not o[41:].any()


def test_halves_of_a_32_byte_access(arch: str) -> None:
    """Loaded alone and stored alone: a copy would not notice halves that are swapped both times."""
    source = """struct alignas(32) V { int v[8]; };
    extern "C" __global__ void st(V *o, int x) {
      V r;
      for (int k = 0; k < 8; k++) r.v[k] = k * 10 + x;
      o[threadIdx.x] = r;
    }
    extern "C" __global__ void ld(const V *o, int *y) {
      V r = o[threadIdx.x];
      for (int k = 0; k < 8; k++) y[8 * threadIdx.x + k] = r.v[k];
    }"""
    o, y = np.zeros((33, 8), np.int32), np.zeros((33, 8), np.int32)
    written(source, "st", arch).launch(1, 33, o, 3)
    assert (o == np.arange(8) * 10 + 3).all()
    o += np.arange(33, dtype=np.int32)[:, None] * 100
    written(source, "ld", arch).launch(1, 33, o, y)
    same(y, o)


def test_i128(arch: str) -> None:
    threads, rng = 70, np.random.default_rng(6)
    a = awkward_integers(rng, 2 * (threads + 1), np.uint64).reshape(-1, 2)
    a[3:9, 0] = 2**64 - 1  # carries
    o = np.zeros((threads, 2), np.uint64)
    kernel("k10_ldst_width.cu", "i128", arch).launch(1, threads, a, o)
    whole = [int(low) + (int(high) << 64) for low, high in a]
    for got, x, y in zip(o, whole, whole[1:], strict=False):
        assert int(got[0]) + (int(got[1]) << 64) == (x + y) % 2**128


def test_sh(arch: str) -> None:
    n, rng = 37, np.random.default_rng(7)
    a, o = fractions(rng, 32, n), np.full((32, n), 3, np.float32)
    kernel("k13_shared.cu", "sh", arch).launch(1, (32, 32), a, o, n, shared=32 * 32 * 4)
    # t[x][y] is a[x][y], and dyn[x * 32 + y] is what thread (y, x) put there: a[0][y]
    want = np.full((32, n), 3, np.float32)
    want[:, :32] = a[:, :32].T + a[0, :32][:, None]
    same(o, want)


def test_shv(arch: str) -> None:
    rng = np.random.default_rng(8)
    a, i = fractions(rng, 256, 4), np.arange(256)
    o, o2 = np.zeros((256, 4), np.float32), np.zeros((256, 2), np.float32)
    ob, os, od = np.zeros(256, np.uint8), np.zeros(256, np.int16), np.zeros(256)
    kernel("k13_shared.cu", "shv", arch).launch(1, 256, a, o, o2, ob, os, od)
    same(o, a[i ^ 1])
    same(o2, np.stack([(255 - i).astype(np.float32), a[255 - i, 1]], 1))
    same(ob, ((255 - i) * 7).astype(np.uint8))
    same(os, ((i ^ 3) * 3).astype(np.int16))
    same(od, (i ^ 5).astype(np.float64))


def test_gen(arch: str) -> None:
    first = 1024 if arch in ("sm_90", "sm_100", "sm_120") else 0  # where shared memory starts
    for n in (1, 0):
        rng = np.random.default_rng(9)
        g, o, x = fractions(rng, 40), np.zeros(100, np.float32), np.arange(32)
        before, was = g.copy(), g[:32].copy()
        kernel("k13_shared.cu", "gen", arch).launch(1, 32, g, o, n)
        same(o[:32], was[x ^ 1] + was[3])
        before[x[::2] + 5] = 1
        same(g, before)
        assert o[99] in (first, first + 1)  # odd lanes say 1, even lanes 0: any may win
        assert not o[32:99].any()


def test_volsh(arch: str) -> None:
    o = np.zeros(2, np.int32)
    kernel("k13_shared.cu", "volsh", arch).launch(1, 32, o)  # s[32..63] stay zero
    assert o.tolist() == [0 + 16 + 8 + 24, 0]


LARGE = """
extern "C" __global__ void large(int *o, int n) {
  extern __shared__ int s[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = i * 3;
  __syncthreads();
  int sum = 0;
  for (int i = n - 1 - threadIdx.x; i >= 0; i -= blockDim.x) sum += s[i];
  atomicAdd(o + blockIdx.x, sum);
}
"""


def test_all_the_shared_memory_that_a_block_can_have() -> None:
    n, o = 227 * 1024 // 4, np.zeros(2, np.int32)
    written(LARGE, "large").launch(2, 256, o, n, shared=4 * n)
    assert o.tolist() == [(3 * n * (n - 1) // 2 + 2**31) % 2**32 - 2**31] * 2

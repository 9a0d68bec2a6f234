"""Cross-lane and cross-warp operations: shuffle, vote, match, reduction."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from helpers.kernel_launches import kernel, same, written

SHUFFLE, BARRIERS = "k16_shuffle_vote.cu", "k17_barriers.cu"


def ballot(flags: NDArray[Any]) -> int:
    return sum(1 << lane for lane, flag in enumerate(flags) if flag)


def wrapped(value: int) -> int:
    """As a 32-bit signed number."""
    return (value + 2**31) % 2**32 - 2**31


def test_shf(arch: str) -> None:
    for n in (0, 3, 9, 31):
        rng = np.random.default_rng(n)
        a, d, o = rng.integers(-999, 999, 96, dtype=np.int32), rng.random(96), np.zeros(96, np.int32)
        swapped, lane = d.reshape(-1, 2)[:, ::-1].reshape(-1), np.arange(32)
        kernel(SHUFFLE, "shf", arch).launch(1, 96, a, d, o, n)
        for w in range(3):
            v = a[32 * w : 32 * w + 32]
            r = v[5] + v[np.maximum(lane - 1, 0)] + v[np.where(lane + 2 < 32, lane + 2, lane)] + v[lane ^ 16]
            r = r + v[(32 * w + lane) * 3 % 32]
            r = r + v[np.where(lane % 8 + n < 8, np.minimum(lane + n, 31), lane)]
            r = r + v[lane // 16 * 16 + n % 16]
            defined = lane < 16  # the last shuffle names lanes 0 to 15 only
            same(o[32 * w : 32 * w + 32][defined], r[defined].astype(np.int32))
        same(d, swapped)


@pytest.mark.every(2)
@pytest.mark.parametrize("threads", [64, 40, 1])
def test_vote(arch: str, threads: int) -> None:
    a = np.random.default_rng(threads).integers(-2, 14, 64, dtype=np.int32)
    if threads == 40:
        a[32:] = [5, 5, 7, 9] * 8  # > 3 and odd in the whole second warp
    o = np.full(512, -5, np.int32)
    want = o.copy()
    kernel(SHUFFLE, "vote", arch).launch(1, threads, a, o, 0xFFFFFFFF)
    for start in range(0, threads, 32):
        v = a[start : min(start + 32, threads)]
        lane, i = np.arange(v.size), np.arange(start, start + v.size)
        b = ballot(v > 7)
        uniform = (v & 1).min() == (v & 1).max()
        want[i] = wrapped(int((v > 3).any()) + 2 * int((v > 3).all()) + 4 * int(uniform) + b)
        everyone = ballot(v == v)
        for k in lane:
            want[start + k + 64] = wrapped((b & ((1 << k) - 1)).bit_count() + everyone)
        odd = (v & 1) == 1
        want[i[odd] + 128] = wrapped(ballot(odd & (v > 9)))
        want[i + 256] = int((v == 2).any())
    same(o, want)


def test_lanem(arch: str) -> None:
    o = np.zeros(48, np.uint32)
    kernel(SHUFFLE, "lanem", arch).launch(1, 40, o)
    # The masks below a lane and from it on fill the word; %warpid and %smid are the same in a warp.
    for start, end in ((0, 32), (32, 40)):
        assert (o[start:end] - o[start]).tolist() == list(range(end - start))
    assert not o[40:].any()


LANE_MASKS = """extern "C" __global__ void masks(unsigned* o) {
  unsigned eq, lt, le, gt, ge;
  asm("mov.u32 %0, %%lanemask_eq;" : "=r"(eq));
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lt));
  asm("mov.u32 %0, %%lanemask_le;" : "=r"(le));
  asm("mov.u32 %0, %%lanemask_gt;" : "=r"(gt));
  asm("mov.u32 %0, %%lanemask_ge;" : "=r"(ge));
  unsigned* at = o + 5 * threadIdx.x;
  at[0] = eq; at[1] = lt; at[2] = le; at[3] = gt; at[4] = ge;
}"""


def test_lane_masks(arch: str) -> None:
    o = np.zeros(160, np.uint32)
    written(LANE_MASKS, "masks", arch).launch(1, 32, o)
    for lane in range(32):
        bits = [[other == lane, other < lane, other <= lane, other > lane, other >= lane] for other in range(32)]
        masks = [sum(int(there) << other for other, there in enumerate(kind)) for kind in zip(*bits, strict=True)]
        assert o[5 * lane : 5 * lane + 5].tolist() == masks


@pytest.mark.parametrize("threads", [64, 40])
def test_mtch(arch: str, threads: int) -> None:
    rng = np.random.default_rng(11)
    a = rng.integers(0, 4, threads, dtype=np.int32)
    long = rng.integers(0, 3, threads).astype(np.uint64) << np.uint64(40)
    a[32:], long[32:] = 9, 7 << 33  # all alike in the second warp
    o = np.zeros(512, np.uint32)
    want = o.copy()
    kernel(SHUFFLE, "mtch", arch).launch(1, threads, a, long, o)
    for start in range(0, threads, 32):
        for values, at in ((a, 0), (long, 128)):
            v = values[start : start + 32]
            for k, value in enumerate(v):
                want[start + k + at] = ballot(v == value)
                alike = ballot(v == v) + 1 if (v == v[0]).all() else 0
                want[start + k + (64 if at == 0 else 256)] = alike % 2**32
    same(o, want)


@pytest.mark.since("sm_80")
def test_red(arch: str) -> None:
    for threads in (64, 40):
        a = np.random.default_rng(12).integers(-(2**31), 2**31, threads).astype(np.int32)
        o = np.zeros(256, np.uint32)
        want = o.copy()
        kernel(SHUFFLE, "red", arch).launch(1, threads, a, o)
        for start in range(0, threads, 32):
            v = a[start : start + 32]
            u, i = v.view(np.uint32), np.arange(start, start + v.size)
            want[i] = u.sum(dtype=np.uint32)
            want[i + 64] = v.min().view(np.uint32)
            folds = [int(f.reduce(u)) for f in (np.maximum, np.bitwise_and, np.bitwise_or, np.bitwise_xor)]
            want[i + 128] = sum(folds) % 2**32
        same(o, want)


def test_bars(arch: str) -> None:
    # n = 0: barrier 0 with a count, no turn of the loop; a[i] is also the mask of __syncwarp
    i = np.arange(256)
    a = np.where(i % 32 < 16, 0x0000FFFF, -0x10000).astype(np.int32)
    o = np.zeros(300, np.int32)
    kernel(BARRIERS, "bars", arch).launch(1, 256, a, o, 0)
    assert (o[:256] == 128).all()  # half of the threads have a neighbour > 3
    assert not o[256:].any()
    # n = 5: nobody > 3, not all > 0, some < 0; then o[i + 5] = 0 behind the last barrier
    a, o = np.full(261, -1, np.int32), np.full(300, 7, np.int32)
    kernel(BARRIERS, "bars", arch).launch(1, 256, a, o, 5)
    assert (o[:5] == 1).all()
    assert not o[5:261].any()
    assert (o[261:] == 7).all()


def test_fences(arch: str) -> None:
    f, d = np.array([9, 8, 7], np.int32), np.full(128, -1, np.int32)
    kernel(BARRIERS, "fences", arch).launch(1, 40, f, d)
    want = np.full(128, -1, np.int32)
    want[:40], want[64:104] = np.arange(40), 8
    same(d, want)
    assert f.tolist() == [1, 8, 3]


def test_wscan(arch: str) -> None:
    for threads in (96, 40, 1):
        x = np.random.default_rng(threads).integers(-99, 99, threads, dtype=np.int32)
        y = np.zeros_like(x)
        kernel("k28_reduce_scan.cu", "wscan", arch).launch(1, threads, x, y)
        want = np.concatenate([np.cumsum(x[s : s + 32], dtype=np.int32) for s in range(0, threads, 32)])
        same(y, want)


@pytest.mark.every(2)
@pytest.mark.parametrize("threads", [1000, 1024, 33, 1])
def test_scan(arch: str, threads: int) -> None:
    x = np.random.default_rng(threads).integers(-99, 99, threads, dtype=np.int32)
    y = np.zeros_like(x)
    kernel("k28_reduce_scan.cu", "scan", arch).launch(1, threads, x, y, threads)
    same(y, np.cumsum(x, dtype=np.int32))


def test_reduce(arch: str) -> None:
    # Whole numbers below 2^24: float sums are exact in any order.  Only whole warps are summed.
    for grid, block, n in ((3, 96, 1000), (1, 1024, 5000), (5, 32, 0), (2, 64, 1)):
        x, y = np.random.default_rng(n).integers(-99, 99, n).astype(np.float32), np.ones(1, np.float32)
        kernel("k28_reduce_scan.cu", "reduce", arch).launch(grid, block, x, y, n)
        same(y, np.array([x.sum() + 1], np.float32))


NAMED = """
extern "C" __global__ void named(int *o, int which, int count) {
  __shared__ int s[64];
  int i = threadIdx.x;
  if (i < 64) {
    s[i] = i + 1;
    asm volatile("bar.sync %0, %1;" :: "r"(which), "r"(count) : "memory");
    o[i] = s[63 - i];
    asm volatile("bar.sync %0, 64;" :: "r"(which) : "memory");
    s[i] = 7 * i;
    asm volatile("bar.sync 3, %0;" :: "r"(count) : "memory");
    o[64 + i] = s[63 - i];
  }
  asm volatile("bar.sync %0;" :: "r"(which + 1) : "memory");
}
"""


def test_barriers_whose_number_and_count_are_computed(arch: str) -> None:
    o, i = np.zeros(128, np.int32), np.arange(64)
    written(NAMED, "named", arch).launch(1, 96, o, 5, 64)
    same(o, np.concatenate([64 - i, 7 * (63 - i)]).astype(np.int32))

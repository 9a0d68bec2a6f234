"""Results and counts do not depend on the number of threads, also where blocks change or await what others do."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from helpers.kernel_launches import kernel, on_host, same, written
from warplens.run import Run

pytestmark = pytest.mark.usefixtures("every_thread_works")

SOURCE = """
extern "C" __global__ void in_place(int *a, int n) {  // each block reads what the one before it wrote
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && i >= blockDim.x) a[i] = a[i] * 3 + a[i - blockDim.x];
}
extern "C" __global__ void late(int *a, int *o, int n) {  // only the last blocks read what is also written
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (blockIdx.x > gridDim.x - 4) a[0] += a[i - 3 * blockDim.x];
  else a[i] = i;
  o[i] = i;
}
extern "C" __global__ void tickets(int *next, int *o) {  // the order of the atomics shows
  __shared__ int mine;
  if (threadIdx.x == 0) mine = atomicAdd(next, 1);
  __syncthreads();
  o[blockIdx.x * blockDim.x + threadIdx.x] = mine * 1000 + threadIdx.x;
}
extern "C" __global__ void histogram(const int *a, int *bins, int *top, unsigned *bits, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  atomicAdd(bins + a[i], i);
  atomicMax(top + a[i] % 3, i * 7 % 1001);
  atomicXor(bits, 1u << (i * 5 & 31));
}
extern "C" __global__ void rounding(const float *x, float *sum, int n) {  // float sums depend on their order
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < 500; ++k) i = i * 5 % n;  // long enough for several host threads to work at once
  atomicAdd(sum, x[i]);
}
extern "C" __global__ void look_back(const int *x, int *y, volatile int *total, volatile int *flag) {
  __shared__ int s[64];
  __shared__ int before;
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = x[i];
  __syncthreads();
  for (int d = 1; d < blockDim.x; d *= 2) {
    int v = t >= d ? s[t - d] : 0;
    __syncthreads();
    s[t] += v;
    __syncthreads();
  }
  if (t == 0) {
    int b = gridDim.x - 1 - blockIdx.x;   // blocks wait for those that come after them
    before = 0;
    if (b > 0) {
      while (flag[b - 1] == 0) { }
      __threadfence();
      before = total[b - 1];
    }
    total[b] = before + s[blockDim.x - 1];
    __threadfence();
    flag[b] = 1;
  }
  __syncthreads();
  y[i] = s[t] + before;
}
extern "C" __global__ void grid_barrier(int *a, unsigned *count, volatile unsigned *phase, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  for (int r = 0; r < rounds; r++) {
    int left = ((volatile int *)a)[(r & 1) * n + (i + n - 1) % n];
    ((volatile int *)a)[(~r & 1) * n + i] = left + 1;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
      if (atomicAdd(count, 1) == gridDim.x - 1) { *count = 0; __threadfence(); *phase = r + 1; }
      else while (*phase <= r) { }
    }
    __syncthreads();
  }
}
extern "C" __global__ void spin_lock(int *lock, volatile int *sum) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {  // lanes of one warp compete too
      *sum = *sum + threadIdx.x + 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}
"""


def counts(run: Run) -> dict[str, NDArray[Any]]:
    return {f.name: value for f in fields(run.trace) if isinstance(value := getattr(run.trace, f.name), np.ndarray)}


def alike(one: Run, other: Run) -> None:
    first, second = counts(one), counts(other)
    assert len(first) >= 10
    for name in first:
        np.testing.assert_array_equal(first[name], second[name], name)


def with_threads(name: str, grid: int, block: int, *arrays: object) -> list[NDArray[Any]]:
    """Runs with one, two and three threads, and twice with two; the arrays after it, which must not differ."""
    outcomes = []
    for threads in (1, 2, 2, 3):
        copies = [a.copy() if isinstance(a, np.ndarray) else a for a in arrays]
        run = written(SOURCE, name).launch(grid, block, *copies, threads=threads)
        outcomes.append((run, [c for c in copies if isinstance(c, np.ndarray)]))
    for run, results in outcomes[1:]:
        alike(outcomes[0][0], run)
        for got, want in zip(results, outcomes[0][1], strict=True):
            same(got, want)
    return outcomes[0][1]


def test_independent_blocks(arch: str) -> None:
    n = 5003
    a, o, want = np.arange(1, n + 1, dtype=np.uint32), np.zeros(n, np.uint32), np.zeros(n, np.uint32)
    on_host("collatz", a, want, n)
    runs = []
    for threads in (1, 2):
        runs.append(kernel("k18_divergence.cu", "collatz", arch).launch(126, 40, a, o, n, threads=threads))
        same(o, want)
        o[:] = 0
    alike(*runs)


def test_in_place() -> None:
    block, n = 48, 1003
    a = np.arange(n, dtype=np.int32) % 17
    want = a.astype(np.int64)
    for i in range(block, n):
        want[i] = want[i] * 3 + want[i - block]
    (got,) = with_threads("in_place", 21, block, a, n)
    same(got, want.astype(np.int32))


def test_what_shows_late() -> None:
    """The first block gives no hint that order matters; everything is run again, from the arrays as they came."""
    block, n = 32, 32 * 200
    a, o = np.full(n, 5, np.int32), np.zeros(n, np.int32)
    got, written_too = with_threads("late", 200, block, a, o, n)
    assert (got[1 : n - 3 * block] == np.arange(1, n - 3 * block)).all()
    same(written_too, np.arange(n, dtype=np.int32))


def test_tickets() -> None:
    (next_, o) = with_threads("tickets", 60, 40, np.zeros(1, np.int32), np.zeros(2400, np.int32))
    assert next_[0] == 60
    same(o, (np.arange(60)[:, None] * 1000 + np.arange(40)).reshape(-1).astype(np.int32))  # blocks in order


def test_histogram() -> None:
    n = 5003
    a = np.random.default_rng(1).integers(0, 13, n, dtype=np.int32)
    arrays = (a, np.zeros(13, np.int32), np.zeros(3, np.int32), np.zeros(1, np.uint32))
    _, bins, top, bits = with_threads("histogram", 126, 40, *arrays, n)
    i = np.arange(n)
    same(bins, np.bincount(a, i, 13).astype(np.int32))
    same(top, np.array([(i * 7 % 1001)[a % 3 == k].max() for k in range(3)], np.int32))
    same(bits, np.bitwise_xor.reduce(1 << (i * 5 & 31)).astype(np.uint32).reshape(1))


def test_rounding() -> None:
    n = 4003
    blocks = 400
    x = (np.random.default_rng(2).random(n) * 10.0 ** np.random.default_rng(3).integers(-3, 3, n)).astype(np.float32)
    _, got = with_threads("rounding", blocks, 40, x, np.zeros(1, np.float32), n)
    i = np.arange(40 * blocks)
    for _ in range(500):
        i = i * 5 % n
    np.testing.assert_allclose(got[0], x[i].astype(np.float64).sum(), rtol=i.size * 2.0**-24)


@pytest.mark.parametrize("blocks", [2, 40])
def test_blocks_that_wait_for_later_ones(blocks: int) -> None:
    n = 64 * blocks
    x = np.random.default_rng(4).integers(-9, 9, n, dtype=np.int32)
    zeros = np.zeros(blocks, np.int32)
    _, y, total, flag = with_threads("look_back", blocks, 64, x, np.zeros(n, np.int32), zeros, zeros.copy())
    parts = x.reshape(blocks, 64).astype(np.int64)
    sums = parts.sum(1)
    after = np.concatenate([np.cumsum(sums[::-1])[::-1][1:], [0]])
    same(y, (np.cumsum(parts, 1) + after[:, None]).reshape(-1).astype(np.int32))
    same(total, np.cumsum(sums[::-1]).astype(np.int32))
    assert (flag == 1).all()


def test_a_barrier_of_the_whole_grid() -> None:
    """Every thread takes its left neighbour's number, once a round."""
    blocks, block, rounds = 7, 40, 12
    n = blocks * block
    a = np.zeros(2 * n, np.int32)
    a[:n] = np.arange(n)
    got, count, phase = with_threads(
        "grid_barrier", blocks, block, a, np.zeros(1, np.uint32), np.zeros(1, np.uint32), rounds
    )
    same(got[:n], ((np.arange(n) - rounds) % n + rounds).astype(np.int32))
    assert (count[0], phase[0]) == (0, rounds)


def test_a_lock_that_lanes_of_one_warp_compete_for() -> None:
    lock, total = with_threads("spin_lock", 3, 40, np.zeros(1, np.int32), np.zeros(1, np.int32))
    assert lock[0] == 0
    assert total[0] == 3 * 40 * 41 // 2

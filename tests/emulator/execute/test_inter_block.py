"""Blocks that take pieces of work from one queue, or wait for all others, go on side by side as on a GPU."""

from __future__ import annotations

import numpy as np
import pytest

import warplens as wl
from warplens.sass.block_queue import polls_other_blocks

pytestmark = pytest.mark.usefixtures("every_thread_works")

QUEUE = """extern "C" __global__ void queue(int* next, int* taken, int* done, int n) {
  __shared__ int piece;
  for (;;) {
    if (threadIdx.x == 0) piece = atomicAdd(next, 1);
    __syncthreads();
    int mine = piece;
    __syncthreads();
    if (mine >= n) return;
    if (threadIdx.x == 0) taken[blockIdx.x] += 1;
    done[mine * blockDim.x + threadIdx.x] += 1;
  }
}"""
BY_WARP = """extern "C" __global__ void by_warp(int* next, int* taken, int n) {
  for (;;) {
    int mine = 0;
    if ((threadIdx.x & 31) == 0) mine = atomicAdd(next, 1);
    mine = __shfl_sync(~0u, mine, 0);
    if (mine >= n) return;
    if ((threadIdx.x & 31) == 0) atomicAdd(taken + blockIdx.x, 1);
  }
}"""
MEET = """extern "C" __global__ void meet(int* arrived, int* out, int rounds) {
  for (int r = 1; r <= rounds; ++r) {
    out[blockIdx.x * blockDim.x + threadIdx.x] += 1;
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicAdd(arrived, 1);
      while (*(volatile int*)arrived < r * (int)gridDim.x) { }
    }
    __syncthreads();
  }
}"""
PARTED = """extern "C" __global__ void parted(int* count, int* found, const int* x, int n) {
  for (int i = threadIdx.x; i < n; i += 32)
    if (x[i] & 1) found[atomicAdd(count, 1)] = i;
}"""


@pytest.mark.parametrize("threads", [1, 2])
def test_pieces_of_a_queue_are_shared_by_all_blocks(threads: int) -> None:
    next_, taken, done = np.zeros(1, np.int32), np.zeros(100, np.int32), np.zeros(1000 * 64, np.int32)
    wl.compile(source=QUEUE)["queue"].launch(100, 64, next_, taken, done, 1000, threads=threads)
    assert (done == 1).all()
    assert taken.sum() == 1000
    assert taken.min() >= 8
    assert taken.max() <= 12


def test_the_warps_of_all_blocks_share_a_queue() -> None:
    next_, taken = np.zeros(1, np.int32), np.zeros(40, np.int32)
    wl.compile(source=BY_WARP)["by_warp"].launch(40, 128, next_, taken, 1600)
    assert taken.sum() == 1600
    assert taken.min() >= 32
    assert taken.max() <= 48


def test_a_warp_that_waits_for_all_blocks_looks_seldom() -> None:
    arrived, out = np.zeros(1, np.int32), np.zeros(64 * 96, np.int32)
    kernel = wl.compile(source=MEET)["meet"]
    run = kernel.launch(64, 96, arrived, out, 20)
    assert (out == 20).all()
    assert arrived[0] == 64 * 20
    looks = sum(
        int(n) for i, n in zip(kernel.program.instructions, run.trace.executed, strict=True)
        if i.base == "LDG" and "STRONG" in i.modifiers
    )  # fmt: skip
    assert 64 * 20 <= looks <= 4 * 64 * 20


def test_lanes_that_have_parted_do_not_end_the_turn_of_the_others() -> None:
    """As one warp, in order: what is found does not depend on turns, nor does what is counted."""
    x = np.arange(3000, dtype=np.int32) % 7
    count, found = np.zeros(1, np.int32), np.zeros(3000, np.int32)
    kernel = wl.compile(source=PARTED)["parted"]
    assert polls_other_blocks(kernel.program)
    run = kernel.launch(1, 32, count, found, x, 3000)
    odd = np.flatnonzero(x & 1)
    assert count[0] == odd.size
    assert (np.sort(found[: odd.size]) == odd).all()
    again = kernel.launch(1, 32, np.zeros(1, np.int32), np.zeros(3000, np.int32), x, 3000)
    assert (run.trace.executed == again.trace.executed).all()


def test_a_wait_without_end_is_told_in_seconds() -> None:
    source = 'extern "C" __global__ void spin(volatile int* f) { while (*f == 0) { } }'
    with pytest.raises(wl.KernelFault, match="endless loop"):
        wl.compile(source=source)["spin"].launch(4, 64, np.zeros(1, np.int32), budget=20_000_000)

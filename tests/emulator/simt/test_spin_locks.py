"""Spin locks: lanes that spin until another lane of their warp, another warp or another block lets them pass."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.kernel_launches import same, written

SOURCE = r"""
#define BODY(take, give) \
  while (take) ; \
  *(volatile int *)sum = *(volatile int *)sum + threadIdx.x + 1; \
  __threadfence(); \
  give;
extern "C" {
__global__ void global_lock(int *lock, int *sum) { BODY(atomicCAS(lock, 0, 1), atomicExch(lock, 0)) }
__global__ void shared_lock(int *, int *sum) {
  __shared__ int lock;
  if (threadIdx.x == 0) lock = 0;
  __syncthreads();
  BODY(atomicCAS(&lock, 0, 1), atomicExch(&lock, 0))
}
__global__ void sleeping(int *lock, int *sum) {
  while (atomicCAS(lock, 0, 1)) __nanosleep(20);
  BODY(false, atomicExch(lock, 0))
}
__global__ void tickets(int *lock, int *sum) {
  int mine = atomicAdd(lock, 1);
  BODY(((volatile int *)lock)[1] != mine, ((volatile int *)lock)[1] = mine + 1)
}
__global__ void up(volatile int *done, int *sum) {  // each thread waits for the one below
  int t = threadIdx.x;
  BODY(t && !done[t - 1], done[t] = 1)
}
__global__ void down(volatile int *done, int *sum) {  // and here for the one above
  int t = blockDim.x - 1 - threadIdx.x;
  BODY(t && !done[t - 1], done[t] = 1)
}
__global__ void again(int *lock, int *sum) {  // lanes that were let go come back, and meet again behind the loop
  for (int k = 0; k < 3; k++) { BODY(atomicCAS(lock, 0, 1), atomicExch(lock, 0)) }
  if (threadIdx.x & 1) { BODY(atomicCAS(lock, 0, 1), atomicExch(lock, 0)) }
  __syncwarp();
  sum[1 + threadIdx.x] = __popc(__activemask());
}
}
"""


@pytest.mark.every(3)
@pytest.mark.parametrize("name", ["global_lock", "shared_lock", "sleeping", "tickets", "up", "down"])
def test_every_lane_gets_the_lock(name: str, arch: str) -> None:
    for grid, block in ((1, 32), (1, 70), (2, 33)):
        if grid > 1 and name in ("shared_lock", "up", "down"):
            continue
        lock, total = np.zeros(128, np.int32), np.zeros(1, np.int32)
        written(SOURCE, name, arch).launch(grid, block, lock, total, budget=1_000_000)
        assert total[0] == grid * block * (block + 1) // 2


def test_lanes_that_were_let_go_meet_again() -> None:
    lock, total = np.zeros(1, np.int32), np.zeros(33, np.int32)
    written(SOURCE, "again", "sm_90").launch(1, 32, lock, total, budget=1_000_000)
    assert total[0] == 3 * 528 + 272
    same(total[1:], np.full(32, 32, np.int32))

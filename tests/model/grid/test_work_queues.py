"""The time of launches whose blocks share their work or meet: all blocks run where some are recorded."""

from __future__ import annotations

import numpy as np

import warplens as wl
from warplens.calibration import source_of

LOOPS = """
__device__ float work(float x) { for (int k = 0; k < 64; ++k) x = x * 1.5f + 0.25f; return x; }
extern "C" __global__ void by_turns(const float* x, float* y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = work(x[i]);
}
extern "C" __global__ void by_queue(const float* x, float* y, int n, int* next) {
  __shared__ int piece;
  for (;;) {
    if (threadIdx.x == 0) piece = atomicAdd(next, 1);
    __syncthreads();
    int i = piece * blockDim.x + threadIdx.x;
    __syncthreads();
    if (i >= n) return;
    y[i] = work(x[i]);
  }
}"""
N = 1 << 20


def test_work_from_a_queue_takes_about_as_long_as_by_turns() -> None:
    """Where only the blocks of one multiprocessor were run, they would do the work of all 132."""
    module = wl.compile(source=LOOPS)
    x, y = np.ones(N, np.float32), np.zeros(N, np.float32)
    turns = module["by_turns"].launch(1056, 256, x, y, N).predict("h200").time_us
    queue = module["by_queue"].launch(1056, 256, x, y, N, np.zeros(1, np.int32)).predict("h200").time_us
    assert turns < queue < 2.5 * turns


def test_a_barrier_of_the_grid_takes_about_a_microsecond() -> None:
    """0.87 us of 132 blocks that each poll one word: (10.304 - 4.192) / 7, `meeting of 132` of the calibration."""
    kernel = wl.compile(source=source_of("waits"))["meeting"]

    def time_us(rounds: int) -> float:
        return kernel.launch(132, 128, np.zeros(1, np.int32), rounds, cooperative=True).predict("h200").time_us

    assert 0.6 < (time_us(8) - time_us(1)) / 7 < 1.3


LOOK_BACK = """
extern "C" __global__ void scan(const int* x, int* y, volatile unsigned* said, int* ticket) {
  __shared__ int mine, before;
  if (threadIdx.x == 0) mine = atomicAdd(ticket, 1);
  __syncthreads();
  int block = mine, i = block * blockDim.x + threadIdx.x;
  int sum = __syncthreads_count(x[i]);
  if (threadIdx.x == 0) {
    said[block] = (block ? 1u : 2u) << 30 | sum;
    int total = 0;
    for (int at = block - 1; at >= 0; --at) {
      unsigned seen;
      while ((seen = said[at]) == 0) { }
      total += seen & 0x3fffffff;
      if (seen >> 30 == 2) break;
    }
    said[block] = 2u << 30 | (sum + total);
    before = total;
  }
  __syncthreads();
  y[i] = before;
}"""


def test_a_scan_with_more_blocks_than_the_gpu_holds_is_predicted() -> None:
    """All blocks run again while some are recorded: alone these would wait for ever."""
    blocks = 5000
    x, y = np.ones(blocks * 64, np.int32), np.zeros(blocks * 64, np.int32)
    said, ticket = np.zeros(blocks, np.uint32), np.zeros(1, np.int32)
    run = wl.compile(source=LOOK_BACK)["scan"].launch(blocks, 64, x, y, said, ticket)
    assert (y.reshape(blocks, 64) == 64 * np.arange(blocks)[:, None]).all()
    assert 5 < run.predict("h200").time_us < 200

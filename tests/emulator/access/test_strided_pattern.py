"""A warp that reads every second word: two rows and a shuffle in place of 32 loads."""

from __future__ import annotations

import mmap

import numpy as np
import pytest

from helpers.kernel_launches import written
from warplens.emulator.memory import device_memory

SOURCE = """
extern "C" __global__ void k(const int *a, int *out) {
  __shared__ int kept[64];
  out[threadIdx.x] = a[2 * threadIdx.x];
  kept[threadIdx.x] = out[threadIdx.x];
  kept[threadIdx.x + 32] = -kept[threadIdx.x];
  __syncthreads();
  out[32 + threadIdx.x] = kept[2 * threadIdx.x];
}
"""


@pytest.mark.parametrize("in_place", [0, 1 << 20])
def test_what_it_reads_and_that_it_reads_nothing_behind(in_place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_memory, "IN_PLACE", in_place)
    page = np.frombuffer(mmap.mmap(-1, mmap.PAGESIZE), np.int32)  # its 63 last words; a host has nothing behind them
    page[:] = np.arange(page.size)
    a, out = page[-63:], np.zeros(64, np.int32)
    run = written(SOURCE, "k").launch(1, 32, a, out)
    assert np.array_equal(out[:32], a[::2])
    assert np.array_equal(out[32:], np.concatenate([a[::2], -a[::2]])[::2])
    assert run["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] == 8

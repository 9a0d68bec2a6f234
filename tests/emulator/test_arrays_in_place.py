"""Arrays that a kernel only reads stay where the host has them; others get memory of the device when first written."""

from __future__ import annotations

import numpy as np
import pytest
from launches import written

from warplens.emulator import memory

SOURCE = """
extern "C" __global__ void mixed(const int *a, int *b, int *out) {
  const int *from = threadIdx.x & 1 ? a : b;       // lanes of one load in two buffers
  out[blockIdx.x * 64 + threadIdx.x] = from[threadIdx.x];
  int *to = threadIdx.x & 2 ? b : out;             // and of one store, that nobody has written before
  to[256 + threadIdx.x] = -(int)threadIdx.x;
}
extern "C" __global__ void late(int *a, int *out) {
  if (blockIdx.x == 5) a[threadIdx.x] = 100 + threadIdx.x;
  out[blockIdx.x * 64 + threadIdx.x] = a[threadIdx.x];
}
extern "C" __global__ void summed(const double2 *a, double *out) {
  double2 x = a[threadIdx.x];
  out[threadIdx.x] = x.x + x.y;
}
"""
LANES = np.arange(64)


@pytest.fixture(autouse=True)
def _small_ones_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "IN_PLACE", 0)


@pytest.mark.parametrize("threads", [1, 2])
def test_lanes_of_one_instruction_reach_several_buffers(threads: int) -> None:
    a, b, out = np.arange(512, dtype=np.int32), np.arange(512, dtype=np.int32) + 1000, np.zeros(512, np.int32)
    written(SOURCE, "mixed").launch(4, 64, a, b, out, threads=threads)
    assert np.array_equal(a, np.arange(512))
    assert np.array_equal(out[:256], np.tile(np.where(LANES & 1, LANES, LANES + 1000), 4))
    to_b = (LANES & 2) > 0
    assert np.array_equal(out[256:320], np.where(to_b, 0, -LANES))
    assert np.array_equal(b[256:320], np.where(to_b, -LANES, LANES + 1256))
    assert np.array_equal(b[:256], np.arange(256) + 1000)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_buffer_that_a_later_block_writes_is_read_as_it_is_then(threads: int) -> None:
    a, out = np.arange(64, dtype=np.int32), np.zeros(8 * 64, np.int32)
    written(SOURCE, "late").launch(8, 64, a, out, threads=threads)
    assert np.array_equal(a, LANES + 100)
    assert np.array_equal(out.reshape(8, 64), [LANES + (100 if block >= 5 else 0) for block in range(8)])


@pytest.mark.parametrize("off", [0, 1, 8])
def test_where_the_host_has_an_array_does_not_matter(off: int) -> None:
    room = np.zeros(64 * 16 + off, np.uint8)
    array = room[off:].view(np.float64)
    array[:] = np.arange(128)
    out = np.zeros(64)
    run = written(SOURCE, "summed").launch(1, 64, array, out)
    assert np.array_equal(out, 4.0 * LANES + 1)
    assert run["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] == 32

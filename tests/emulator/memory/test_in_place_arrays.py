"""Large arrays stay where the host has them, also those that are written; until the end they can be put back."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.kernel_launches import written
from warplens.emulator.execute import grid
from warplens.emulator.memory import device_memory
from warplens.errors import KernelFault

pytestmark = pytest.mark.usefixtures("every_thread_works")

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
extern "C" __global__ void updated(int *a, int *never) {
  int i = blockIdx.x * 64 + threadIdx.x;
  a[i] = 3 * a[i] + 1;
  if (blockIdx.x == 5 && threadIdx.x == 7) *never = 0;
}
extern "C" __global__ void shifted(const int *a, int *out) {
  int i = blockIdx.x * 64 + threadIdx.x;
  out[i] = a[i] + 1;
}
"""
LANES = np.arange(64)


@pytest.fixture(autouse=True)
def _small_ones_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_memory, "IN_PLACE", 0)


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


@pytest.mark.parametrize("threads", [1, 2])
def test_what_is_read_often_is_copied_after_all(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """`late` reads in its first block what it writes in its sixth."""
    monkeypatch.setattr(grid, "INSTRUCTIONS_PER_COPIED_BYTE", 0)
    brought: list[int] = []
    bring = device_memory.DeviceMemory.bring
    monkeypatch.setattr(device_memory.DeviceMemory, "bring", lambda self, n: brought.append(n) or bring(self, n))
    room = np.zeros(256 + 128, np.uint8)
    off = -room.ctypes.data % 64 + 16
    a, out = room[off : off + 256].view(np.int32), np.zeros(8 * 64, np.int32)
    a[:] = LANES
    written(SOURCE, "late").launch(8, 64, a, out, threads=threads)
    assert brought == [0]
    assert np.array_equal(a, LANES + 100)
    assert np.array_equal(out.reshape(8, 64), [LANES + (100 if block >= 5 else 0) for block in range(8)])


@pytest.mark.parametrize("threads", [1, 2])
def test_after_a_fault_arrays_are_as_the_blocks_before_it_left_them(threads: int) -> None:
    a, kernel = np.arange(8 * 64, dtype=np.int32), written(SOURCE, "updated")
    with pytest.raises(KernelFault):
        kernel.launch(8, 64, a, None, threads=threads)
    before = np.arange(a.size)
    assert np.array_equal(a, np.where(before < 5 * 64 + 32, 3 * before + 1, before))  # block 5 ends in its first warp


def test_who_stops_a_launch_finds_the_arrays_as_they_were() -> None:
    def stop(done: int, blocks: int) -> None:
        raise KeyboardInterrupt

    a, never = np.arange(8 * 64, dtype=np.int32), np.zeros(1, np.int32)
    with pytest.raises(KeyboardInterrupt):
        written(SOURCE, "updated").launch(8, 64, a, never, progress=stop)
    assert np.array_equal(a, np.arange(8 * 64))


def test_a_second_rerun_copies_nothing_again() -> None:
    run = written(SOURCE, "updated").launch(8, 64, np.arange(8 * 64, dtype=np.int32), np.zeros(1, np.int32))
    assert run.again is not None
    memory = run.again.memory
    before = memory.allocations[0].array
    memory.again()
    assert memory.allocations[0].array is before


def test_what_is_run_again_finds_what_the_launch_found_and_leaves_the_results() -> None:
    a, never = np.arange(8 * 64, dtype=np.int32), np.zeros(1, np.int32)
    run = written(SOURCE, "updated").launch(8, 64, a, never)
    assert run.again is not None
    assert np.array_equal(run.again.memory.view(0).view(np.int32), np.arange(8 * 64))
    run.steps()
    assert np.array_equal(a, 3 * np.arange(8 * 64) + 1)


def test_arrays_that_overlap_are_buffers_of_their_own() -> None:
    room = np.arange(9 * 64, dtype=np.int32)
    written(SOURCE, "shifted").launch(8, 64, room[: 8 * 64], room[64:])
    assert np.array_equal(room[64:], np.arange(8 * 64) + 1)


def test_an_array_that_cannot_be_written_stays_as_it_is() -> None:
    a, never = np.arange(8 * 64, dtype=np.int32), np.zeros(1, np.int32)
    a.flags.writeable = False
    run = written(SOURCE, "updated").launch(8, 64, a, never)
    assert np.array_equal(a, np.arange(8 * 64))
    assert run["smsp__inst_executed_op_global_st.sum"] > 0

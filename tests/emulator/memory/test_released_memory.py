"""What a launch takes of the host's memory."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.kernel_launches import written
from warplens.emulator.memory import device_memory
from warplens.emulator.memory.buffer_pool import KEPT, BufferPool, address, aligned

pytestmark = pytest.mark.usefixtures("every_thread_works")

MIB = 1 << 20
STATUS = Path("/proc/self/statm")


@pytest.mark.skipif(not STATUS.exists(), reason="the system does not tell a process's memory")
def test_device_memory_is_given_back_at_the_end_of_a_launch() -> None:
    """Without waiting for Python's collector: runs that were kept took 128 MiB each in benchmarks/executor.py."""
    fill = written('extern "C" __global__ void k(int *p) { p[blockIdx.x * 1024 + threadIdx.x] = 1; }', "k")
    array = np.zeros(32 * MIB // 4, np.int32)
    fill.launch(array.size // 1024, 1024, array, threads=1)
    gc.disable()
    try:
        before = resident()
        runs = [fill.launch(array.size // 1024, 1024, array, threads=1) for _ in range(8)]
        grown = resident() - before
    finally:
        gc.enable()
    assert len(runs) == 8
    assert grown < 2 * array.nbytes


def test_what_a_launch_had_is_kept_for_the_next_and_no_more() -> None:
    spare = BufferPool()
    large = [aligned(KEPT), aligned(KEPT)]
    spare.give(large)
    again = [spare.take(KEPT) for _ in large]
    assert {address(piece) for piece in again} == {address(piece) for piece in large}
    spare.give(again)
    small = aligned(KEPT // 2)
    spare.give([small])  # one large piece would be too much beside it
    assert address(spare.take(KEPT // 2)) == address(small)
    assert not {address(spare.take(KEPT))} & {address(piece) for piece in large}


def resident() -> int:
    """Bytes of this process in the host's memory."""
    return int(STATUS.read_text().split()[1]) * 4096


SCATTER = """
extern "C" __global__ void k(const int *places, int *p) { p[places[blockIdx.x * 1024 + threadIdx.x]] = 1; }
"""


def test_a_prediction_copies_nothing_that_is_only_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some blocks run again for it: of an array that no block has read they need memory, but not its content."""
    places = np.arange(MIB, dtype=np.int32)
    array = np.zeros_like(places)
    run = written(SCATTER, "k").launch(array.size // 1024, 1024, places, array)
    copied: list[int] = []
    copy = device_memory.copy

    def noted(pairs: list[tuple[Any, Any]], threads: int) -> None:
        copied.extend(target.nbytes for target, _ in pairs)
        copy(pairs, threads)

    monkeypatch.setattr(device_memory, "copy", noted)
    run.predict("h200")
    assert sum(copied) < array.nbytes
    assert array.all()


STEP = """
extern "C" __global__ void k(int *p) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, a = p[i];
  p[i] = a + 1;
  if (a == 77) p[a & 1023] = 1;
}
"""


@pytest.mark.skipif(not STATUS.exists(), reason="the system does not tell a process's memory")
def test_a_prediction_keeps_of_what_changes_in_place_only_what_its_blocks_write(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They are some, anywhere in the array, and leave it as they found it."""
    kernel = written(STEP, "k")
    taken: list[int] = []
    array = np.ones(32 * MIB, np.int32)
    run = kernel.launch(array.size // 256, 256, array)
    undo = device_memory.DeviceMemory.undo

    def noted(held: device_memory.DeviceMemory) -> None:
        taken.append(resident())
        undo(held)

    monkeypatch.setattr(device_memory.DeviceMemory, "undo", noted)
    before = resident()
    run.predict("h200")
    assert max(taken) - before < array.nbytes / 2
    assert run.again is not None
    assert (run.again.memory.allocations[0].array.view(np.int32) == 1).all()
    assert (array == 2).all()


def test_arrays_that_may_not_be_written_are_not_kept_twice() -> None:
    """They have at the end what they had at the start, so that the blocks that run again find it there."""
    count = written('extern "C" __global__ void k(int *p) { p[blockIdx.x * 256 + threadIdx.x] += 1; }', "k")
    array = np.arange(MIB, dtype=np.int32)
    array.flags.writeable = False
    run = count.launch(array.size // 256, 256, array)
    assert run.again is not None
    assert [np.shares_memory(a.array, array) for a in run.again.memory.allocations] == [True]
    assert array[-1] == MIB - 1

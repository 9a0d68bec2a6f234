"""What a launch leaves to the next of its shape: memory, and nothing that stands in it."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import numpy as np
import pytest

from helpers.kernel_launches import written
from warplens.emulator.execute.worker_state import WORKER_STATES
from warplens.errors import KernelFault

SOURCE = """
extern "C" __global__ void leftovers(int *out, int which, int write) {  // reads local memory that nobody has written
  volatile int mine[400];
  if (write) for (int k = threadIdx.x; k < 400; k++) mine[k] = 1000 + k;
  out[blockIdx.x * 32 + threadIdx.x] = mine[which];
}
extern "C" __global__ void indexed(const int *a, int *out, int n) {
  int i = blockIdx.x * 32 + threadIdx.x;
  out[i] = a[(i + n) % 64] / n;
}
"""


def test_launches_of_one_shape_share_a_room_and_count_for_themselves() -> None:
    kernel, a, out = written(SOURCE, "indexed"), np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    first = kernel.launch(2, 32, a, out, 3)
    room = WORKER_STATES._free[-1]
    second = kernel.launch(2, 32, a, out, 5)
    assert WORKER_STATES._free[-1] is room
    assert np.array_equal(out, np.roll(a, -5) // 5)
    assert np.array_equal(first.trace.executed, second.trace.executed)
    third = kernel.launch(1, 32, a, out, 7)
    assert WORKER_STATES._free[-1] is not room
    assert 2 * third["smsp__inst_executed.sum"] == second["smsp__inst_executed.sum"]


def test_counts_are_those_of_their_launch_whenever_they_are_read() -> None:
    kernel, a, out = written(SOURCE, "leftovers"), np.zeros(64, np.int32), np.zeros(64, np.int32)
    long = kernel.launch(2, 32, out, 33, 1)
    short = kernel.launch(2, 32, a, 33, 0)
    assert long["smsp__inst_executed.sum"] > short["smsp__inst_executed.sum"]


def test_nothing_is_read_that_an_earlier_launch_wrote() -> None:
    kernel, out = written(SOURCE, "leftovers"), np.zeros(32, np.int32)
    assert kernel.local_bytes >= 1600
    kernel.launch(1, 32, out, 33, 1)
    assert (out == 1033).all()
    kernel.launch(1, 32, out, 33, 0)
    assert (out == 0).all()


def test_after_a_fault_the_next_launch_begins_as_any() -> None:
    kernel, a, out = written(SOURCE, "indexed"), np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    with pytest.raises(KernelFault):
        kernel.launch(3, 32, a, out, 3)  # out has room for two blocks
    kernel.launch(2, 32, a, out, 3)
    assert np.array_equal(out, np.roll(a, -3) // 3)


class Watched(np.ndarray):
    """An array that tells when it is gone."""


@pytest.fixture
def _no_collection() -> Iterator[None]:
    """To find cycles may take minutes."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("_no_collection")
@pytest.mark.parametrize("then", ["nothing", "checks", "predicts", "fails"])
def test_no_room_keeps_the_arrays_of_a_launch(then: str) -> None:
    a, out = np.arange(1 << 19, dtype=np.int32).view(Watched), np.zeros(64, np.int32)
    gone = weakref.ref(a)
    if then == "fails":
        with pytest.raises(KernelFault) as fault:
            written(SOURCE, "indexed").launch(3, 32, a, out, 3)
        del fault
    else:
        run = written(SOURCE, "indexed").launch(2, 32, a, out, 3, check=["all"] if then == "checks" else [])
        if then == "predicts":
            assert run.predict()
        del run
    del a
    assert gone() is None

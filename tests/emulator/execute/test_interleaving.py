"""Warps whose loops go through memory in long steps go abreast, a round at a time: results and counts stay."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import warplens as wl
from warplens.emulator.execute.grid import GridExecution
from warplens.emulator.execute.worker import Worker
from warplens.errors import KernelFault

pytestmark = pytest.mark.usefixtures("every_thread_works")

SOURCE = """
extern "C" {
__global__ void add(const float* x, const float* y, float* z, int n) {
  int stride = blockDim.x * gridDim.x;
  for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += stride) z[i] = x[i] + y[i];
}
__global__ void uneven(const float* x, const float* y, int* rounds, float* z, int n) {
  int stride = blockDim.x * gridDim.x, k = 0;
  for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += stride) {
    float here = x[i];
    z[i] = y[i];
    if (here < 0) break;
    k++;
  }
  atomicAdd(rounds, k);
}
__global__ void update(const float* x, float* z, int n) {
  int stride = blockDim.x * gridDim.x;
  for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += stride) z[i] += x[i];
}
__global__ void late(const float* x, float* z, int n, int last) {
  int stride = blockDim.x * gridDim.x;
  float before = blockIdx.x == last ? z[0] : 0;
  for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += stride) z[i] = x[i] + before;
}
__global__ void turned(const float* x, float* z, volatile int* ready, int n) {
  int stride = blockDim.x * gridDim.x;
  for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += stride) z[i] = x[i];
  if (blockIdx.x == 0) return;
  if (blockIdx.x + 1 < gridDim.x) while (!ready[blockIdx.x + 1]);
  ready[blockIdx.x] = 1;
}
__global__ void turned_by_atomics(const float* x, float* z, int* ready, int n) {
  int stride = blockDim.x * gridDim.x;
  for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += stride) z[i] = x[i];
  if (blockIdx.x == 0) return;
  if (blockIdx.x + 1 < gridDim.x) while (!atomicAdd(ready + blockIdx.x + 1, 0));
  atomicExch(ready + blockIdx.x, 1);
}
}
"""
TIERS = ("whole",)  # steps do not see how far loops go
N, GRID, BLOCK = 1 << 18, 64, 128  # 32 rounds


@pytest.fixture(scope="module")
def module() -> Any:
    return wl.compile(source=SOURCE, arch="sm_90")


@pytest.fixture
def abreast(monkeypatch: pytest.MonkeyPatch) -> list[Worker]:
    """The workers whose blocks went abreast."""
    gone: list[Worker] = []
    go = Worker.interleave_warps

    def noted(worker: Worker) -> None:
        gone.append(worker)
        go(worker)

    monkeypatch.setattr(Worker, "interleave_warps", noted)
    return gone


def numbers(seed: int, n: int = N) -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.random.default_rng(seed).random(n, np.float32)


def one_by_one(monkeypatch: pytest.MonkeyPatch, launch: Callable[[], wl.Run]) -> wl.Run:
    with monkeypatch.context() as patch:
        patch.setattr(GridExecution, "_prefers_interleaving", lambda grid, first: False)
        return launch()


def counts(run: wl.Run) -> dict[str, float]:
    return {name: metric.value for name, metric in run.metrics.items()}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("size", [N, N - 12_345])
def test_results_and_counts_are_those_of_one_warp_after_the_other(
    module: Any, monkeypatch: pytest.MonkeyPatch, abreast: list[Worker], threads: int, size: int
) -> None:
    x, y, z = numbers(1), numbers(2), np.zeros(N, np.float32)

    def launch() -> wl.Run:
        z[:] = 0
        return module["add"].launch(GRID, BLOCK, x, y, z, np.int32(size), threads=threads)

    expected = counts(one_by_one(monkeypatch, launch))
    assert not abreast
    assert counts(launch()) == expected
    assert len(abreast) == threads
    assert np.array_equal(z[:size], (x + y)[:size])
    assert not z[size:].any()


def test_lanes_may_leave_their_loops_at_different_rounds(
    module: Any, monkeypatch: pytest.MonkeyPatch, abreast: list[Worker]
) -> None:
    x, z, rounds = numbers(3), np.zeros(N, np.float32), np.zeros(1, np.int32)
    x[np.random.default_rng(4).integers(N // 2, N, 3000)] = -1

    def launch() -> wl.Run:
        z[:], rounds[:] = 0, 0
        return module["uneven"].launch(GRID, BLOCK, x, numbers(11), rounds, z, np.int32(N), threads=1)

    expected, result = counts(one_by_one(monkeypatch, launch)), z.copy()
    reached = int(rounds[0])
    assert counts(launch()) == expected
    assert abreast
    assert np.array_equal(z, result)
    assert 0 < rounds[0] == reached < N


def test_a_buffer_that_is_read_and_written_is_gone_through_in_order(module: Any, abreast: list[Worker]) -> None:
    x, z = numbers(5), numbers(6)
    expected = z + x
    module["update"].launch(GRID, BLOCK, x, z, np.int32(N), threads=1)
    assert np.array_equal(z, expected)
    assert not abreast


def test_where_a_later_block_reads_what_others_write_all_is_done_again_in_order(
    module: Any, abreast: list[Worker]
) -> None:
    x, z = numbers(7), np.zeros(N, np.float32)
    module["late"].launch(GRID, BLOCK, x, z, np.int32(N), np.int32(GRID - 1), threads=1)
    assert abreast
    expected = x.reshape(-1, GRID, BLOCK).copy()
    expected[:, GRID - 1] += x[0]
    assert np.array_equal(z, expected.ravel())


@pytest.mark.parametrize("name", ["turned", "turned_by_atomics"])
def test_blocks_that_wait_for_one_far_behind_them_end(module: Any, abreast: list[Worker], name: str) -> None:
    x, z, ready = numbers(8), np.zeros(N, np.float32), np.zeros(GRID, np.int32)
    module[name].launch(GRID, BLOCK, x, z, ready, np.int32(N), threads=1)
    assert abreast
    assert np.array_equal(z, x)
    assert ready[1:].all()


@pytest.mark.parametrize("threads", [1, 2])
def test_the_fault_is_the_first_in_order(
    module: Any, monkeypatch: pytest.MonkeyPatch, abreast: list[Worker], threads: int
) -> None:
    x, y = numbers(9), numbers(10)

    def launch() -> tuple[str, Any]:
        z = np.zeros(N - 100, np.float32)
        with pytest.raises(KernelFault) as fault:
            module["add"].launch(GRID, BLOCK, x, y, z, np.int32(N), threads=threads)
        return str(fault.value), z

    with monkeypatch.context() as patch:
        patch.setattr(GridExecution, "_prefers_interleaving", lambda grid, first: False)
        told, expected = launch()
    again, z = launch()
    assert abreast
    assert again == told
    assert np.array_equal(z, expected)

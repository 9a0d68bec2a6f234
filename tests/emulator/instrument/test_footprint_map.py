"""Blocks that update an array in place run on several threads, and leave what blocks in order would have left."""

from __future__ import annotations

from collections.abc import Iterator
from ctypes import addressof
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from helpers.kernel_launches import written
from warplens.emulator.execute import grid, tiering
from warplens.emulator.execute.outcome import Finished, Outcome
from warplens.emulator.execute.worker import Worker
from warplens.emulator.execute.worker_driver import Chunk, WorkerDriver
from warplens.emulator.instrument import footprint_map
from warplens.emulator.instrument.footprint_map import FootprintMap, can_be_mapped
from warplens.emulator.jit.native_code import NativeCode
from warplens.emulator.memory.device_memory import Allocation
from warplens.emulator.state.structs import WorkerEnv
from warplens.run import Run

TIERS = ("whole",)
BLOCKS, BLOCK = 40, 64
N = BLOCKS * BLOCK
SOURCE = """
#define I int i = blockIdx.x * blockDim.x + threadIdx.x
template <class T> __device__ void twice(T *a, int n) { I; if (i < n) a[i] += a[i]; }
extern "C" __global__ void words(int *a, int n) { twice(a, n); }
extern "C" __global__ void doubles(double *a, int n) { twice(a, n); }
extern "C" __global__ void halves(short *a, int n) { twice(a, n); }
extern "C" __global__ void bytes(signed char *a, int n) { twice(a, n); }
extern "C" __global__ void fours(int4 *a, int n) {
  I; if (i < n) { int4 v = a[i]; a[i] = make_int4(v.x + v.w, v.y * 3, v.z - v.x, v.w + 1); }
}
extern "C" __global__ void scattered(int *a, const int *p, int n) { I; if (i < n) a[p[i]] += i; }
extern "C" __global__ void columns(int *a, int n) { I; int k = i % 40 * 64 + i / 40; a[k] = a[k] * 5 + i; }
extern "C" __global__ void shared_scale(float *a, int n) {  // every block loads a[n], which none stores
  I; if (i < n) a[i] = a[i] * a[n];
}
extern "C" __global__ void earlier(int *a, int n) { I; a[i] += i < 128 ? 1 : a[i - 128]; }
extern "C" __global__ void later(int *a, int n) { I; a[i] = a[(i + 64) % n] + 1; }
extern "C" __global__ void same_word(int *a, int n) { I; if (threadIdx.x == 0) a[0] = a[0] * 3 + i; }
extern "C" __global__ void only_last(int *a, int n) {  // the first blocks do not show it
  I; a[i] += 1;
  if (blockIdx.x == gridDim.x - 1) a[i] += a[threadIdx.x * 32];
}
extern "C" __global__ void late_atomics(float *a, int n) {  // their order shows, and the maps do not have it
  I; a[i] += 1;
  if (blockIdx.x > gridDim.x / 2) atomicAdd(a + threadIdx.x, 1.0f / i);
}
extern "C" __global__ void allocates(long long *a, int n) {
  I; void *some = threadIdx.x ? 0 : malloc(16);
  a[i] += (long long)some;
}
extern "C" __global__ void polls(volatile int *a, int n) { I; while (a[0] == 1) { } a[i] = 2; }
"""


@pytest.fixture(autouse=True)
def _threads_always_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiering, "MIN_MAPPED_SECONDS", 0.0)
    monkeypatch.setattr(tiering, "COMPILE_SECONDS", 0.0)
    monkeypatch.setattr(tiering, "_dependent", set())


@pytest.fixture(autouse=True)
def _threads_share_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Worker k takes chunks k, k + 3 ..., one worker after the other: which threads run which blocks is fixed."""
    usual = WorkerDriver.drive

    def shared(
        self: WorkerDriver, code: NativeCode, workers: list[Worker], chunks: list[Chunk], finish: bool
    ) -> Outcome:
        if len(workers) == 1:
            return usual(self, code, workers, chunks, finish)
        for number, worker in reversed(list(enumerate(workers))):
            outcome = usual(self, code, [worker], chunks[number :: len(workers)], finish)
            assert isinstance(outcome, Finished)
        return Finished(tuple(workers))

    monkeypatch.setattr(WorkerDriver, "drive", shared)


@pytest.fixture
def conflicts(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bool]]:
    """What was found of each launch whose threads had maps."""
    found: list[bool] = []

    def noted(*arguments: Any) -> bool:
        found.append(footprint_map.conflict(*arguments))
        return found[-1]

    monkeypatch.setattr(grid, "conflict", noted)
    return found


def counts(run: Run) -> dict[str, list[Any]]:
    values = {f.name: getattr(run.trace, f.name) for f in fields(run.trace)}
    return {name: value.tolist() for name, value in values.items() if isinstance(value, np.ndarray)}


def compare(name: str, *arrays: NDArray[Any], n: int = N) -> None:
    """One thread and three: the same memory, and the same counts."""
    results = []
    for threads in (1, 3):
        copies = [array.copy() for array in arrays]
        run = written(SOURCE, name).launch(BLOCKS, BLOCK, *copies, n, threads=threads)
        results.append((copies, counts(run)))
    (first, counted), (second, again) = results
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)
    assert len(counted) >= 10
    assert counted == again


@pytest.mark.parametrize(
    ("name", "kind"), [("words", np.int32), ("doubles", np.float64), ("halves", np.int16), ("bytes", np.int8)]
)
@pytest.mark.parametrize("n", [N, N - 13])
def test_independent_blocks(name: str, kind: type[Any], n: int, conflicts: list[bool]) -> None:
    compare(name, np.arange(N).astype(kind), n=n)
    assert conflicts == [False]


def test_wide_accesses(conflicts: list[bool]) -> None:
    compare("fours", np.arange(4 * N, dtype=np.int32))
    assert conflicts == [False]


def test_scattered_words(conflicts: list[bool]) -> None:
    compare("scattered", np.arange(N, dtype=np.int32), np.random.default_rng(3).permutation(N).astype(np.int32))
    compare("columns", np.arange(N, dtype=np.int32))
    assert conflicts == [False, False]


def test_what_all_blocks_load_and_none_stores(conflicts: list[bool]) -> None:
    compare("shared_scale", np.arange(N + 1, dtype=np.float32))
    assert conflicts == [False]


@pytest.mark.parametrize("name", ["earlier", "later", "same_word", "only_last"])
def test_dependent_blocks_run_in_order(name: str, conflicts: list[bool]) -> None:
    compare(name, np.arange(N, dtype=np.int32))
    assert conflicts == [True]
    compare(name, np.arange(N, dtype=np.int32))
    assert conflicts == [True]  # not tried again


def test_scattered_words_of_two_blocks(conflicts: list[bool]) -> None:
    places = np.random.default_rng(3).permutation(N).astype(np.int32)
    places[-3:] = places[[70, 500, 1000]]
    compare("scattered", np.arange(N, dtype=np.int32), places)
    assert conflicts == [True]


def test_what_is_compared_at_a_time_does_not_matter(monkeypatch: pytest.MonkeyPatch, conflicts: list[bool]) -> None:
    monkeypatch.setattr(footprint_map, "AT_A_TIME", 16)
    compare("columns", np.arange(N, dtype=np.int32))
    compare("later", np.arange(N, dtype=np.int32))
    assert conflicts == [False, True]


def test_atomics_that_show_late_run_in_order(conflicts: list[bool]) -> None:
    compare("late_atomics", np.arange(N, dtype=np.float32))
    assert conflicts == []  # nothing is compared: atomics are in no map


def test_kernels_that_call_malloc_are_not_tried(conflicts: list[bool]) -> None:
    compare("allocates", np.arange(N))
    assert conflicts == []


def test_what_runs_again_in_order_marks_no_maps(monkeypatch: pytest.MonkeyPatch) -> None:
    codes: list[tuple[int, NativeCode]] = []
    drive = WorkerDriver.drive

    def noted(
        self: WorkerDriver, code: NativeCode, workers: list[Worker], chunks: list[Chunk], finish: bool
    ) -> Outcome:
        codes.append((len(workers), code))
        return drive(self, code, workers, chunks, finish)

    monkeypatch.setattr(WorkerDriver, "drive", noted)
    written(SOURCE, "later").launch(BLOCKS, BLOCK, np.arange(N, dtype=np.int32), N, threads=3)
    (_, usual), *_, (several, marking), (alone, again) = codes
    assert (several, alone) == (3, 1)
    assert again is usual is not marking


def test_blocks_that_wait_for_each_other_are_not_tried() -> None:
    assert not can_be_mapped(written(SOURCE, "polls").program)
    assert can_be_mapped(written(SOURCE, "words").program)


def test_pages_that_no_block_touches_take_no_memory() -> None:
    env = WorkerEnv()
    made = FootprintMap(env, [Allocation("a", 1 << 40, 1 << 36, np.zeros(0), 0)])
    assert env.footprint == addressof(made.record)
    assert made.read.nbytes >= (1 << 36) // 32
    assert made.record.low == 1 << 40

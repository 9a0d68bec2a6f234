"""Several threads work where there is enough to do; whoever does it, all is done and counted once."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

from helpers.kernel_launches import written
from warplens.emulator.execute import grid
from warplens.emulator.execute.grid import GridExecution
from warplens.emulator.execute.outcome import Outcome
from warplens.emulator.execute.worker import Worker
from warplens.emulator.execute.worker_driver import Chunk

pytestmark = pytest.mark.usefixtures("every_thread_works")

SOURCE = """
extern "C" __global__ void squared(const int *a, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] * a[i];
}
extern "C" __global__ void strided(const int *a, int *out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = a[i] * a[i];
}
"""
N = 1 << 18


@pytest.fixture
def drives(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int, int]]:
    """(workers, first block, blocks) of each piece of a launch."""
    seen: list[tuple[int, int, int]] = []
    drive = GridExecution.drive

    def noted(self: GridExecution, workers: list[Worker], chunks: list[Chunk], finish: bool = True) -> Outcome:
        seen.append((len(workers), chunks[0][0], sum(count for _, count in chunks)))
        return drive(self, workers, chunks, finish)

    monkeypatch.setattr(GridExecution, "drive", noted)
    return seen


@pytest.mark.parametrize(("kernel", "blocks"), [("squared", N // 256), ("strided", 64)])
@pytest.mark.parametrize(
    ("pays", "probe", "expected"),
    [
        (0.0, 0.0, [(1, 0, 1), (2, 1, -1)]),  # at once
        (1e-9, 0.0, [(1, 0, 1), (1, 1, 3), (2, 4, -4)]),  # as soon as something is known
        (1e-9, inf, [(1, 0, 1), (1, 1, 3), (1, 4, 12), (1, 16, 48)]),  # nothing ever is
        (inf, 0.0, [(1, 0, 1), (1, 1, 3), (1, 4, 12), (1, 16, 48)]),  # never enough to do
    ],
)
def test_another_thread_is_asked_where_that_pays(
    drives: list[tuple[int, int, int]], monkeypatch: pytest.MonkeyPatch,
    kernel: str, blocks: int, pays: float, probe: float, expected: list[tuple[int, int, int]],
) -> None:  # fmt: skip
    a, out, alone = np.arange(N, dtype=np.int32), np.zeros(N, np.int32), np.zeros(N, np.int32)
    squared = written(SOURCE, kernel)
    one = squared.launch(blocks, 256, a, alone, N, threads=1)
    drives.clear()
    monkeypatch.setattr(grid, "MIN_PARALLEL_SECONDS", pays)
    monkeypatch.setattr(grid, "PROBE_SECONDS", probe)
    run = squared.launch(blocks, 256, a, out, N, threads=2)
    wanted = [(workers, first, count if count > 0 else blocks + count) for workers, first, count in expected]
    assert drives[: len(expected)] == wanted
    assert sum(count for _, _, count in drives) == blocks
    assert np.array_equal(out, alone)
    assert np.array_equal(out, a * a)
    assert {n: m.value for n, m in run.metrics.items()} == {n: m.value for n, m in one.metrics.items()}

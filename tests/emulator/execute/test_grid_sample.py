"""A sample of blocks: exact where blocks are alike, close where they are not, and never called exact."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import warplens as wl
from warplens.core.launch import Launch
from warplens.emulator.execute.grid_sample import sample_of

pytestmark = pytest.mark.usefixtures("every_thread_works")

SOURCE = """
extern "C" __global__ void alike(float* o, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) o[i] = 2.0f * i;
}
extern "C" __global__ void edges(float* o, int width) {  // blocks of the left column do more
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  float s = x;
  if (blockIdx.x == 0) for (int k = 0; k < 100; k++) s = s * 1.5f + y;
  o[y * width + x] = s;
}
extern "C" __global__ void chain(volatile int* turn) {  // each block waits for the one before it
  if (threadIdx.x == 0) { while (turn[0] != blockIdx.x) ; turn[0] = blockIdx.x + 1; }
}
extern "C" __global__ void twice(int* o) { o[blockIdx.x] = o[blockIdx.x] + 1; }
"""


@pytest.fixture(scope="module")
def module() -> wl.Module:
    return wl.compile(source=SOURCE)


def counts(run: wl.Run) -> Mapping[str, float]:
    return {name: m.value for name, m in run.metrics.items() if m.unit in ("inst", "sector", "request", "byte")}


@pytest.mark.parametrize("threads", [1, 2])
def test_blocks_that_are_alike(module: wl.Module, threads: int) -> None:
    """The last block has a tail; it counts for itself."""
    n = 128 * 1000 - 77
    arrays = np.zeros(n, np.float32), np.zeros(n, np.float32)
    whole, some = (
        module["alike"].launch(1000, 128, a, np.int32(n), threads=threads, sample=s)
        for a, s in zip(arrays, (None, 12), strict=True)
    )
    assert counts(some) == counts(whole)
    assert {m.provenance for m in whole.metrics.values()} >= {"exact"}
    assert some.metrics["smsp__inst_executed.sum"].provenance == "sampled"
    assert some.metrics["smsp__inst_executed.sum"].value == whole["smsp__inst_executed.sum"]
    assert some.trace.blocks_run == 12
    assert np.array_equal(arrays[0][:128], arrays[1][:128])
    assert np.count_nonzero(arrays[1]) < 12 * 128  # what no block of the sample wrote stays as it was


def test_a_column_of_blocks_is_not_missed(module: wl.Module) -> None:
    """A sixteenth of the blocks stands in the left column, at a distance that equal steps would hit always or never."""
    o = np.zeros(16 * 32 * 256, np.float32)
    whole, some = (module["edges"].launch((16, 256), 32, o, np.int32(16 * 32), sample=s) for s in (None, 258))
    name = "smsp__inst_executed.sum"
    assert some[name] == pytest.approx(whole[name], rel=0.25)
    assert some[name] != whole[name]


def test_results_do_not_depend_on_threads(module: wl.Module) -> None:
    one, two = (module["twice"].launch(5000, 64, np.zeros(5000, np.int32), threads=t, sample=100) for t in (1, 2))
    assert dict(one.metrics) == dict(two.metrics)


def test_a_sample_of_the_whole_grid_is_exact(module: wl.Module) -> None:
    run = module["alike"].launch(10, 128, np.zeros(1280, np.float32), np.int32(1280), sample=10)
    assert run.metrics["smsp__inst_executed.sum"].provenance == "exact"


def test_blocks_that_wait_for_others(module: wl.Module) -> None:
    with pytest.raises(wl.KernelFault, match=r"only 4 of 100 blocks were run"):
        module["chain"].launch(100, 32, np.zeros(1, np.int32), sample=4, budget=100_000)


def test_refusals(module: wl.Module) -> None:
    with pytest.raises(wl.UsageError, match="3 are needed"):
        module["twice"].launch(50, 64, np.zeros(50, np.int32), sample=2)
    with pytest.raises(wl.UsageError, match="cooperative"):
        sample_of(Launch((50, 1, 1), (32, 1, 1), cooperative=True), 5)


@pytest.mark.parametrize(("blocks", "wanted"), [(4, 3), (10, 7), (1000, 12), (1 << 20, 999), (2**31 - 1, 50)])
def test_which_blocks(blocks: int, wanted: int) -> None:
    sample = sample_of(Launch((blocks, 1, 1), (32, 1, 1)), wanted)
    assert sample is not None
    inner: Any = np.array(sample.inner)
    assert sample.size == wanted
    assert inner.min() > 0
    assert inner.max() < blocks - 1
    assert (np.diff(inner) > 0).all()
    assert np.diff(inner, prepend=0, append=blocks - 1).max() <= 2 * (blocks / (wanted - 2) + 1)


def test_first_and_last_block_are_in_every_sample() -> None:
    source = 'extern "C" __global__ void mark(int* ran) { ran[blockIdx.x] = 1; }'
    ran = np.zeros(100, np.int32)
    run = wl.compile(source=source)["mark"].launch(100, 1, ran, sample=5)
    assert run.trace.blocks_run == ran.sum() == 5
    assert ran[0] == ran[99] == 1

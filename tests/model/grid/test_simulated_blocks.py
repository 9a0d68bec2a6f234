"""Which blocks are simulated: a block that takes far longer than all others is among them."""

from __future__ import annotations

import heapq

import numpy as np
import pytest

import warplens as wl
from warplens.machine import machine
from warplens.model.grid.simulated_blocks import choose_blocks
from warplens.run import launch_model

SOURCE = """
extern "C" __global__ void uneven(float* out, int heavy) {
    int turns = blockIdx.x == heavy ? 200000 : 10;
    float x = threadIdx.x;
    for (int i = 0; i < turns; i++) x = x * 0.5f + 1.0f;
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
"""
SMS = machine("h200").multiprocessors
LATENCY = 4  # cycles from one FFMA to the next that needs it, at least


@pytest.fixture(scope="module")
def uneven() -> wl.Kernel:
    return wl.compile(source=SOURCE)["uneven"]


@pytest.mark.parametrize("blocks", [100, 4096, 40_000])
def test_a_launch_lasts_as_long_as_its_longest_block(uneven: wl.Kernel, blocks: int) -> None:
    out = np.zeros(blocks * 64, np.float32)
    least = LATENCY * 200_000 / machine("h200").boost_megahertz
    times = [uneven.launch(blocks, 64, out, heavy).predict("h200").time_us for heavy in (7, blocks - 2)]
    assert least < min(times) <= max(times) < 1.3 * least


def test_without_it_the_launch_is_short(uneven: wl.Kernel) -> None:
    out = np.zeros(4096 * 64, np.float32)
    assert uneven.launch(4096, 64, out, -1).predict("h200").time_us < 10


SLOPE = """
extern "C" __global__ void slope(float* out, int down) {
    extern __shared__ float room[];
    int turns = 300 * (down ? gridDim.x - blockIdx.x : blockIdx.x + 1);
    float x = threadIdx.x;
    for (int i = 0; i < turns; i++) x = x * 0.5f + 1.0f;
    if (threadIdx.x == 0) out[blockIdx.x] = x;
}
"""


def makespan(lengths: list[float], slots: int) -> float:
    """Each block goes to the first slot that is free."""
    ends = [0.0] * slots
    for length in lengths:
        heapq.heapreplace(ends, ends[0] + length)
    return max(ends)


@pytest.mark.parametrize("blocks", [200, 264, 330])
def test_uneven_blocks_go_to_the_first_free_sm(blocks: int) -> None:
    """One block an SM: the launch ends with the SM that is dealt a long one last."""
    kernel, out = wl.compile(source=SLOPE)["slope"], np.zeros(blocks, np.float32)
    up, down = (
        kernel.launch(blocks, 32, out, direction, shared=200 << 10).predict("h200") for direction in (0, 1)
    )  # fmt: skip
    lengths = [float(n) for n in range(1, blocks + 1)]
    wanted = makespan(lengths, SMS) / makespan(lengths[::-1], SMS)
    assert wanted > 1.1
    cycles = [each.metrics["gpc__cycles_elapsed.max"].value for each in (up, down)]
    assert cycles[0] / cycles[1] == pytest.approx(wanted, rel=0.04)


def test_instructions_of_blocks_are_those_of_their_loops(uneven: wl.Kernel) -> None:
    found = uneven.launch(300, 64, np.zeros(300 * 64, np.float32), 7).trace.block_instructions
    assert np.flatnonzero(found).tolist() == [7]
    assert 200_000 < found[7] < 2_000_000


def test_with_less_effort_fewer_blocks_are_sampled_and_simulated(uneven: wl.Kernel) -> None:
    out = np.zeros(40_000 * 64, np.float32)
    run = uneven.launch(40_000, 64, out, -1)
    usual, quick, least = (
        choose_blocks(run.trace, machine("h200"), run.occupancy, effort) for effort in (1.0, 0.1, 0.0001)
    )
    assert (len(usual.sample), len(quick.sample)) == (2048, 204)
    assert quick.blocks == usual.blocks  # these are few instructions
    assert least.blocks == usual.blocks[: 3 * run.occupancy.blocks]
    quickly = launch_model(run, effort=0.1).prediction().time_us
    assert quickly == pytest.approx(run.predict().time_us, rel=0.02)

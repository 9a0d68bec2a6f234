"""run.steps(): the addresses that lanes reach, and where they go."""

from __future__ import annotations

import numpy as np
import pytest

import warplens as wl

SOURCE = """
extern "C" __global__ void spread(const float* in, float2* out, int n) {
  __shared__ float turned[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  turned[63 - threadIdx.x] = in[3 * i];
  out[i] = make_float2(turned[63 - threadIdx.x], 1);
}
"""


@pytest.fixture(scope="module")
def run() -> wl.Run:
    x, y = np.zeros(3 * 100, np.float32), np.zeros((100, 2), np.float32)
    return wl.compile(source=SOURCE)["spread"].launch(2, 64, x, y, np.int32(100))


def test_each_lane_reaches_what_the_source_says(run: wl.Run) -> None:
    from warplens.emulator import LaneAccess

    x, y = (allocation.address for allocation in run.again.memory.allocations[:2])  # type: ignore[union-attr]
    reached = [step for step in run.steps([1]) if isinstance(step, LaneAccess) and step.warp == 0]
    loads, shared, stores = (
        [s for s in reached if s.space == "global" and s.bytes == 4],
        [s for s in reached if s.space == "shared"],
        [s for s in reached if s.bytes == 8],
    )
    assert [s.reached for s in loads] == [{lane: x + 12 * (64 + lane) for lane in range(32)}]
    assert shared[0].reached == {lane: 4 * (63 - lane) for lane in range(32)}
    assert [s.reached for s in stores] == [{lane: y + 8 * (64 + lane) for lane in range(32)}]


def test_lanes_that_are_switched_off_reach_nothing(run: wl.Run) -> None:
    from warplens.emulator import BlockEntry, LaneAccess

    last = [step for step in run.steps([1]) if step.warp == 1]
    assert {len(s.reached) for s in last if isinstance(s, LaneAccess)} == {4}  # threads 96 to 99 of 128
    assert last[0] == BlockEntry(1, 1, 0, 0xFFFFFFFF)


def test_blocks_that_are_not_there_are_refused(run: wl.Run) -> None:
    with pytest.raises(wl.UsageError, match="there is no block 2; the grid has blocks 0 to 1"):
        run.steps([2])

"""Lane columns: neighbouring blocks share columns, so that lanes read neighbours."""

from __future__ import annotations

import numpy as np
import pytest

from transform.launched import before_and_after
from transform.proposals import changes_of, diffs, refusals
from warplens.transform import LaunchFacts
from warplens.transform.access.lane_columns import lane_columns

DOWN = """\
__global__ void f(const float* in, float* out, int w, int h) {
  int x = blockIdx.y, y = blockIdx.x * blockDim.x + threadIdx.x;
  if (y >= h) return;
  out[y * w + x] = in[y * w + x] + in[max(y - 1, 0) * w + x];
}
"""
BLOCKS = """\
__global__ void f(const float* in, float* out, int w, int h) {
  int x = blockIdx.x;
  int y = threadIdx.x;
  out[y * w + x] = 2 * in[y * w + x];
}
"""
LAUNCH = LaunchFacts((2, 96, 1), (64, 1, 1))


def test_the_diff() -> None:
    assert diffs(lane_columns, DOWN, LAUNCH) == ["""\
-  int x = blockIdx.y, y = blockIdx.x * blockDim.x + threadIdx.x;
+  int x = blockIdx.y / 32 * 32 + threadIdx.x % 32, y = blockIdx.x * blockDim.x + \
blockIdx.y % 32 * (blockDim.x / 32) + threadIdx.x / 32;"""]  # fmt: skip


@pytest.mark.parametrize(("source", "launch"), [(DOWN, LAUNCH), (BLOCKS, LaunchFacts((96, 1, 1), (128, 1, 1)))])
def test_every_element_is_computed(source: str, launch: LaunchFacts) -> None:
    x = np.random.default_rng(1).random(96 * 128, np.float32)
    (change,) = changes_of(lane_columns, source, launch)
    before, after = before_and_after(source, change, launch, [x, np.zeros_like(x), np.int32(96), np.int32(110)])
    assert before[1].any()
    assert before[1].tobytes() == after[1].tobytes()


def test_no_whole_warps_of_columns() -> None:
    ((line, reason),) = refusals(lane_columns, DOWN, LaunchFacts((2, 90, 1), (64, 1, 1)))
    assert line == 2
    assert reason == "lanes keep to their column: 90 blocks and 64 threads are no whole warps of columns"


def test_what_knows_its_block() -> None:
    ((_, reason),) = refusals(lane_columns, DOWN.replace("+ in[", "* blockIdx.y + in["), LAUNCH)
    assert reason == "lanes keep to their column: blockIdx is used besides"

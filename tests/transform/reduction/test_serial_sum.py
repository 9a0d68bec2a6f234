"""Serial sum: what thread 0 adds up alone becomes a tree."""

from __future__ import annotations

import numpy as np
import pytest

from transform.launched import before_and_after
from transform.proposals import changes_of, diffs, facts, refusals
from warplens.transform.reduction.serial_sum import serial_sum

SUM = """\
__global__ void f(const int* in, int* out, int n) {
  __shared__ int part[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  part[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    int sum = 0;
    for (int k = 0; k < 256; k++) sum += part[k];
    atomicAdd(out, sum);
  }
}
"""
LAUNCH = facts(1056, 256, numbers={"n": 270_000})


def test_the_tree_and_the_tree_over_several_elements() -> None:
    tree, eight, four = changes_of(serial_sum, SUM, LAUNCH)
    assert (
        diffs(serial_sum, SUM, LAUNCH)[0]
        == """\
+  for (int s = 128; s > 0; s /= 2) {
+    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
+    __syncthreads();
+  }
-    for (int k = 0; k < 256; k++) sum += part[k];
+    sum += part[0];"""
    )
    assert (tree.effect, eight.launch.grid_over, four.launch.grid_over) == ("order", (8, 1, 1), (4, 1, 1))
    given = [np.arange(270_000, dtype=np.int32), np.zeros(1, np.int32), np.int32(270_000)]
    for change in (tree, eight, four):
        before, after = before_and_after(SUM, change, LAUNCH, given)
        assert before[1] == after[1] != 0


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        ("  __syncthreads();\n", "", 7, "no barrier stands before it"),
        ("sum += part[k]", "sum += part[k] * k", 8, "the loop is more than the sum of an array in shared memory"),
        ("(out, sum)", "(out, sum + part[1])", 9, "part is used afterwards"),
    ],
)
def test_what_else_one_thread_does_stays(old: str, new: str, line: int, reason: str) -> None:
    found = refusals(serial_sum, SUM.replace(old, new), LAUNCH)
    assert found == [(line, f"one thread goes on to add up alone: {reason}")]

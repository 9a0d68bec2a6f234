"""Serial loop: thread 0's loops are shared by its block."""

from __future__ import annotations

import numpy as np
import pytest

from transform.launched import before_and_after
from transform.proposals import changes_of, diffs, facts, refusals
from warplens.transform.reduction.serial_loop import serial_loop

NORM = """\
__global__ void f(const float* x, float* y, int n) {
  __shared__ float mean, var;
  const float* row = x + blockIdx.x * n;
  if (threadIdx.x == 0) {
    float sum = 0;
    for (int i = 0; i < n; ++i) sum += row[i];
    mean = sum / n;
    var = 0;
    for (int i = 0; i < n; ++i) {
      float d = row[i] - mean;
      var += d * d;
    }
    var = rsqrtf(var / n + 1e-5f);
  }
  __syncthreads();
  for (int j = threadIdx.x; j < n; j += blockDim.x) y[blockIdx.x * n + j] = (row[j] - mean) * var;
}
"""
LAUNCH = facts(5, 64)


def test_the_loops_are_shared() -> None:
    (change,) = changes_of(serial_loop, NORM, LAUNCH)
    assert (change.title, change.effect) == ("all threads share the loop over i, not thread 0 alone", "order")
    added = [line for line in diffs(serial_loop, NORM, LAUNCH)[0].split("\n") if line.startswith("+")]
    assert added[:4] == [
        "+  float sum = 0;",
        "+  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += row[i];",
        "+  __shared__ float sum_of_thread[64];",
        "+  sum_of_thread[threadIdx.x] = sum;",
    ]
    place = added.index("+  if (threadIdx.x == 0) mean = sum / n;")
    assert added[place + 1 : place + 3] == ["+  __syncthreads();", "+  if (threadIdx.x == 0) var = 0;"]
    assert added[-1] == "+  if (threadIdx.x == 0) var = rsqrtf(var / n + 1e-5f);"


def test_the_results_are_the_same() -> None:
    x = np.random.default_rng(1).random(5 * 100, np.float32)
    (change,) = changes_of(serial_loop, NORM, LAUNCH)
    before, after = before_and_after(NORM, change, LAUNCH, [x, np.zeros_like(x), np.int32(100)])
    assert before[1].any()
    assert np.allclose(before[1], after[1], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("sum += row[i];", "sum += row[i] * threadIdx.x;", "threadIdx is another one in other threads"),
        ("  const float", "  if (n < 3) return;\n  const float", "threads leave before it"),
        ("  if (threadIdx.x == 0) {\n    float sum = 0;", "  float sum = 0;\n  if (threadIdx.x == 0) {",
         "sum is kept by thread 0"),
        ("  const float* row = x +", "  y[blockIdx.x * n] = 1;\n  const float* row = y +",
         "no barrier stands before it, and y is written to"),
    ],
)  # fmt: skip
def test_what_only_thread_0_can_do(old: str, new: str, reason: str) -> None:
    ((_, said),) = refusals(serial_loop, NORM.replace(old, new, 1), LAUNCH)
    assert said == f"one thread goes on alone: {reason}"


def test_a_block_of_96_threads_is_not_halved() -> None:
    ((_, reason),) = refusals(serial_loop, NORM, facts(5, 96))
    assert reason == "one thread goes on alone: a block of 96 threads is not halved evenly"

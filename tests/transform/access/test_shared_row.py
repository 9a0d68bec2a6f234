"""Shared row: what a thread reads again in each round is loaded once."""

from __future__ import annotations

import numpy as np

from transform.launched import before_and_after
from transform.proposals import changes_of, diffs, facts, refusals
from warplens.transform.access.shared_row import shared_row

NEAREST = """\
__global__ void f(const float* points, const float* centers, int* label, int n, int k, int d) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float best = 1e30f;
  for (int c = 0; c < k; ++c) {
    float dist = 0;
    for (int j = 0; j < d; ++j) {
      float diff = points[i * d + j] - centers[c * d + j];
      dist += diff * diff;
    }
    if (dist < best) {
      best = dist;
      label[i] = c;
    }
  }
}
"""
LAUNCH = facts(3, 64, numbers={"n": 150, "k": 7, "d": 5})


def test_the_diff() -> None:
    assert diffs(shared_row, NEAREST, LAUNCH) == ["""\
+  __shared__ float own_points[5][64];
+  for (int j = 0; j < d; ++j) own_points[j][threadIdx.x] = points[i * d + j];
-      float diff = points[i * d + j] - centers[c * d + j];
+      float diff = own_points[j][threadIdx.x] - centers[c * d + j];"""]  # fmt: skip
    (change,) = changes_of(shared_row, NEAREST, LAUNCH)
    assert (change.effect, change.promise) == ("exact", "blocks of at most 64 threads, and d is at most 5")


def test_the_labels_are_the_same() -> None:
    made = np.random.default_rng(1)
    arrays = [made.random(150 * 5, np.float32), made.random(7 * 5, np.float32), np.zeros(150, np.int32)]
    (change,) = changes_of(shared_row, NEAREST, LAUNCH)
    before, after = before_and_after(NEAREST, change, LAUNCH, [*arrays, np.int32(150), np.int32(7), np.int32(5)])
    assert before[2].any()
    assert before[2].tobytes() == after[2].tobytes()


def test_what_changes_in_the_loop_is_loaded_again() -> None:
    stored = NEAREST.replace("const float* points", "float* points").replace("label[i] = c;", "points[i] = c;")
    assert changes_of(shared_row, stored, LAUNCH) == []
    assert changes_of(shared_row, NEAREST.replace("i * d + j", "(i + c) * d + j"), LAUNCH) == []


def test_a_row_that_does_not_fit() -> None:
    reason = "points[i * d + j] is loaded again each time: 64,000 bytes a block do not fit into shared memory"
    assert refusals(shared_row, NEAREST, facts(3, 64, numbers={"d": 250})) == [(8, reason)]

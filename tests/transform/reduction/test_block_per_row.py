"""Block per row: a block's threads share the loop along a row."""

from __future__ import annotations

import numpy as np

from transform.launched import before_and_after
from transform.proposals import changes_of, diffs, facts, refusals
from warplens.transform.reduction.block_per_row import block_per_row

MEANS = """\
__global__ void f(const float* x, float* mean, int batch, int channels, int size) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= channels) return;
  float sum = 0;
  for (int b = 0; b < batch; b++)
    for (int s = 0; s < size; s++) sum += x[(b * channels + c) * size + s];
  mean[c] = sum / (batch * size);
}
"""
LAUNCH = facts(2, 32, numbers={"channels": 50})


def test_the_outer_or_the_inner_loop_is_shared() -> None:
    outer, inner = changes_of(block_per_row, MEANS, LAUNCH)
    assert inner.title == "a block for each c: its threads share the loop over s"
    assert (inner.launch.block, inner.launch.grid_of((2, 1, 1))) == ((256, 1, 1), (64, 1, 1))
    assert outer.title.endswith("over b")
    assert (
        diffs(block_per_row, MEANS, LAUNCH)[1]
        == """\
-  int c = blockIdx.x * blockDim.x + threadIdx.x;
+  int c = blockIdx.x;
-    for (int s = 0; s < size; s++) sum += x[(b * channels + c) * size + s];
-  mean[c] = sum / (batch * size);
+    for (int s = threadIdx.x; s < size; s += blockDim.x) sum += x[(b * channels + c) * size + s];
+  __shared__ float sum_of_thread[256];
+  sum_of_thread[threadIdx.x] = sum;
+  __syncthreads();
+  for (int half = blockDim.x / 2; half > 0; half /= 2) {
+    if (threadIdx.x < half) sum_of_thread[threadIdx.x] += sum_of_thread[threadIdx.x + half];
+    __syncthreads();
+  }
+  sum = sum_of_thread[0];
+  if (threadIdx.x == 0) mean[c] = sum / (batch * size);"""
    )


def test_the_means_are_the_same() -> None:
    x = np.random.default_rng(1).random(3 * 50 * 70, np.float32)
    arguments = [x, np.zeros(50, np.float32), np.int32(3), np.int32(50), np.int32(70)]
    for change in changes_of(block_per_row, MEANS, LAUNCH):
        before, after = before_and_after(MEANS, change, LAUNCH, arguments)
        assert before[1].all()
        assert np.allclose(before[1], after[1], rtol=1e-5)


def test_too_many_rows() -> None:
    reason = "no block for each row: there would be 256,000 blocks"
    assert refusals(block_per_row, MEANS, facts()) == [(5, reason)]

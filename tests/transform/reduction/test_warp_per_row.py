"""Warp per row: a loop along the row of a thread becomes one that the lanes of a warp share."""

from __future__ import annotations

import numpy as np
import pytest

from transform.launched import before_and_after
from transform.proposals import changes_of, diffs, facts, refusals
from warplens.transform.reduction.warp_per_row import warp_per_row

SUM = """\
__global__ void f(const float* in, float* out, int n, int width) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  float s = 0;
  for (int k = 0; k < width; ++k) s += in[row * width + k];
  out[row] = s;
}
"""
PRODUCT = """\
__global__ void f(float *a, float *x, float *y, float *z, int n) {
    int i = threadIdx.x + blockDim.x * blockIdx.x;
    if (i < n) {
        int j;
        y[i] = 0;
#pragma unroll 4
        for (j = 0; j < n; j++) {
            y[i] += a[i * n + j] * x[j];
            z[i] += a[i * n + j];
        }
        y[i] = 2 * y[i];
    }
}
"""
SOFTMAX = """\
__global__ void f(const int* first, const double* x, double* y, int n) {
  unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < n) {
    double most = -1, all = 1;
    for (int k = first[row]; k < first[row + 1]; k += 1) most = fmax(most, x[k]);
    for (int k = first[row]; k < first[row + 1]; ++k) all += exp(x[k] - most);
    for (int k = first[row]; k < first[row + 1]; ++k) y[k] = exp(x[k] - most) / all;
  }
}
"""


def test_the_lanes_add_up_together_and_the_first_one_stores() -> None:
    (change,) = changes_of(warp_per_row, SUM, facts())
    assert (change.launch.grid_times, change.effect) == (32, "order")
    assert change.launch.grid_of((10, 1, 1)) == (320, 1, 1)
    assert change.promise == "blocks of a multiple of 32 threads, 32 for each row"
    assert diffs(warp_per_row, SUM, facts()) == ["""\
-  int row = blockIdx.x * blockDim.x + threadIdx.x;
+  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
+  int lane = threadIdx.x % 32;
-  for (int k = 0; k < width; ++k) s += in[row * width + k];
-  out[row] = s;
+  for (int k = lane; k < width; k += 32) s += in[row * width + k];
+  for (int offset = 16; offset > 0; offset /= 2) s += __shfl_xor_sync(0xffffffff, s, offset);
+  if (lane == 0) out[row] = s;"""]  # fmt: skip


def test_a_grid_that_fits_needs_no_guard() -> None:
    whole = SUM.replace("  if (row >= n) return;\n", "")
    assert diffs(warp_per_row, whole, facts()) == diffs(warp_per_row, SUM, facts())
    launch, x = facts(grid=2, block=64), np.random.default_rng(5).random(128 * 50, np.float32)
    (change,) = changes_of(warp_per_row, whole, launch)
    arguments = [x, np.zeros(128, np.float32), np.int32(128), np.int32(50)]
    before, after = before_and_after(whole, change, launch, arguments)
    assert before[1].all()
    assert np.allclose(before[1], after[1], rtol=1e-5)


def test_without_a_guard_nothing_is_said_of_a_kernel_that_uses_the_thread_otherwise() -> None:
    other = SUM.replace("  if (row >= n) return;\n", "").replace("out[row] = s", "out[row] = s + threadIdx.x")
    assert changes_of(warp_per_row, other, facts()) == []
    assert refusals(warp_per_row, other, facts()) == []


def test_sums_in_elements_get_variables() -> None:
    assert diffs(warp_per_row, PRODUCT, facts()) == ["""\
-    int i = threadIdx.x + blockDim.x * blockIdx.x;
+    int i = (threadIdx.x + blockDim.x * blockIdx.x) / 32;
+    int lane = threadIdx.x % 32;
-        y[i] = 0;
+        if (lane == 0) y[i] = 0;
+        float sum_of_y = 0;
+        float sum_of_z = 0;
-        for (j = 0; j < n; j++) {
-            y[i] += a[i * n + j] * x[j];
-            z[i] += a[i * n + j];
+        for (j = lane; j < n; j += 32) {
+            sum_of_y += a[i * n + j] * x[j];
+            sum_of_z += a[i * n + j];
-        y[i] = 2 * y[i];
+        for (int offset = 16; offset > 0; offset /= 2) sum_of_y += __shfl_xor_sync(0xffffffff, sum_of_y, offset);
+        if (lane == 0) y[i] += sum_of_y;
+        for (int offset = 16; offset > 0; offset /= 2) sum_of_z += __shfl_xor_sync(0xffffffff, sum_of_z, offset);
+        if (lane == 0) z[i] += sum_of_z;
+        if (lane == 0) y[i] = 2 * y[i];"""]  # fmt: skip


def test_a_type_that_a_header_defines() -> None:
    (diff,) = diffs(warp_per_row, PRODUCT.replace("float", "DATA_TYPE"), facts())
    assert "+        DATA_TYPE sum_of_y = 0;" in diff
    (change,) = changes_of(warp_per_row, "typedef int real;\n" + PRODUCT.replace("float", "real"), facts())
    assert change.effect == "exact"
    assert refusals(warp_per_row, "using real = short;\n" + PRODUCT.replace("float", "real"), facts())


def test_rows_of_any_length_with_a_maximum_a_sum_and_elements_of_their_own() -> None:
    (diff,) = diffs(warp_per_row, SOFTMAX, facts())
    assert [line for line in diff.split("\n") if line.startswith("+    ")] == [
        "+    for (int k = first[row] + lane; k < first[row + 1]; k += 32) most = fmax(most, x[k]);",
        "+    for (int offset = 16; offset > 0; offset /= 2) "
        "most = fmax(most, __shfl_xor_sync(0xffffffff, most, offset));",
        "+    double sum = 0;",
        "+    for (int k = first[row] + lane; k < first[row + 1]; k += 32) sum += exp(x[k] - most);",
        "+    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffff, sum, offset);",
        "+    all += sum;",
        "+    for (int k = first[row] + lane; k < first[row + 1]; k += 32) y[k] = exp(x[k] - most) / all;",
    ]


@pytest.mark.parametrize(("old", "new", "reason"), [
    ("++k", "k += 2", "the loop does not count upwards one by one"),
    ("s += in[row * width + k]", "s = 2 * s + in[row * width + k]",
     "a loop does more than to add up or to store elements of its own"),
    ("s += in[row * width + k]", "s += s * in[row * width + k]", "the loop reads s"),
    ("s += in[row * width + k]", "out[k] += 1", "out is used other than as out[k]"),
    ("for (int k = 0; k < width; ++k) s += in[row * width + k];\n  out[row] = s",
     "int k;\n  for (k = 0; k < width; ++k) s += in[row * width + k];\n  out[row] = s / k",
     "k is used behind its loop"),
    ("float s", "half s", "s may not be shuffled"),
    ("out[row] = s;", "out[row] = s; out[row] += out[0];", ""),
    ("out[row] = s;", "out[row] = s; float v = out[row]; out[row + n] = v;", "out is read behind a store"),
    ("out[row] = s;", "out[row] = s++;", "s is changed beside a store"),
    ("out[row] = s;", "if (s > 0) for (int k = 0; k < 3; ++k) out[k] = s;", "a loop stands under a condition"),
])  # fmt: skip
def test_what_lanes_cannot_share(old: str, new: str, reason: str) -> None:
    found = [] if not reason else refusals(warp_per_row, SUM.replace(old, new), facts())
    assert [text.removeprefix("no warp for each row: ") for _, text in found] == ([reason] if reason else [])
    assert reason or changes_of(warp_per_row, SUM.replace(old, new), facts())


def test_blocks_that_are_no_whole_warps() -> None:
    assert refusals(warp_per_row, SUM, facts(block=48)) == [
        (5, "no warp for each row: blocks of 48 threads are no whole warps")
    ]


def test_lanes_share_a_loop_that_only_copies_a_row() -> None:
    source = """\
__global__ void f(const int* ids, const float* table, float* out, int n, int dim) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t < n) {
    int id = ids[t];
    for (int d = 0; d < dim; d++)
      out[t * dim + d] = table[id * dim + d];
  }
}
"""
    (change,) = changes_of(warp_per_row, source, facts())
    assert (change.launch.grid_times, change.effect) == (32, "exact")
    assert diffs(warp_per_row, source, facts()) == ["""\
-  int t = blockIdx.x * blockDim.x + threadIdx.x;
+  int t = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
+  int lane = threadIdx.x % 32;
-    for (int d = 0; d < dim; d++)
+    for (int d = lane; d < dim; d += 32)"""]  # fmt: skip


ARGMAX = """\
__global__ void f(const float* x, int* out, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows) {
    float m = x[r * cols];
    int arg = 0;
    for (int c = 1; c < cols; c++) {
      float v = x[r * cols + c];
      if (v > m) { m = v; arg = c; }
    }
    out[r] = arg;
  }
}
"""


def test_lanes_find_the_first_place_of_the_greatest_value() -> None:
    (diff,) = diffs(warp_per_row, ARGMAX, facts())
    assert (
        """\
+    for (int c = 1 + lane; c < cols; c += 32) {"""
        in diff
    )
    assert (
        """\
+    for (int offset = 16; offset > 0; offset /= 2) {
+      float other_m = __shfl_xor_sync(0xffffffff, m, offset);
+      int other_arg = __shfl_xor_sync(0xffffffff, arg, offset);
+      if (other_m > m || (other_m == m && other_arg < arg)) {
+        m = other_m;
+        arg = other_arg;
+      }
+    }
+    if (lane == 0) out[r] = arg;"""
        in diff
    )


@pytest.mark.parametrize("compared", ["v > m", "m > v", "v < m", "m < v"])
def test_equal_values_keep_the_place_that_was_met_first(compared: str) -> None:
    source, launch = ARGMAX.replace("v > m", compared), facts(grid=1, block=64)
    (change,) = changes_of(warp_per_row, source, launch)
    values = np.random.default_rng(2).integers(0, 5, 64 * 77).astype(np.float32)
    before, after = before_and_after(
        source, change, launch, [values, np.zeros(64, np.int32), np.int32(64), np.int32(77)]
    )
    assert before[1].any()
    assert np.array_equal(before[1], after[1])


def test_the_last_place_of_the_greatest_value_is_not_looked_for() -> None:
    source = ARGMAX.replace("v > m", "v >= m")
    assert refusals(warp_per_row, source, facts()) != []


def test_the_innermost_of_nested_loops() -> None:
    nested = SUM.replace("for (int k = 0; k < width; ++k) s += in[row * width + k];",
                         "for (int b = 0; b < 3; ++b) {\n    int at = b * width;\n"
                         "    for (int k = 0; k < width; ++k) s += in[row * width + k] * at;\n  }")  # fmt: skip
    outer, inner = changes_of(warp_per_row, nested, facts())
    assert (outer.title[-6:], inner.title[-6:]) == ("over b", "over k")
    assert "+    for (int k = lane; k < width; k += 32) s +=" in diffs(warp_per_row, nested, facts())[1]


STRIDE = """\
__global__ void f(const float* in, float* out, int n, int width) {
  for (int row = blockIdx.x * blockDim.x + threadIdx.x; row < n; row += blockDim.x * gridDim.x) {
    float s = 0;
    for (int k = 0; k < width; ++k) s += in[row * width + k];
    out[row] = s;
  }
}
"""


def test_rows_in_a_grid_stride_loop() -> None:
    (diff,) = diffs(warp_per_row, STRIDE, facts(2, 64))
    assert "+  for (int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32; row < n; " \
           "row += (blockDim.x * gridDim.x) / 32) {" in diff  # fmt: skip
    x = np.random.default_rng(3).random(77 * 50, np.float32)
    for blocks, times in ((2, 32), (200, 1)):
        (change,) = changes_of(warp_per_row, STRIDE, facts(blocks, 64))
        assert change.launch.grid_times == times
        arguments = [x, np.zeros(77, np.float32), np.int32(77), np.int32(50)]
        before, after = before_and_after(STRIDE, change, facts(blocks, 64), arguments)
        assert before[1].all()
        assert np.allclose(before[1], after[1], rtol=1e-5)

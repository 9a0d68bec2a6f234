"""Shared tiles: a naive product of matrices, also of sizes that are no multiple of the tile."""

from __future__ import annotations

import numpy as np
import pytest

from transform.launched import before_and_after
from transform.proposals import changes_of, diffs, refusals
from warplens.transform import LaunchFacts
from warplens.transform.access.shared_tiles import shared_tiles

PRODUCT = """\
__global__ void f(const float* a, const float* b, float* c, int m, int n, int deep) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < m && col < n) {
    float sum = 0;
    for (int k = 0; k < deep; ++k) sum += a[row * deep + k] * b[k * n + col];
    c[row * n + col] = sum;
  }
}
"""
LEAVES = """\
__global__ void f(const float* a, const float* b, float* c, int m, int n, int deep) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || col >= n) return;
  float sum = 0;
  for (int k = 0; k < deep; ++k) {
    sum += a[row * deep + k] * b[k * n + col];
  }
  c[row * n + col] = sum;
  c[row * n + col] += 1;
}
"""
LAUNCH = LaunchFacts((3, 2, 1), (16, 16, 1))


def test_the_diff() -> None:
    assert diffs(shared_tiles, PRODUCT, LAUNCH) == ["""\
-  if (row < m && col < n) {
-    float sum = 0;
-    for (int k = 0; k < deep; ++k) sum += a[row * deep + k] * b[k * n + col];
-    c[row * n + col] = sum;
+  __shared__ float tile_a[16][16];
+  __shared__ float tile_b[16][16];
+  float sum = 0;
+  for (int first = 0; first < deep; first += 16) {
+    tile_a[threadIdx.y][threadIdx.x] = first + threadIdx.x < deep && row < m ? a[row * deep + first + threadIdx.x] : 0;
+    tile_b[threadIdx.y][threadIdx.x] = first + threadIdx.y < deep && col < n ? b[(first + threadIdx.y) * n + col] : 0;
+    __syncthreads();
+    for (int k = 0; k < 16; ++k) sum += tile_a[threadIdx.y][k] * tile_b[k][threadIdx.x];
+    __syncthreads();
+  if (row < m && col < n) c[row * n + col] = sum;"""]  # fmt: skip


@pytest.mark.parametrize("source", [PRODUCT, LEAVES])
def test_the_product_is_the_same(source: str) -> None:
    m, n, deep = 27, 45, 37
    (change,) = changes_of(shared_tiles, source, LAUNCH)
    made = np.random.default_rng(3)
    a, b = made.random(m * deep, np.float32), made.random(deep * n, np.float32)
    sizes = [np.int32(size) for size in (m, n, deep)]
    before, after = before_and_after(source, change, LAUNCH, [a, b, np.zeros(m * n, np.float32), *sizes])
    assert before[2].all()
    assert (before[2] == after[2]).all()


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (
            "* b[k * n + col]",
            "* b[k * n + row * col]",
            "b[k * n + row * col] is no element of a row or column of the block",
        ),
        ("float sum = 0", "float sum = c[row]", "more than declarations stand before the loop"),
        ("row < m && col < n", "row < m && row + col < n", "row + col < n is no test of one axis"),
    ],
)
def test_another_kernel_stays(old: str, new: str, reason: str) -> None:
    ((_, found),) = refusals(shared_tiles, PRODUCT.replace(old, new), LAUNCH)
    assert found == f"no tiles in shared memory: {reason}"


def test_flat_blocks_stay() -> None:
    ((_, found),) = refusals(shared_tiles, PRODUCT, LaunchFacts((3, 2, 1), (32, 8, 1)))
    assert found == "no tiles in shared memory: blocks of 32 x 8 threads"


def test_what_is_not_zero_beyond_the_last_element_is_not_added() -> None:
    assert "k < 16; ++k) sum" in diffs(shared_tiles, PRODUCT.replace("] * b[", "] - b["), LAUNCH)[0]
    source = PRODUCT.replace("a[row * deep + k] * b[k * n + col]", "expf(a[row * deep + k] - b[k * n + col])")
    assert "k < 16 && first + k < deep; ++k) sum" in diffs(shared_tiles, source, LAUNCH)[0]
    (change,) = changes_of(shared_tiles, source, LAUNCH)
    a, b = (np.random.default_rng(1).random(40 * 37, np.float32) for _ in "ab")
    sizes = [np.int32(size) for size in (27, 40, 37)]
    before, after = before_and_after(source, change, LAUNCH, [a, b, np.zeros(27 * 40, np.float32), *sizes])
    assert before[2].all()
    assert np.allclose(before[2], after[2], rtol=1e-5)

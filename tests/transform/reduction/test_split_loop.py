"""Split loop: the rows of a block share the loop down a column."""

from __future__ import annotations

import numpy as np
import pytest

from transform.launched import before_and_after
from transform.proposals import changes_of, diffs, facts, refusals
from warplens.transform.reduction.split_loop import split_loop

COLUMNS = """\
__global__ void f(const float* in, float* out, int rows, int columns) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= columns) return;
  float s = 0;
  for (int r = 0; r < rows; ++r) s += in[r * columns + c];
  out[c] = s;
}
"""
ELEMENT = """\
__global__ void f(float* a, float* x, float* y, int rows, int columns) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c < columns) {
    y[c] = 1;
    for (int r = 0; r < rows; ++r) y[c] += a[r * columns + c] * x[r];
  }
}
"""
LAUNCH = facts(2, 128, numbers={"columns": 192, "rows": 100})


def test_rows_of_threads_share_the_loop() -> None:
    first, *others = changes_of(split_loop, COLUMNS, LAUNCH)
    assert (first.launch.block, first.launch.grid_of((2, 1, 1)), first.effect) == ((32, 32, 1), (8, 1, 1), "order")
    assert [one.launch.block for one in others] == [(32, 16, 1), (32, 8, 1)]
    assert first.promise == "blocks of 32 x 32 threads; columns is a multiple of 32"
    assert (
        diffs(split_loop, COLUMNS, LAUNCH)[0]
        == """\
-  for (int r = 0; r < rows; ++r) s += in[r * columns + c];
-  out[c] = s;
+  for (int r = threadIdx.y; r < rows; r += 32) s += in[r * columns + c];
+  __shared__ float s_of_row[32][32];
+  s_of_row[threadIdx.y][threadIdx.x] = s;
+  __syncthreads();
+  for (int half = 16; half > 0; half /= 2) {
+    if (threadIdx.y < half) s_of_row[threadIdx.y][threadIdx.x] += s_of_row[threadIdx.y + half][threadIdx.x];
+    __syncthreads();
+  }
+  s = s_of_row[0][threadIdx.x];
+  if (threadIdx.y == 0) out[c] = s;"""
    )


@pytest.mark.parametrize("source", [COLUMNS, ELEMENT])
def test_the_sums_are_the_same(source: str) -> None:
    made = np.random.default_rng(1)
    a, x, out = made.random(100 * 192, np.float32), made.random(100, np.float32), np.zeros(192, np.float32)
    arrays = [a, out] if source is COLUMNS else [a, x, out]
    for change in changes_of(split_loop, source, LAUNCH):
        before, after = before_and_after(source, change, LAUNCH, [*arrays, np.int32(100), np.int32(192)])
        assert before[-1].any()
        assert np.allclose(before[-1], after[-1], rtol=1e-5)


COUNTS = """\
__global__ void f(const int* x, int* y, float* z, int rows, int columns) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c < columns) {
    int few = 0, many = 3, best = -1, n[2] = {1, 2};
    float least = 1e30f, w;
    for (int r = 0; r < rows; ++r) {
      int v = x[r * columns + c];
      if (v == 7) continue;
      w = v - 4;
      if (v < 3) few++;
      else if (v < 5) { many += 2; few++; }
      else ++many;
      n[1] += v;
      float d = 0;
      for (int j = 0; j < 3; ++j) d += (w - j) * (w - j);
      if (d < least) { least = d; best = r; }
    }
    y[c] = few + 10 * many + 100 * best + n[0] - n[1];
    z[c] = least;
  }
}
"""


@pytest.mark.parametrize("columns", [192, 150])
def test_counters_and_places_are_the_same(columns: int) -> None:
    launch = facts(2, 128, numbers={"columns": columns})
    x = np.random.default_rng(1).integers(0, 9, 50 * columns, np.int32)
    arguments = [x, np.zeros(columns, np.int32), np.zeros(columns, np.float32), np.int32(50), np.int32(columns)]
    found = changes_of(split_loop, COUNTS, launch)
    assert [one.effect for one in found] == ["exact"] * 3
    for change in found:
        before, after = before_and_after(COUNTS, change, launch, arguments)
        assert before[1].any()
        assert [one.tobytes() for one in before] == [one.tobytes() for one in after]


def test_threads_beyond_the_data_come_to_the_barrier() -> None:
    first = diffs(split_loop, COLUMNS, facts(2, 128, numbers={"columns": 190}))[0].split("\n")
    assert first[:6] == [
        "-  if (c >= columns) return;", "+  bool own = c < columns;", "+  if (!own) c = columns - 1;",
        "-  for (int r = 0; r < rows; ++r) s += in[r * columns + c];", "-  out[c] = s;",
        "+  for (int r = threadIdx.y; r < rows; r += 32) s += in[r * columns + c];",
    ]  # fmt: skip
    assert first[-1] == "+  if (threadIdx.y == 0 && own) out[c] = s;"


def test_a_part_of_a_block_would_not_come_to_the_barrier() -> None:
    source = COLUMNS.replace("  if (c >=", "  const float* column = in + c;\n  if (c >=")
    reason = "the loop is not shared by several threads: some threads of a block would not come to the barrier"
    assert refusals(split_loop, source, facts(2, 128, numbers={"columns": 190})) == [(4, reason)]


def test_threads_beyond_the_data_change_nothing_twice() -> None:
    source = COLUMNS.replace("  out[c] = s;", "  for (int r = 0; r < rows; ++r) out[r * columns + c] += s;")
    ((line, reason),) = refusals(split_loop, source, facts(2, 128, numbers={"columns": 190}))
    assert line == 6
    assert reason.endswith("threads beyond the data would change out[r * columns + c] again")


def test_a_loop_that_reads_what_it_adds_up() -> None:
    for statement in ("s = in[r] * s;", "s += in[r] + s;", "if (s < 3) s += in[r];", "{ out[r] = s; s += in[r]; }"):
        source = COLUMNS.replace("s += in[r * columns + c];", statement)
        assert changes_of(split_loop, source, LAUNCH) == [], statement


def test_the_block_size_is_a_number() -> None:
    reason = "the loop is not shared by several threads: the block size is a number in the kernel"
    assert refusals(split_loop, COLUMNS.replace("blockDim.x", "128"), LAUNCH) == [(2, reason)]

"""Several elements: one element a thread becomes a grid-stride loop, where there are many more blocks than fit."""

from __future__ import annotations

import pytest

from transform.proposals import changes_of, diffs, facts, refusals
from warplens.transform._change import edited
from warplens.transform.launch.several_elements import several_elements

STENCIL = """\
__global__ void f(const float* in, float* out, int n) {
    int last = n - 1, i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < last) {
        // the mean
        out[i] = (in[i - 1] + in[i + 1]) / 2;
    }
}
"""
RETURN = """\
#define BLOCK 256
__global__ void f(const float* in, float* out, unsigned n)
{
  const unsigned i = threadIdx.x + blockIdx.x * BLOCK;

  if (i >= n) return;

  // twice
  float v = 2 * in[i];
  out[i] = v;
}
"""
MANY = facts(grid=100_000)


def test_the_condition_becomes_the_bound_of_a_loop() -> None:
    (change,) = changes_of(several_elements, STENCIL, MANY)
    assert (change.launch.grid, change.effect) == ((132 * 8, 1, 1), "exact")
    assert diffs(several_elements, STENCIL, MANY) == ["""\
-    int last = n - 1, i = blockIdx.x * blockDim.x + threadIdx.x;
-    if (i > 0 && i < last) {
-        // the mean
-        out[i] = (in[i - 1] + in[i + 1]) / 2;
-    }
+    int last = n - 1;
+    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < last; i += blockDim.x * gridDim.x)
+        if (i > 0) {
+            // the mean
+            out[i] = (in[i - 1] + in[i + 1]) / 2;
+        }"""]  # fmt: skip


def test_what_follows_the_return_becomes_the_body() -> None:
    assert diffs(several_elements, RETURN, MANY) == ["""\
-  const unsigned i = threadIdx.x + blockIdx.x * BLOCK;
-
-  if (i >= n) return;
-
-  // twice
-  float v = 2 * in[i];
-  out[i] = v;
+  for (unsigned i = threadIdx.x + blockIdx.x * BLOCK; i < n; i += BLOCK * gridDim.x) {
+    // twice
+    float v = 2 * in[i];
+    out[i] = v;
+  }"""]  # fmt: skip


def test_a_single_statement_needs_no_braces() -> None:
    source = STENCIL.replace(
        "{\n        // the mean\n        out[i] = (in[i - 1] + in[i + 1]) / 2;\n    }", "out[i] = 1;"
    )
    returning = source.replace("if (i > 0 && i < last) ", "if (i >= last) return;\n    ")
    for text, test in ((source, "\n        if (i > 0)"), (returning, "")):
        assert f"i += blockDim.x * gridDim.x){test} out[i] = 1;" in edited(
            text, changes_of(several_elements, text, MANY)[0].edits
        )


LOOP = """\
__global__ void f(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int stride = blockDim.x * gridDim.x;
    while (i < n) {
        out[i] = 2 * in[i];
        i += stride;
    }
}
"""


def test_where_there_is_a_loop_only_the_grid_becomes_smaller() -> None:
    (change,) = changes_of(several_elements, LOOP, MANY)
    assert (change.title, change.edits) == ("1,056 blocks instead of 100,000", ())
    assert change.launch.grid == (1056, 1, 1)
    assert changes_of(several_elements, LOOP, facts(grid=1056)) == []
    assert changes_of(several_elements, LOOP.replace("2 * in[i]", "blockIdx.x"), MANY) == []


def test_a_grid_that_fits_stays() -> None:
    assert changes_of(several_elements, STENCIL, facts(grid=2 * 132 * 8 - 1)) == []


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("  if (v > 1) return;", "return stands in the middle"),
        ("  n = 3;", "n, which bounds i, is changed"),
        ("  __syncthreads();", "__syncthreads needs to know the thread, or the others"),
        ("  out[blockIdx.x] = 1;", "blockIdx is used besides i"),
    ],
)
def test_it_refuses(line: str, reason: str) -> None:
    source = RETURN.replace("  out[i] = v;", line)
    assert refusals(several_elements, source, MANY) == [(10, f"no loop over several elements: {reason}")]


def test_an_index_may_not_overflow() -> None:
    (_, reason), *_ = refusals(several_elements, RETURN, facts(grid=2**23, numbers={"n": 2**31 - 1}))
    assert reason == "no loop over several elements: i may exceed 2,147,483,647"


def test_a_function_that_looks_at_the_thread_is_refused() -> None:
    source = "__device__ int lane() { return threadIdx.x; }\n" + RETURN.replace("2 * in[i]", "lane() * in[i]")
    assert refusals(several_elements, source, MANY) == [
        (10, "no loop over several elements: lane needs to know the thread, or the others")
    ]

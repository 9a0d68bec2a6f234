"""Vector loads: the neighbouring elements of a thread in one load; others stay as they are."""

from __future__ import annotations

import pytest

from transform.proposals import changes_of, diffs, facts, refusals
from warplens.transform.access.vector_loads import vector_loads

LENGTH = """\
__global__ void f(const float *pts, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float x = pts[4 * i];
        float y = pts[i * 4 + 1];
        out[i] = sqrtf(x * x + y * y + pts[4 * i + 2]) * pts[4 * i + 3];
    }
}
"""


def test_four_elements_in_one_load() -> None:
    (change,) = changes_of(vector_loads, LENGTH, facts())
    assert (change.effect, change.promise) == ("exact", "pts begins at a multiple of 4 elements")
    assert diffs(vector_loads, LENGTH, facts()) == ["""\
-        float x = pts[4 * i];
-        float y = pts[i * 4 + 1];
-        out[i] = sqrtf(x * x + y * y + pts[4 * i + 2]) * pts[4 * i + 3];
+        float4 pts4 = reinterpret_cast<const float4*>(pts)[i];
+        float x = pts4.x;
+        float y = pts4.y;
+        out[i] = sqrtf(x * x + y * y + pts4.z) * pts4.w;"""]  # fmt: skip


def test_two_doubles() -> None:
    source = "__global__ void f(double* x, double* y) {\n  int k = threadIdx.x;\n  y[k] = x[2 * k] + x[1 + 2 * k];\n}\n"
    (diff,) = diffs(vector_loads, source, facts())
    assert "+  double2 x2 = reinterpret_cast<double2*>(x)[k];\n+  y[k] = x2.x + x2.y;" in diff


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("4 * i + 3", "i", None),
        ("4 * i + 3", "4 * i", None),
        ("pts[4 * i + 3]", "*pts", None),
        ("pts[4 * i + 3]", "pts[4 * (i + 1) + 3]", "the threads' elements do not lie together"),
        ("float y", "i += n; float y", "i is changed between them"),
        ("* pts[4 * i + 3]", "* (x > 0 ? pts[4 * i + 3] : 1)", "pts[4 * i + 3] is read under a condition"),
        ("out[i] =", "pts[4 * i + 1] =", "pts[4 * i + 1] is changed"),
    ],
)
def test_what_stays(old: str, new: str, reason: str | None) -> None:
    expected = [f"pts is not loaded 4 at a time: {reason}"] if reason else []
    assert [text for _, text in refusals(vector_loads, LENGTH.replace(old, new), facts())] == expected


def test_pairs_of_floats() -> None:
    source = "__global__ void f(float* x, float* y) {\n  int k = threadIdx.x;\n  y[k] = x[2 * k] + x[2 * k + 1];\n}\n"
    (diff,) = diffs(vector_loads, source, facts())
    assert "+  float2 x2 = reinterpret_cast<float2*>(x)[k];\n+  y[k] = x2.x + x2.y;" in diff

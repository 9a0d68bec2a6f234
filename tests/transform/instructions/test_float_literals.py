"""Float literals: an f behind double literals, except where they belong to a double."""

from __future__ import annotations

from transform.proposals import changes_of, diffs, facts, refusals
from warplens.transform.instructions.float_literals import float_literals

SCALE = """\
__global__ void f(float* x) {
  x[threadIdx.x] = 0.5 * x[threadIdx.x] + 1e-3 + 0x10 + 3 + 2.0f;
}
"""


def test_double_literals_become_floats() -> None:
    (change,) = changes_of(float_literals, SCALE, facts())
    assert (change.title, change.effect) == ("write 2 double literals as float", "rounding")
    assert diffs(float_literals, SCALE, facts()) == ["""\
-  x[threadIdx.x] = 0.5 * x[threadIdx.x] + 1e-3 + 0x10 + 3 + 2.0f;
+  x[threadIdx.x] = 0.5f * x[threadIdx.x] + 1e-3f + 0x10 + 3 + 2.0f;"""]  # fmt: skip


def test_literals_of_doubles_stay() -> None:
    source = "__global__ void f(float* x) {\n  double d = 0.5;\n  x[0] = (double)1.5;\n}\n"
    assert refusals(float_literals, source, facts()) == [
        (2, "0.5 keeps its type: it belongs to a double"), (3, "1.5 keeps its type: it belongs to a double"),
    ]  # fmt: skip


def test_nothing_to_change() -> None:
    assert changes_of(float_literals, SCALE.replace("0.5", "2").replace("1e-3", "1"), facts()) == []


def test_literals_of_functions_that_only_the_kernel_calls() -> None:
    source = """\
__device__ float half(float x) { return 0.5 * x; }
__device__ float third(float x) { return x / 3.0; }
__device__ double whole(float x) { return 1.0 * x; }
__global__ void other(float* x) { x[0] = third(x[0]); }
__global__ void f(float* x) {
  x[0] = half(x[0]) + third(x[0]) + whole(x[0]);
}
"""
    assert diffs(float_literals, source, facts()) == ["""\
-__device__ float half(float x) { return 0.5 * x; }
+__device__ float half(float x) { return 0.5f * x; }"""]  # fmt: skip

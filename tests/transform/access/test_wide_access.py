"""Wide access: elementwise kernels get vector loads and stores with a tail; other accesses are refused."""

from __future__ import annotations

import numpy as np
import pytest

from transform.launched import before_and_after
from transform.proposals import changes_of, diffs, facts, refusals
from warplens.transform._change import edited
from warplens.transform.access.wide_access import wide_access

COPY = """\
__global__ void f(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}
"""
LOOP = """\
__global__ void f(const float* __restrict__ x, double* y, int n) {
  int all = blockDim.x * gridDim.x;
#pragma unroll 1
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += all) y[i] += x[i] * i;
}
"""
RETURN = """\
template <class T>
__global__ void f(const T* x, T* y, unsigned n) {
    unsigned i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n) return;
    T v = x[i];
    if (v < 1)
        v = 1;
    y[i] = v;
}
"""


def test_a_thread_copies_four_elements() -> None:
    (change,) = changes_of(wide_access, COPY, facts())
    assert change.launch.grid_over == (4, 1, 1)
    assert change.promise == "in, out do not overlap"
    assert diffs(wide_access, COPY, facts()) == ["""\
-  int i = blockIdx.x * blockDim.x + threadIdx.x;
-  if (i < n) out[i] = in[i];
+  int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
+  if (i + 3 < n && (size_t(in) | size_t(out)) % sizeof(float4) == 0) {
+    float4 in4 = *reinterpret_cast<const float4*>(in + i);
+    float4 out4;
+    out4.x = in4.x;
+    out4.y = in4.y;
+    out4.z = in4.z;
+    out4.w = in4.w;
+    *reinterpret_cast<float4*>(out + i) = out4;
+  } else {
+    for (int k = i; k < i + 4 && k < n; ++k) out[k] = in[k];
+  }"""]  # fmt: skip


def test_a_loop_is_followed_by_one_for_the_rest() -> None:
    (change,) = changes_of(wide_access, LOOP, facts())
    assert change.launch.grid_over == (1, 1, 1)
    assert diffs(wide_access, LOOP, facts()) == ["""\
+// 2 elements that are loaded and stored at once.
+template <class T>
+struct alignas(2 * sizeof(T)) Pack {
+  T lane[2];
+};
+
+  bool aligned = size_t(x) % sizeof(Pack<float>) == 0 && size_t(y) % sizeof(Pack<double>) == 0;
+  int packs = aligned ? n / 2 : 0;
-  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += all) y[i] += x[i] * i;
+  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < packs; i += all) {
+    Pack<float> x2 = reinterpret_cast<const Pack<float>*>(x)[i];
+    Pack<double> y2 = reinterpret_cast<Pack<double>*>(y)[i];
+    for (int k = 0; k < 2; ++k) y2.lane[k] += x2.lane[k] * (2 * i + k);
+    reinterpret_cast<Pack<double>*>(y)[i] = y2;
+  }
+#pragma unroll 1
+  for (int i = 2 * packs + blockIdx.x * blockDim.x + threadIdx.x; i < n; i += all) y[i] += x[i] * i;"""]  # fmt: skip


@pytest.mark.parametrize("head", ["typedef double real;\n", "using real = double;\n", "#define real double\n"])
def test_the_size_of_a_type_with_another_name(head: str) -> None:
    (change,) = changes_of(wide_access, head + COPY.replace("float", "real"), facts())
    assert change.title == "load and store 2 elements at once"
    (change,) = changes_of(wide_access, COPY.replace("float", "REAL"), facts())
    assert "Pack<REAL>" in change.edits[-1].text
    assert refusals(wide_access, COPY.replace("float", "Body"), facts())


def test_a_helper_stands_between_the_launch_block_and_the_kernel() -> None:
    block = "// /// warplens\n// n = 4\n// ///\n"
    for above, below in ((block, ""), (block, "// The sum.\n"), ("", "// The sum.\n")):
        (change,) = changes_of(wide_access, above + below + LOOP, facts())
        assert edited(above + below + LOOP, change.edits).startswith(f"{above}// 2 elements that")


@pytest.mark.parametrize("loop", [
    "  while (i < n) {\n    y[i] = x[i];\n    i += all;\n  }\n", "  for (; i < n; i += all) {\n    y[i] = x[i];\n  }\n",
])  # fmt: skip
def test_a_loop_that_does_not_declare_its_index(loop: str) -> None:
    source = (
        "__global__ void f(const int* x, int* y, int n) {\n"
        "  int i = threadIdx.x + blockIdx.x * blockDim.x;\n  int all = blockDim.x * gridDim.x;\n" + loop + "}\n"
    )
    (change,) = changes_of(wide_access, source, facts())
    text = change.edits[0].text
    assert "  for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < packs; i += all) {\n    int4 x4" in text
    assert "  for (int i = 4 * packs + threadIdx.x + blockIdx.x * blockDim.x; i < n; i += all) {\n" in text
    assert text.endswith("    y[i] = x[i];\n  }\n}\n")


@pytest.mark.parametrize(
    ("name", "lanes"),
    [("f<float>", [4]), ("f<double>", [2]), ("f<long long int>", [2]), ("f<char>", [4, 8]), ("f", [4])],
)
def test_the_width_depends_on_the_elements(name: str, lanes: list[int]) -> None:
    titles = [change.title for change in changes_of(wide_access, RETURN, facts(), name)]
    assert titles == [f"load and store {count} elements at once" for count in lanes]
    (first, *_) = diffs(wide_access, RETURN, facts(), name)
    assert f"+    if (i + {lanes[0] - 1} < n && (size_t(x) | size_t(y)) % sizeof(Pack<T>) == 0) {{" in first
    assert "+            T v = x" in first


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("in[i];", "in[i + 1];", "in[i + 1] is not in[i]"),
        ("out[i] = in[i]", "if (in[i] > 0) out[i] = 1", "out[i] is accessed under a condition"),
        ("= in[i];", "= in[i] + threadIdx.x;", "threadIdx is used besides i"),
        ("= in[i];", "= __ldg(&in[i]);", "&in[i] is more than an element"),
        ("= in[i];", "= __any_sync(~0u, in[i]);", "__any_sync needs to know the thread, or the others"),
        ("i < n", "i < n && n > 7", "it has a second condition"),
        ("const float*", "const volatile float*", "in is volatile"),
        ("float* out", "float3* out", "the size of float3, the elements of out, is not known"),
    ],
)  # fmt: skip
def test_it_refuses(old: str, new: str, reason: str) -> None:
    assert refusals(wide_access, COPY.replace(old, new), facts()) == [(3, f"no wide accesses: {reason}")]


def test_arguments_that_overlap_are_left_alone() -> None:
    assert refusals(wide_access, COPY, facts(overlapping=True)) == [
        (3, "no wide accesses: two arguments of this launch overlap")
    ]


def test_a_variable_that_lasts_is_not_shared_between_elements() -> None:
    source = COPY.replace("  if (i < n)", "  float s = 0;\n  if (i < n)").replace("in[i];", "s += in[i];")
    assert refusals(wide_access, source, facts()) == [
        (4, "no wide accesses: s keeps something from one element to the next")
    ]


BLEND = """\
__global__ void f(const float* a, const float* b, const int* mask, float* out, float* last, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    if (mask[i] > 0)
      out[i] = a[i];
    else if (mask[i] < 0)
      out[i] = b[i];
    else {
      out[i] = 0;
      last[i] = b[i];
    }
  }
}
"""
NUMBERS, SIZES = {"n": 1001}, dict.fromkeys(("a", "b", "mask", "out", "last"), 4004)


def test_elements_under_a_condition_of_arrays_that_are_long_enough() -> None:
    launch = facts(grid=4, numbers=NUMBERS, sizes=SIZES)
    (change,) = changes_of(wide_access, BLEND, launch)
    assert change.promise == (
        "a, b, mask, out, last do not overlap; a has n elements; b has n elements; out has n elements; "
        "last has n elements"
    )
    (diff,) = diffs(wide_access, BLEND, launch)
    assert "    Pack<float> out4;\n" in diff  # it is assigned in any case
    assert "Pack<float> last4 = *reinterpret_cast<Pack<float>*>(last + i);\n" in diff
    rng = np.random.default_rng(3)
    a, b, out, last = (rng.random(1001, dtype=np.float32) for _ in range(4))
    mask = rng.integers(-1, 2, 1001).astype(np.int32)
    before, after = before_and_after(BLEND, change, launch, [a, b, mask, out, last, np.int32(1001)])
    assert not np.array_equal(before[3], out)
    assert all(np.array_equal(one, other) for one, other in zip(before, after, strict=True))


@pytest.mark.parametrize("short", ["a", "out", "last"])
def test_a_short_array_is_not_accessed_beyond_its_condition(short: str) -> None:
    sizes = SIZES | {short: 4000}
    ((_, reason),) = refusals(wide_access, BLEND, facts(grid=4, numbers=NUMBERS, sizes=sizes))
    assert reason == f"no wide accesses: {short}[i] is accessed under a condition"


def test_elements_in_a_loop_stay() -> None:
    source = COPY.replace("out[i] = in[i];", "for (int k = 0; k < 3; ++k) out[i] += in[i];")
    launch = facts(grid=4, numbers=NUMBERS, sizes=dict.fromkeys(("in", "out"), 4004))
    assert refusals(wide_access, source, launch) == [(3, "no wide accesses: in[i] is accessed in a loop")]

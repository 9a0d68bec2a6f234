"""Shared atomics: a copy of the bins in shared memory, zeroed, added to and flushed."""

from __future__ import annotations

import pytest

from transform.proposals import changes_of, diffs, facts, refusals
from warplens.transform._change import edited
from warplens.transform.reduction.shared_atomics import shared_atomics

HISTOGRAM = """\
__global__ void f(const unsigned char* data, unsigned* bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;

    int value = data[i];
    atomicAdd(&bins[value], 1);
}
"""
SIZES = {"bins": 1024}


def test_the_early_return_becomes_a_condition() -> None:
    (change,) = changes_of(shared_atomics, HISTOGRAM, facts(sizes=SIZES))
    assert (change.effect, change.promise) == ("exact", "bins has 256 elements")
    assert diffs(shared_atomics, HISTOGRAM, facts(sizes=SIZES)) == ["""\
+    __shared__ unsigned block_bins[256];
+    for (int bin = threadIdx.x; bin < 256; bin += blockDim.x) block_bins[bin] = 0;
+    __syncthreads();
+
-    if (i >= n) return;
-
-    int value = data[i];
-    atomicAdd(&bins[value], 1);
+    if (i < n) {
+        int value = data[i];
+        atomicAdd(&block_bins[value], 1);
+    }
+    __syncthreads();
+    for (int bin = threadIdx.x; bin < 256; bin += blockDim.x)
+        if (block_bins[bin]) atomicAdd(&bins[bin], block_bins[bin]);"""]  # fmt: skip


def test_many_blocks_get_a_loop_as_well() -> None:
    _, looped = changes_of(shared_atomics, HISTOGRAM, facts(grid=100_000, sizes=SIZES))
    assert looped.launch.grid == (1056, 1, 1)
    assert "i < n; i += blockDim.x * gridDim.x) {\n        int value = data[i];" in looped.edits[0].text


def test_a_kernel_with_a_copy_gets_no_second_one() -> None:
    (change, *_) = changes_of(shared_atomics, HISTOGRAM, facts(sizes=SIZES))
    assert changes_of(shared_atomics, edited(HISTOGRAM, change.edits), facts(sizes=SIZES)) == []


def test_floats_are_added_in_another_order() -> None:
    source = HISTOGRAM.replace("unsigned*", "float*").replace("&bins[value]", "bins + value")
    (change,) = changes_of(shared_atomics, source, facts(sizes=SIZES))
    assert change.effect == "order"
    assert "atomicAdd(block_bins + value, 1);" in diffs(shared_atomics, source, facts(sizes=SIZES))[0]


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        ("    atomic", "    int was = atomic", 6, "what atomicAdd returns is used"),
        ("data[i];", "data[i] + bins[0];", 5, "it is used besides atomicAdd"),
        ("unsigned*", "long long*", 6, "its elements are long long"),
        ("    int value", "    if (data[i]) return;\n    int value", 5, "threads leave before the end"),
    ],
)
def test_it_refuses(old: str, new: str, line: int, reason: str) -> None:
    found = refusals(shared_atomics, HISTOGRAM.replace(old, new), facts(sizes=SIZES))
    assert found == [(line, f"bins gets no copy in shared memory: {reason}")]


@pytest.mark.parametrize(
    ("sizes", "reason"),
    [({"bins": 50_000}, "its 50,000 bytes are more than 49,152"), ({}, "its size is not known")],
)
def test_bins_must_fit(sizes: dict[str, int], reason: str) -> None:
    found = refusals(shared_atomics, HISTOGRAM, facts(sizes=sizes))
    assert found == [(6, f"bins gets no copy in shared memory: {reason}")]

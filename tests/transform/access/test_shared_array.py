"""Shared array: an array of a thread becomes a column of a shared one."""

from __future__ import annotations

import numpy as np
import pytest

from transform.launched import before_and_after
from transform.proposals import changes_of, diffs, facts, refusals
from warplens.transform.access.shared_array import shared_array

BINS = """\
#define KINDS 8
__global__ void f(const unsigned char* data, int* out, int each) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  int bins[KINDS];
  for (int i = 0; i < KINDS; i++) bins[i] = 0;
  for (int i = 0; i < each; i++) bins[data[t * each + i] % KINDS]++;
  for (int i = 0; i < KINDS; i++) out[t * KINDS + i] = bins[i];
}
"""


def test_each_thread_gets_a_column() -> None:
    (change,) = changes_of(shared_array, BINS, facts(block=64))
    assert (change.effect, change.promise) == ("exact", "blocks of at most 64 threads")
    assert diffs(shared_array, BINS, facts(block=64)) == ["""\
-  int bins[KINDS];
-  for (int i = 0; i < KINDS; i++) bins[i] = 0;
-  for (int i = 0; i < each; i++) bins[data[t * each + i] % KINDS]++;
-  for (int i = 0; i < KINDS; i++) out[t * KINDS + i] = bins[i];
+  __shared__ int bins[KINDS][64];
+  for (int i = 0; i < KINDS; i++) bins[i][threadIdx.x] = 0;
+  for (int i = 0; i < each; i++) bins[data[t * each + i] % KINDS][threadIdx.x]++;
+  for (int i = 0; i < KINDS; i++) out[t * KINDS + i] = bins[i][threadIdx.x];"""]  # fmt: skip


@pytest.mark.parametrize("value", ["{}", "{0}", "{ 0 }"])
def test_zeros_from_the_declaration_on_become_a_loop(value: str) -> None:
    source = BINS.replace(
        "int bins[KINDS];\n  for (int i = 0; i < KINDS; i++) bins[i] = 0;", f"int bins[KINDS] = {value};"
    )
    (diff,) = diffs(shared_array, source, facts(block=64))
    assert "+  __shared__ int bins[KINDS][64];\n+  for (int k = 0; k < KINDS; ++k) bins[k][threadIdx.x] = 0;\n" in diff


def test_results_are_the_same() -> None:
    (change,) = changes_of(shared_array, BINS, facts(grid=4, block=64))
    data = np.random.default_rng(1).integers(0, 256, 256 * 20).astype(np.uint8)
    before, after = before_and_after(
        BINS, change, facts(grid=4, block=64), [data, np.zeros(256 * 8, np.int32), np.int32(20)]
    )
    assert before[1].sum() == 256 * 20
    assert np.array_equal(before[1], after[1])


def test_arrays_that_stay() -> None:
    pointer = BINS.replace("out[t * KINDS + i] = bins[i]", "out[t * KINDS + i] = *(bins + i)")
    assert refusals(shared_array, pointer, facts(block=64)) == [
        (7, "bins stays in local memory: it is used as a pointer")
    ]  # fmt: skip
    assert refusals(shared_array, BINS.replace("KINDS 8", "KINDS 800"), facts()) == [
        (4, "bins stays in local memory: 819,200 bytes a block do not fit into shared memory")
    ]  # fmt: skip
    values = BINS.replace("int bins[KINDS];", "int bins[KINDS] = {1, 2};")
    assert refusals(shared_array, values, facts(block=64)) == [
        (4, "bins stays in local memory: it has a value from its declaration on")
    ]  # fmt: skip
    assert changes_of(shared_array, BINS.replace("int bins", "__shared__ int bins"), facts(block=64)) == []


def test_an_array_with_constant_indices_is_in_registers_already() -> None:
    source = "__global__ void f(float* x) { float a[2]; a[0] = x[0]; a[1] = x[1]; x[2] = a[0] + a[1]; }"
    assert changes_of(shared_array, source, facts()) == []

"""Loop not unrolled: what keeps a loop going, and loops that cannot be unrolled."""

from __future__ import annotations

import numpy as np
import pytest

from rules.example_kernels import counted
from warplens import compile
from warplens.rules.instructions.loop_not_unrolled import LoopNotUnrolledEvidence, loop_not_unrolled

UNTIL = """
__global__ void k(const int* next, int* out) {
  int at = threadIdx.x;
  while (next[at] != at) at = next[at];
  out[threadIdx.x] = at;
}"""

ESCAPE = """
__global__ void k(float* x, int n) {
  float v = x[threadIdx.x];
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    v = v * v + 1;
    if (v > 4) break;
  }
  x[threadIdx.x] = v;
}"""


@pytest.mark.parametrize(("title", "instructions"), [("1_once", 10), ("6_kept", 11)])
def test_counter_comparison_and_branch(title: str, instructions: int) -> None:
    found = loop_not_unrolled(counted(f"unrolling/{title}"))
    assert found is not None
    assert found.evidence == LoopNotUnrolledEvidence(instructions, 3, 8)
    assert found.line is not None


@pytest.mark.parametrize("title", ["2_twice", "5_full", "8_not_constant"])
def test_unrolled_loops_are_silent(title: str) -> None:
    assert loop_not_unrolled(counted(f"unrolling/{title}")) is None


def test_a_loop_that_ends_with_the_data_is_silent() -> None:
    following = np.maximum(np.arange(64, dtype=np.int32) - 1, 0)
    run = compile(source=UNTIL, arch="sm_90")["k"].launch(1, 32, following, np.zeros(32, np.int32))
    assert loop_not_unrolled(run.subject) is None


def test_a_loop_with_another_way_out_is_silent() -> None:
    run = compile(source=ESCAPE, arch="sm_90")["k"].launch(1, 32, np.full(32, -9.0, np.float32), np.int32(100))
    assert loop_not_unrolled.check(run.subject) is None

"""Missing __restrict__: loads behind stores, by pointer."""

from __future__ import annotations

import numpy as np

from rules.example_kernels import counted
from warplens import compile
from warplens.rules.memory.missing_restrict import MissingRestrictEvidence, missing_restrict

IN_PLACE = """
__global__ void k(float* x) {
  int all = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll
  for (int n = 0; n < 4; ++n) x[i + n * all] = 2 * x[i + n * all];
}"""


def test_six_of_eight_loads_are_behind_a_store() -> None:
    found = missing_restrict(counted("unrolling/3_four_times"))
    assert found is not None
    assert found.evidence == MissingRestrictEvidence(("x", "y"), 6, 8)
    assert found.line is not None


def test_an_array_that_is_stored_to_is_silent() -> None:
    run = compile(source=IN_PLACE, arch="sm_90")["k"].launch(8, 128, np.zeros(4 * 8 * 128, np.float32))
    assert missing_restrict(run.subject) is None


def test_one_round_at_a_time_is_silent() -> None:
    assert missing_restrict(counted("unrolling/1_once")) is None

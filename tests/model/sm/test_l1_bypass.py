"""Loads that pass L1."""

from __future__ import annotations

import numpy as np
import pytest

import warplens as wl

TWICE = """extern "C" __global__ void twice(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float first = LOAD(x + i);
  __syncthreads();
  y[i] = first + LOAD(x + (i ^ 32));
}"""


@pytest.mark.parametrize(("load", "hits"), [("__ldcg", 0.0), ("*(const volatile float*)", 0.0), ("__ldca", 100 / 3)])
def test_what_others_may_have_written_is_never_found_in_l1(load: str, hits: float) -> None:
    """`twice` of measurements/h200/l2_patterns.csv reads its rows again with ld.cg, and all of it from L2.  A store is
    looked up, too: what is loaded again is a third of all."""
    x, y = np.ones(1 << 16, np.float32), np.zeros(1 << 16, np.float32)
    run = wl.compile(source=TWICE.replace("LOAD", load))["twice"].launch(256, 256, x, y)
    assert run.predict("h200").metrics["l1tex__t_sector_hit_rate.pct"].value == pytest.approx(hits)

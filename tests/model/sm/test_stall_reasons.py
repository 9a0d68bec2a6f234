"""Stall reasons of loops whose cycles can be counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

import warplens as wl
from helpers.snapshots import Snapshot
from warplens.machine import machine

ROUNDS = 20_000
LOOP = """
extern "C" __global__ void loop(int *out, int n) {
  int x = threadIdx.x;
  #pragma unroll 1
  for (int k = 0; k < n; k++) x ^= k;
  out[threadIdx.x] = x;
}
"""


def test_a_warp_waits_for_the_target_of_its_loops_branch(snapshot: Snapshot) -> None:
    """One warp: what follows the taken branch waits `latency_branch` cycles, its own issue slot among them."""
    run = wl.compile(source=LOOP)["loop"].launch(1, 32, np.zeros(32, np.int32), np.int32(ROUNDS))
    prediction = run.predict("h200")
    executed = [i for i in run.kernel.program.body if run.trace.executed[i.index] == ROUNDS]
    at = [prediction.stalls_at[i.index] for i in executed]
    assert executed[-1].base == "BRA"
    waited = ROUNDS * (machine("h200").speeds.latency_branch - 1)
    first = at[0]["branch_resolving"] + at[0]["not_selected"]  # fractions of a cycle are waited for the issue slot
    assert first == pytest.approx(waited + 0.7 * ROUNDS, rel=0.01)
    assert at[0]["branch_resolving"] == pytest.approx(waited, rel=0.01)
    for before, here in zip(executed, at[1:], strict=False):  # every other one waits for the stall count before it
        assert snapshot(here.get("wait", 0)) == pytest.approx(ROUNDS * (before.control.stall - 1), abs=ROUNDS // 100)
        assert "branch_resolving" not in here

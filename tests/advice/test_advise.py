"""Findings with their upper bounds: the copy kernels of the examples and of the first lesson."""

from __future__ import annotations

import numpy as np
import pytest

import warplens as wl


@pytest.fixture(scope="module")
def runs() -> dict[str, wl.Run]:
    module = wl.compile("examples/copy.cu")
    x = np.zeros(1 << 20, np.float32)
    return {name: module[name].launch(8192, 128, x, x.copy(), np.int32(x.size)) for name in ("ccopy", "nccopy")}


def uncoalesced(run: wl.Run) -> wl.Advice:
    (found,) = (advice for advice in wl.advise(run, gpu="h200") if advice.finding.fault == "uncoalesced_access")
    return found


def test_uncoalesced_access_has_an_upper_bound(runs: dict[str, wl.Run]) -> None:
    found = uncoalesced(runs["nccopy"])
    assert found.gain is not None
    assert 0 <= found.gain < 0.5
    assert found.time_us == runs["nccopy"].predict("h200").time_us
    assert found.line is not None


def test_a_cause_that_costs_nothing_on_this_gpu_is_said_to_gain_nothing(runs: dict[str, wl.Run]) -> None:
    found = uncoalesced(runs["nccopy"])
    assert found.worth_it == (found.gain is not None and found.gain >= 0.05)
    assert ("no measurable gain expected on NVIDIA H200" in str(found)) == (not found.worth_it)


def test_a_remainder_and_the_start_of_blocks_have_no_known_bound(runs: dict[str, wl.Run]) -> None:
    unknown = {advice.finding.fault for advice in wl.advise(runs["nccopy"], gpu="h200") if advice.gain is None}
    assert unknown == {"division_by_variable", "small_blocks"}


def test_a_kernel_without_faults_has_no_advice() -> None:
    threads = 132 * 1024
    x, y = np.zeros(16 * threads, np.float32), np.zeros(threads, np.float32)
    run = wl.compile("tests/kernels/rules.cu")["eight_loads_at_a_time"].launch(132, 1024, x, y)
    assert wl.advise(run, gpu="h200") == []

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


def test_uncoalesced_access_has_an_upper_bound(runs: dict[str, wl.Run]) -> None:
    (found,) = wl.advise(runs["nccopy"], gpu="h200")
    assert found.finding.fault == "uncoalesced_access"
    assert found.gain is not None
    assert 0 <= found.gain < 0.5
    assert found.time_us == runs["nccopy"].predict("h200").time_us
    assert found.line is not None


def test_a_cause_that_costs_nothing_on_this_gpu_is_said_to_gain_nothing(runs: dict[str, wl.Run]) -> None:
    (found,) = wl.advise(runs["nccopy"], gpu="h200")
    assert found.worth_it == (found.gain is not None and found.gain >= 0.05)
    assert ("no measurable gain expected on NVIDIA H200" in str(found)) == (not found.worth_it)


def test_a_kernel_without_faults_has_no_advice(runs: dict[str, wl.Run]) -> None:
    assert wl.advise(runs["ccopy"], gpu="h200") == []

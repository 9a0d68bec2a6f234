"""Findings with their upper bounds: the copy kernels of the examples and of the first lesson."""

from __future__ import annotations

import numpy as np
import pytest

import warplens as wl
from warplens.advice import advised


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


def test_what_a_run_has_predicted_is_not_predicted_again(
    runs: dict[str, wl.Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    timed = runs["nccopy"].timed(("ideal_access",))
    monkeypatch.setattr(wl.Run, "predict", lambda *_: pytest.fail("predicted again"))
    gains = {view.fault: view.gain for view in advised(timed).advice}
    assert timed.prediction is not None
    least = timed.what_if["ideal_access"].time_us / timed.prediction.time_us
    assert gains["uncoalesced_access"] == pytest.approx(max(1 - least, 0))

"""Times of launches that follow each other, by what L2 holds."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import warplens as wl
from warplens.core.launch import Launch
from warplens.machine import machine
from warplens.model.grid.l2_contents import L2Contents, L2Start, RangeUse
from warplens.program.loaded_module import LaunchConfiguration
from warplens.program.timing import l2_history
from warplens.program.timing.l2_history import FILL, TO_DEVICE, WITHIN, L2History
from warplens.program.timing.predicted_launch import MOST_STARTS, LaunchTime, PredictedLaunch, TimedLaunch, anchors
from warplens.program.timing.time_prediction import TimePredictor

H200 = machine("h200")
MIB = 1 << 20
X, Y = 0x2000_0000_0000, 0x2000_1000_0000


def use(low: int, size: int = MIB) -> RangeUse:
    return RangeUse(low, low + size, size, 0, size * 3 // 2, 0)


class Model:
    """A model whose launch takes 10 us less where L2 has all."""

    def __init__(self) -> None:
        self.asked: list[L2Start] = []

    def prediction(self, start: L2Start) -> Any:
        self.asked.append(start)
        return LaunchTime(20 - 10 * start.resident[0], 5, 30, "")


@pytest.fixture
def launch(monkeypatch: pytest.MonkeyPatch) -> TimedLaunch:
    monkeypatch.setattr("warplens.program.timing.predicted_launch.with_text", lambda made: made)
    monkeypatch.setattr(LaunchTime, "of", staticmethod(lambda made: made))
    predicted = PredictedLaunch(100, LaunchTime(20, 10, 30, ""), uses=(use(X),), anchors=(0,), model=Model())  # type: ignore[arg-type]
    return TimedLaunch(predicted, predicted.uses, H200)


def test_a_launch_repeated_is_predicted_twice(launch: TimedLaunch) -> None:
    history = L2History(H200)
    times, states = [], []
    for _ in range(100):
        times.append(history.launch(launch).time_us)
        states.append(history.state)
    assert times == [20] + [10] * 99
    assert len(set(states)) == 1
    assert len(launch.predicted.model.asked) == 1  # type: ignore[union-attr]


@pytest.mark.parametrize(("kind", "warm"), [(TO_DEVICE, True), (WITHIN, True), (FILL, True), (2, False)])
def test_copies_and_fills_leave_data_in_l2(launch: TimedLaunch, kind: int, warm: bool) -> None:
    history = L2History(H200)
    history.copy(kind, Y, X, MIB)
    assert history.launch(launch).time_us == (10 if warm else 20)


def test_the_source_of_a_copy_within_the_gpu_is_there_too(launch: TimedLaunch) -> None:
    history = L2History(H200)
    history.copy(WITHIN, X, Y, MIB)
    assert history.launch(launch).time_us == 10


def test_known_states_are_forgotten_and_none_has_the_number_of_another(
    launch: TimedLaunch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(l2_history, "MOST_STEPS", 4)
    history = L2History(H200)
    seen: dict[int, L2Contents] = {}
    for number in range(40):
        history.copy(FILL, 0, Y + number % 7 * MIB, MIB)
        assert seen.setdefault(history.state, history.contents) == history.contents


def test_of_many_states_the_nearest_is_taken(launch: TimedLaunch) -> None:
    predicted, sizes = launch.predicted, L2History(H200).sizes
    for number in range(1, 2 * MOST_STARTS):
        predicted.time(L2Start((number / 16,), 0), sizes)
    assert len(predicted.model.asked) == MOST_STARTS  # type: ignore[union-attr]
    assert predicted.time(L2Start((1.0,), 0), sizes).time_us == 20 - 10 * MOST_STARTS / 16
    assert predicted.time(L2Start((0.02,), 0), sizes).time_us == 20
    predicted.model = None  # its recording has been given up
    assert predicted.time(L2Start((0.49,), 0), sizes).time_us == 15


def test_a_launch_on_other_buffers_uses_those() -> None:
    before, now = (np.array([7, one, two], np.uint64).tobytes() for one, two in ((X, Y), (Y, X + 64 * MIB)))
    uses = use(X + 4096), use(Y), use(5)
    found = anchors(uses, [(X, X + 2 * MIB), (Y, Y + 2 * MIB), (5, 6)], before)
    assert found == (1, 2, None)
    other = PredictedLaunch(1, LaunchTime(1, 1, 1, ""), before, uses, found).uses_at(now)
    assert [one.low for one in other] == [Y + 4096, X + 64 * MIB, 5]


SOURCE = """extern "C" __global__ void copy(const float4* x, float4* y) {
  int i = blockIdx.x * 256 + threadIdx.x;
  y[i] = x[i];
}"""


def test_a_launch_is_predicted_for_the_l2_that_it_finds() -> None:
    x = np.zeros((512, 256, 4), np.float32)
    kernel = wl.compile(source=SOURCE, arch="sm_90")["copy"]
    run = kernel.launch(512, 256, x, np.zeros_like(x))
    configuration = LaunchConfiguration("f", kernel, Launch((512, 1, 1), (256, 1, 1)), 1.0)  # type: ignore[arg-type]
    timed = TimePredictor(H200).time(run, configuration)
    history = L2History(H200)
    first, second, third = (history.launch(timed) for _ in range(3))
    assert first == timed.cold
    assert second.time_us < 0.9 * first.time_us
    assert third == second
    assert second.limit


def test_a_launch_behind_another_takes_its_kernel_duration() -> None:
    """Of all 52 kernels on an H200, from 1.5 to 29 microseconds: the shim takes event_microseconds off."""
    with (Path(__file__).parents[3] / "measurements" / "h200" / "launch_intervals.csv").open(encoding="utf-8") as file:
        less = [float(row["alone_us"]) - float(row["interval_us"]) for row in csv.DictReader(file)]
    assert np.median(less) == pytest.approx(H200.speeds.event_microseconds, rel=0.1)
    assert (min(less) > 1.0, max(less) < 1.7) == (True, True)

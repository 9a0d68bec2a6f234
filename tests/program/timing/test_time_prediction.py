"""Time prediction: which launches are predicted, and which take the time of others."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import warplens as wl
from warplens.core.launch import Launch
from warplens.program.arena import BASE, GRANULARITY
from warplens.program.loaded_module import LaunchConfiguration
from warplens.program.timing import time_prediction
from warplens.program.timing.predicted_launch import LaunchTime, PredictedLaunch
from warplens.program.timing.time_prediction import PATIENCE, TimePredictor, without_addresses


def block(*words: int) -> bytes:
    return np.array(words, np.uint64).tobytes()


def test_addresses_count_by_their_alignment() -> None:
    one, other = BASE + 4 * GRANULARITY, BASE + 9 * GRANULARITY
    assert without_addresses(block(one, 7)) == without_addresses(block(other, 7))
    assert without_addresses(block(one, 7)) != without_addresses(block(one, 8))
    assert without_addresses(block(one)) != without_addresses(block(one + 4))
    assert without_addresses(block(one) + b"abc")[8:] == b"abc"


@pytest.fixture
def predictor(monkeypatch: pytest.MonkeyPatch) -> TimePredictor:
    """Starting a launch takes 2 microseconds; each prediction has 10 more than the one before, which had 12 first."""
    made = TimePredictor(wl.machine.machine("h200"))
    seen: list[Any] = []

    def predicted(run: Any, instructions: int) -> PredictedLaunch:
        seen.append(run)
        return PredictedLaunch(instructions, LaunchTime(2.0 + 10 * len(seen), 7.0, 20.0, "limit"))

    monkeypatch.setattr(made, "_predicted", predicted)
    made.gpu = SimpleNamespace(speeds=SimpleNamespace(launch_microseconds=2.0))  # type: ignore[assignment]
    return made


def configured(grid: int) -> Any:
    return LaunchConfiguration("f", "k", Launch((grid, 1, 1), (32, 1, 1)), 1.0)  # type: ignore[arg-type]


ONE = configured(1)


def launched(
    predictor: TimePredictor, parameters: bytes, *executed: int, counted: bool = True, selected: bool = True,
    configuration: Any = ONE,
) -> LaunchTime:  # fmt: skip
    memory = SimpleNamespace(again=lambda: None, release=lambda: None)
    run = SimpleNamespace(
        again=SimpleNamespace(parameters=parameters, memory=memory),
        counted=SimpleNamespace(executed=lambda: np.array(executed), counted=counted),
    )
    return predictor.time(run, configuration, selected).cold  # type: ignore[arg-type]


def test_launches_that_are_alike_are_predicted_once(predictor: TimePredictor) -> None:
    assert launched(predictor, block(BASE, 3), 10, 2).time_us == 12
    assert launched(predictor, block(BASE + GRANULARITY, 3), 10, 2).time_us == 12
    assert launched(predictor, block(BASE, 4), 10, 2).time_us == 22
    assert launched(predictor, block(BASE, 3), 9, 3).time_us == 32


def test_beyond_so_many_the_nearest_is_taken_in_proportion(
    predictor: TimePredictor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time_prediction, "MOST", 2)
    launched(predictor, block(1), 100)
    launched(predictor, block(2), 1000)
    other = launched(predictor, block(3), 1500)
    assert (other.time_us, other.low_us, other.high_us, other.in_proportion) == (32.0, 9.5, 29.0, True)
    assert not launched(predictor, block(2), 1000).in_proportion


def test_a_launch_without_counters_takes_the_time_of_a_counted_one_in_proportion(predictor: TimePredictor) -> None:
    assert predictor.wants_counters(ONE)
    launched(predictor, block(1), 100)
    assert not predictor.wants_counters(ONE)
    assert launched(predictor, block(1), 100, counted=False).time_us == 12
    other = launched(predictor, block(2), 150, counted=False)
    assert (other.time_us, other.in_proportion) == (17.0, True)
    assert not predictor.wants_counters(ONE)


def test_after_a_launch_that_is_far_from_all_that_were_predicted_others_are_counted(predictor: TimePredictor) -> None:
    launched(predictor, block(1), 100)
    assert launched(predictor, block(2), 1000, counted=False).in_proportion
    assert predictor.wants_counters(ONE)
    assert launched(predictor, block(3), 110, selected=False).in_proportion  # counted, but near to the first
    assert predictor.wants_counters(ONE)
    assert launched(predictor, block(4), 900, selected=False).time_us == 22
    assert not predictor.wants_counters(ONE)
    assert launched(predictor, block(5), 990, counted=False).time_us == pytest.approx(24)


def test_launches_are_not_counted_for_ever_for_one_that_was_far(predictor: TimePredictor) -> None:
    launched(predictor, block(1), 100)
    launched(predictor, block(2), 1000, counted=False)
    for number in range(PATIENCE):
        assert predictor.wants_counters(ONE)
        launched(predictor, block(3 + number), 101 + number, selected=False)
    assert not predictor.wants_counters(ONE)


def test_of_many_grids_those_near_to_a_predicted_one_take_its_time_in_proportion(
    predictor: TimePredictor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time_prediction, "MOST_GRIDS", 2)
    launched(predictor, block(1), 1000, configuration=configured(10))
    launched(predictor, block(1), 900, configuration=configured(9))
    near, far, again = configured(11), configured(20), configured(21)
    assert launched(predictor, block(1), 1100, configuration=near).time_us == pytest.approx(13)
    assert not predictor.wants_counters(near)
    assert launched(predictor, block(1), 1100, counted=False, configuration=near).in_proportion
    assert launched(predictor, block(1), 2000, configuration=far).time_us == 32
    assert launched(predictor, block(1), 2100, configuration=again).time_us == pytest.approx(33.5)

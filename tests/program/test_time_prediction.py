"""Time prediction: which launches are predicted, and which take the time of others."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import warplens as wl
from warplens.program import time_prediction
from warplens.program.arena import BASE, GRANULARITY
from warplens.program.time_prediction import LaunchTime, TimePredictor, without_addresses


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
    """Each prediction takes a microsecond more than the one before."""
    made = TimePredictor(wl.machine.machine("h200"))
    seen: list[Any] = []

    def predicted(run: Any) -> LaunchTime:
        seen.append(run)
        return LaunchTime(float(len(seen)), 0.5, 2.0, "limit")

    monkeypatch.setattr(made, "_predicted", predicted)
    return made


def launched(predictor: TimePredictor, parameters: bytes, *executed: int) -> LaunchTime:
    memory = SimpleNamespace(again=lambda: None, release=lambda: None)
    run = SimpleNamespace(
        again=SimpleNamespace(parameters=parameters, memory=memory),
        counted=SimpleNamespace(executed=lambda: np.array(executed)),
    )
    return predictor.time(run, "configuration")  # type: ignore[arg-type]


def test_launches_that_are_alike_are_predicted_once(predictor: TimePredictor) -> None:
    assert launched(predictor, block(BASE, 3), 10, 2).time_us == 1
    assert launched(predictor, block(BASE + GRANULARITY, 3), 10, 2).time_us == 1
    assert launched(predictor, block(BASE, 4), 10, 2).time_us == 2
    assert launched(predictor, block(BASE, 3), 9, 3).time_us == 3


def test_beyond_so_many_the_nearest_is_taken_in_proportion(
    predictor: TimePredictor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time_prediction, "MOST", 2)
    launched(predictor, block(1), 100)
    launched(predictor, block(2), 1000)
    other = launched(predictor, block(3), 1500)
    assert (other.time_us, other.low_us, other.in_proportion) == (3.0, 0.75, True)
    assert not launched(predictor, block(2), 1000).in_proportion

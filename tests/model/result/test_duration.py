"""The kernel duration: gpu__time_duration.sum of Nsight Compute, beside the time between two CUDA events."""

from __future__ import annotations

import csv
import statistics
from pathlib import Path

import numpy as np
import pytest

import warplens as wl
from warplens.machine import machine, machines
from warplens.model.result.prediction_metrics import interval

ROOT = Path(__file__).parents[3]
SPEEDS = machine("h200").speeds
TIMES = sorted((ROOT / "tests" / "validation").glob("*/h200/times.csv"))
COPY = "__global__ void copy(const float* in, float* out) { int i = threadIdx.x; out[i] = in[i]; }"


def recorded() -> list[tuple[float, float]]:
    """(predicted event time, measured gpu__time_duration.sum) of the validation lists, in microseconds."""
    found = []
    for measured in TIMES:
        with measured.open(newline="") as file:
            durations = {row["name"]: float(row["gpu__time_duration.sum"]) / 1000 for row in csv.DictReader(file)}
        with measured.with_name("predictions.csv").open(newline="") as file:
            found += [(float(row["time_us"]), durations[row["name"]]) for row in csv.DictReader(file) if row["time_us"]]
    return found


def test_durations_of_the_validation_lists_are_as_near_as_their_event_times() -> None:
    """event_microseconds comes from micro-benchmarks, not from these launches."""
    launches = recorded()
    assert len(launches) > 1100
    errors = [abs((time - SPEEDS.event_microseconds) / measured - 1) for time, measured in launches]
    assert statistics.median(errors) < 0.06
    launch_us = SPEEDS.launch_microseconds - SPEEDS.event_microseconds
    spans = [(interval(time - SPEEDS.event_microseconds, launch_us, True), measured) for time, measured in launches]
    inside = sum(low <= measured <= high for (low, high), measured in spans)
    assert inside > 0.9 * len(launches)


@pytest.mark.every(4)
@pytest.mark.parametrize("gpu", machines())
def test_the_duration_is_the_event_time_without_what_events_add(gpu: str) -> None:
    speeds = machine(gpu).speeds
    assert 0 < speeds.event_microseconds < speeds.launch_microseconds


def test_a_prediction_has_both_times() -> None:
    zeros = np.zeros(32, np.float32)
    kernel = wl.compile(source=COPY, arch="sm_90")["copy"]
    found = kernel.launch(1, 32, zeros, zeros.copy()).predict("h200")
    assert found.time_us - found.duration_us == pytest.approx(SPEEDS.event_microseconds)
    assert found.duration_low_us < found.duration_us < found.duration_high_us < found.time_us
    assert found.metrics["gpu__time_duration.sum"].value == pytest.approx(1000 * found.duration_us)

"""Readings of a micro-benchmark: median, and the tenth and ninth tenth of its repeats."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np

from warplens.calibration import trials
from warplens.calibration.bench import Bench


def test_a_reading_is_the_median_between_the_outer_tenths() -> None:
    trial = next(trial for trial in trials(132) if trial.reads == "time" and not trial.shared)
    times = iter([1.0, *range(20, 0, -1)])  # the first launch only warms up
    bench: Any = Bench.__new__(Bench)
    bench._arguments = lambda trial: nullcontext([])
    bench._once = lambda trial, args: (float(next(times)), np.zeros(1))
    (reading,) = bench.read(trial, 20)
    assert (reading.value, reading.low, reading.high) == (10.5, 3.0, 18.0)

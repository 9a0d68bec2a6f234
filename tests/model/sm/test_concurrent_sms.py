"""SMs that are simulated at the same time."""

from __future__ import annotations

import numpy as np
import pytest

import warplens as wl

SOURCE = """extern "C" __global__ void gather(float* y, const float* x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i * 37 % 8192] + x[i ^ 32];
}"""


def test_a_prediction_does_not_depend_on_the_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    run = wl.compile(source=SOURCE)["gather"].launch(24, 64, np.zeros(1536, np.float32), np.ones(8192, np.float32))
    made = []
    for threads in ("1", "3", "3"):
        monkeypatch.setenv("WARPLENS_THREADS", threads)
        made.append(run.predict())
    assert made[0].time_us > 0
    for other in made[1:]:
        assert (other.time_us, other.low_us, other.high_us, other.limit) == (
            made[0].time_us, made[0].low_us, made[0].high_us, made[0].limit,
        )  # fmt: skip
        assert other.metrics == made[0].metrics

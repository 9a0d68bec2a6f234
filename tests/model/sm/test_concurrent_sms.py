"""SMs that are simulated at the same time."""

from __future__ import annotations

import time
from threading import current_thread, main_thread
from threading import enumerate as enumerate_threads
from typing import Any

import numpy as np
import pytest

import warplens as wl
from warplens.errors import TimeLimitReached
from warplens.model.sm import simulate
from warplens.program.process.time_limit import time_limit

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


@pytest.mark.parametrize("on_main_thread", [True, False])
def test_a_signal_ends_simulations_that_do_not_end(monkeypatch: pytest.MonkeyPatch, on_main_thread: bool) -> None:
    run = wl.compile(source=SOURCE)["gather"].launch(24, 64, np.zeros(1536, np.float32), np.ones(8192, np.float32))
    native = simulate._run

    def endless(*arguments: Any) -> Any:
        if (current_thread() is main_thread()) is not on_main_thread:
            return native(*arguments)
        time.sleep(0.01)
        return arguments[-2:]

    monkeypatch.setenv("WARPLENS_THREADS", "3")
    monkeypatch.setattr(simulate, "_run", endless)
    with pytest.raises(TimeLimitReached), time_limit(1):
        run.predict()
    assert not [thread for thread in enumerate_threads() if thread.name.startswith("ThreadPoolExecutor")]

"""Time limit: code is stopped once it has run too long, and no other."""

from __future__ import annotations

import time
from ctypes import c_int32
from math import inf

import numpy as np
import pytest

import warplens as wl
from warplens.emulator.execute import time_limit
from warplens.emulator.execute.time_limit import POLL_SECONDS, stopped_after
from warplens.errors import TimeLimitReached


def stopped(flag: c_int32, seconds: float) -> bool:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end and not flag.value:
        time.sleep(0.005)
    return bool(flag.value)


def always() -> bool:
    return True


def test_code_is_stopped_after_its_time_and_other_code_is_not() -> None:
    short, long, done = c_int32(0), c_int32(0), c_int32(0)
    with stopped_after(0.01, done, always):
        pass
    with stopped_after(inf, long, always), stopped_after(0.01, short, always):
        assert stopped(short, 20 * POLL_SECONDS)
    assert not long.value
    assert not done.value


def test_code_goes_on_until_stopping_it_pays() -> None:
    flag, answers = c_int32(0), iter((False, False, True))
    with stopped_after(0.01, flag, lambda: next(answers)):
        assert not stopped(flag, 1.5 * POLL_SECONDS)
        assert stopped(flag, 20 * POLL_SECONDS)


def test_a_watchdog_that_sleeps_is_woken(monkeypatch) -> None:
    monkeypatch.setattr(time_limit, "POLL_SECONDS", 0.001)
    watchdog = time_limit.Watchdog()
    for _ in range(2):
        flag = c_int32(0)
        number = watchdog.begin(0.0, flag, always)
        assert stopped(flag, 5)
        watchdog.end(number)
        time.sleep(0.2)
        assert watchdog._asleep


SPINS = """
__global__ void spins(volatile float* x) {
  x[1] = 1;
  while (x[0] == 0)
    x[1] += 1;
}
"""


def test_a_launch_that_is_ended_says_where_it_was() -> None:
    polls = 0

    def over(done: int, blocks: int) -> None:
        nonlocal polls
        polls += 1
        if polls > 8:
            raise TimeLimitReached

    kernel = wl.compile(source=SPINS)["spins"]
    with pytest.raises(TimeLimitReached) as ended:
        kernel.launch(2, 32, np.zeros(2, np.float32), progress=over, threads=1)
    assert ended.value.place in ("source.cu:4", "source.cu:5")

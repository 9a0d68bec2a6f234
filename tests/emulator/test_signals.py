"""Who waits for a launch can end it, also where machine code runs on the main thread."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from launches import written

SOURCE = """
extern "C" __global__ void slow(int *out, int rounds) {
  int x = threadIdx.x, i = blockIdx.x * 32 + threadIdx.x;
  for (int k = 0; k < rounds; k++) x = x * 1664525 + (x >> 3) + k;
  out[i] += x;
}
"""
ROUNDS = 30_000_000  # seconds


@contextmanager
def signalled(number: int, seconds: float) -> Iterator[None]:
    """This process is sent a signal so long after the beginning."""
    timer = threading.Timer(seconds, os.kill, (os.getpid(), number))
    timer.start()
    try:
        yield
    finally:
        timer.join()


@pytest.fixture(autouse=True)
def _as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPLENS_TIER", "whole")


def test_control_c_ends_a_launch_at_once_and_arrays_are_as_they_were() -> None:
    kernel, out = written(SOURCE, "slow"), np.ones(8 * 32, np.int32)
    kernel.launch(8, 32, out.copy(), 1, threads=1)
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt), signalled(signal.SIGINT, 0.1):
        kernel.launch(64, 32, np.ones(64 * 32, np.int32), ROUNDS, threads=1)
    with pytest.raises(KeyboardInterrupt), signalled(signal.SIGINT, 0.1):
        kernel.launch(8, 32, out, ROUNDS, threads=1)
    assert time.perf_counter() - start < 2
    assert (out == 1).all()


def test_a_signal_that_is_dealt_with_leaves_the_result_and_is_told_to_who_else_listens() -> None:
    seen: list[int] = []
    reads, writes = os.pipe()
    os.set_blocking(writes, False)
    before, others = signal.signal(signal.SIGUSR1, lambda n, _: seen.append(n)), signal.set_wakeup_fd(writes)
    try:
        kernel = written(SOURCE, "slow")
        plain, out = np.ones(8 * 32, np.int32), np.ones(8 * 32, np.int32)
        expected = kernel.launch(8, 32, plain, 3_000_000, threads=1)
        with signalled(signal.SIGUSR1, 0.02):
            run = kernel.launch(8, 32, out, 3_000_000, threads=1)
        assert seen == [signal.SIGUSR1]
        assert os.read(reads, 8) == bytes([signal.SIGUSR1])
        assert signal.set_wakeup_fd(writes) == writes
    finally:
        signal.set_wakeup_fd(others)
        signal.signal(signal.SIGUSR1, before)
    assert np.array_equal(out, plain)
    assert np.array_equal(run.trace.executed, expected.trace.executed)


def test_on_another_thread_a_launch_runs_as_ever() -> None:
    outs = [np.ones(64, np.int32) for _ in range(2)]
    written(SOURCE, "slow").launch(2, 32, outs[0], 10, threads=1)
    thread = threading.Thread(target=written(SOURCE, "slow").launch, args=(2, 32, outs[1], 10), kwargs={"threads": 1})
    thread.start()
    thread.join()
    assert np.array_equal(*outs)

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

from helpers.kernel_launches import written
from warplens.emulator.execute import signals, syscalls
from warplens.emulator.memory import device_memory
from warplens.emulator.memory.copy_on_write import CopyOnWrite

pytestmark = pytest.mark.usefixtures("every_thread_works")

SOURCE = """
extern "C" __global__ void slow(int *out, int rounds) {
  int x = threadIdx.x, i = blockIdx.x * 32 + threadIdx.x;
  for (int k = 0; k < rounds; k++) x = x * 1664525 + (x >> 3) + k;
  out[i] += x;
}
"""
TOLD = """
extern "C" __global__ void told(int *out) {
  if (threadIdx.x == 0) printf("here\\n");
  out[threadIdx.x] = 7;
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


def test_control_c_that_another_thread_gets_ends_a_launch_at_once() -> None:
    """The system may give it to any; this one waits for two others, blocks of some hundredths of a second each."""
    kernel, out = written(SOURCE.replace("+=", "="), "slow"), np.ones(2000 * 32, np.int32)
    timer = threading.Timer(1.0, lambda: signal.pthread_kill(threading.get_ident(), signal.SIGINT))
    kernel.launch(4, 32, out, 1, threads=2)
    start = time.perf_counter()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        kernel.launch(2000, 32, out, ROUNDS // 5, threads=2)
    assert time.perf_counter() - start < 4


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


def test_a_signal_that_launches_a_kernel_itself_leaves_all_as_it_was() -> None:
    """Its launch has the listener while the one that it interrupts, in the printf of which it comes, has it too."""
    inner, out = np.ones(32, np.int32), np.ones(32, np.int32)
    other = written(SOURCE, "slow")
    other.launch(1, 32, inner.copy(), 1, threads=1)
    before = signal.signal(signal.SIGUSR1, lambda *_: other.launch(1, 32, inner, 10, threads=1) and None)
    others = signal.set_wakeup_fd(-1)
    called = syscalls.SystemCalls._vprintf

    def interrupted(self: syscalls.SystemCalls, call: syscalls.SystemCall) -> None:
        os.kill(os.getpid(), signal.SIGUSR1)
        called(self, call)

    try:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(syscalls.SystemCalls, "_vprintf", interrupted)
            run = written(TOLD, "told").launch(1, 32, out, threads=1)
        left = signal.set_wakeup_fd(-1)
    finally:
        signal.set_wakeup_fd(others)
        signal.signal(signal.SIGUSR1, before)
    assert left == -1
    assert signals._listener().next != signals._listener().writes
    assert (out == 7).all()
    assert (inner != 1).any()
    assert run.printed == "here\n"


def test_control_c_while_a_buffer_is_kept_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, out = written(SOURCE, "slow"), np.ones(1 << 19, np.int32)
    kernel.launch(8, 32, out.copy(), 1, threads=1)
    once = [KeyboardInterrupt()]

    def interrupted(array: np.ndarray, few: bool) -> CopyOnWrite:
        if once:
            raise once.pop()
        return CopyOnWrite(array, few)

    monkeypatch.setattr(device_memory, "CopyOnWrite", interrupted)
    with pytest.raises(KeyboardInterrupt):
        kernel.launch(1 << 14, 32, out, 100, threads=1)
    assert (out == 1).all()


@pytest.mark.every(4)
@pytest.mark.parametrize("threads", [1, 2])
def test_nothing_runs_on_when_the_progress_raises(threads: int) -> None:
    kernel, out = written(SOURCE, "slow"), np.ones(1 << 19, np.int32)

    def refuse(done: int, blocks: int) -> None:
        if done > 1:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        kernel.launch(1 << 14, 32, out, 100_000, threads=threads, progress=refuse)
    used = time.process_time()
    time.sleep(0.2)
    assert time.process_time() - used < 0.1
    assert (out == 1).all()

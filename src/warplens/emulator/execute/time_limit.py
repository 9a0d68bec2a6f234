"""Time limit: stops native code that runs on the calling thread for too long.

One thread looks after all of them, every POLL_SECONDS while there are launches: starting a timer for each would take
as long as 10,000 warp instructions.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import c_int32
from functools import cache
from threading import Event, Thread

POLL_SECONDS = 0.05
IDLE_POLLS = 20  # without a launch, until the thread sleeps


class Watchdog:
    """Watchdog: `running`, the deadlines, stop flags and last questions of code that runs, by a number of each."""

    def __init__(self) -> None:
        self.running: dict[int, tuple[float, c_int32, Callable[[], bool]]] = {}
        self.begun = 0
        self._asleep = False
        self._wake = Event()
        Thread(target=self._watch, name="warplens time limit", daemon=True).start()

    def begin(self, seconds: float, stop: c_int32, ends: Callable[[], bool]) -> int:
        self.begun += 1
        number = self.begun
        self.running[number] = time.perf_counter() + seconds, stop, ends
        if self._asleep:
            self._wake.set()
        return number

    def end(self, number: int) -> None:
        del self.running[number]

    def _watch(self) -> None:
        while True:
            self._wake.clear()
            self._asleep = True
            if not self.running:  # looked at after `_asleep` is set: what begins now wakes this thread
                self._wake.wait()
            self._asleep = False
            self._poll()

    def _poll(self) -> None:
        """Until no launch has begun for a while."""
        idle, seen = 0, -1
        while idle < IDLE_POLLS:
            time.sleep(POLL_SECONDS)
            idle = 0 if self.running or self.begun != seen else idle + 1
            seen = self.begun
            now = time.perf_counter()
            for deadline, stop, ends in list(self.running.values()):
                if now > deadline and ends():
                    stop.value = 1


@cache
def _watchdog() -> Watchdog:
    return Watchdog()


os.register_at_fork(after_in_child=_watchdog.cache_clear)  # a child has no threads


@contextmanager
def stopped_after(seconds: float, stop: c_int32, ends: Callable[[], bool]) -> Iterator[None]:
    """Context manager: sets `stop` after so many seconds, as soon as `ends()` is true."""
    watchdog = _watchdog()
    number = watchdog.begin(seconds, stop, ends)
    try:
        yield
    finally:
        watchdog.end(number)

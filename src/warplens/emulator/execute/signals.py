"""A signal stops machine code that runs on the main thread.

Python looks at signals between instructions of its own, and one call of machine code can take minutes.  To run it on
another thread and to wait here takes as long as 50,000 warp instructions.  So it runs here, and the system writes each
signal into a pipe, at whose other end a thread waits that asks the machine code to stop.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from ctypes import c_int32
from functools import cache
from threading import Event, Thread, current_thread, main_thread

NOBODY = -1
MARK = b"\0"  # no signal has this number
PATIENCE = 1.0  # seconds


class SignalledError(Exception):
    """A signal has come, and what it calls in Python did not end the launch: it is run again from the start."""


class SignalListener:
    """The thread; `stop` is what it sets, `next` who else wants to know of signals."""

    def __init__(self) -> None:
        self.stop: c_int32 | None = None
        self.next = NOBODY
        self._reads, self.writes = os.pipe()
        os.set_blocking(self.writes, False)
        self._settled = Event()
        Thread(target=self._listen, name="warplens signals", daemon=True).start()

    def _listen(self) -> None:
        while told := os.read(self._reads, 64):
            stop, other = self.stop, self.next  # which the main thread may change meanwhile
            signals = told.replace(MARK, b"")
            if signals and other != NOBODY:
                with suppress(OSError):  # full, or closed: what Python itself would pass over
                    os.write(other, signals)
            if signals and stop is not None:
                stop.value = 1
            if len(signals) < len(told):
                self._settled.set()

    def settle(self) -> None:
        """Until what has come is told: not to the launch after this one, nor to who listens then."""
        self._settled.clear()
        with suppress(OSError):
            os.write(self.writes, MARK)
            self._settled.wait(PATIENCE)


@cache
def _listener() -> SignalListener:
    return SignalListener()


os.register_at_fork(after_in_child=_listener.cache_clear)  # threads stay behind


@contextmanager
def stopped_by_signals(stop: c_int32) -> Iterator[None]:
    """Within, a signal sets `stop`.  Python calls no other thread for one: there nothing is done."""
    if current_thread() is not main_thread():
        yield
        return
    listener = _listener()
    outer, before = listener.stop, signal.set_wakeup_fd(listener.writes, warn_on_full_buffer=False)
    if before != listener.writes:  # not within a launch whose signal handler or printf launches this one
        listener.next = before
    listener.stop = stop
    try:
        yield
    except BaseException:  # mostly for a signal
        listener.settle()
        raise
    finally:
        listener.stop = outer
        signal.set_wakeup_fd(before)

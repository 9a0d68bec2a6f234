"""Signals: stop native code that runs on the main thread.

Python handles signals between bytecodes, and one call of machine code can take minutes.  Running it on another thread
and waiting here takes as long as 50,000 warp instructions.  So it runs here, and the system writes each signal into the
wakeup pipe, which a listener thread reads; it asks the native code to stop.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from ctypes import c_int32
from functools import cache
from threading import Event, Thread, current_thread, main_thread

NO_FD = -1
MARK = b"\0"  # no signal has this number
SETTLE_SECONDS = 1.0


class SignalListener:
    """Signal listener thread: sets `stop`, and forwards signals to `next`, the wakeup descriptor set before."""

    def __init__(self) -> None:
        self.stop: c_int32 | None = None
        self.next = NO_FD
        self._reads, self.writes = os.pipe()
        os.set_blocking(self.writes, False)
        self._settled = Event()
        Thread(target=self._listen, name="warplens signals", daemon=True).start()

    def _listen(self) -> None:
        while received := os.read(self._reads, 64):
            stop, other = self.stop, self.next  # the main thread may change them meanwhile
            signals = received.replace(MARK, b"")
            if signals and other != NO_FD:
                with suppress(OSError):  # full, or closed: Python ignores it too
                    os.write(other, signals)
            if signals and stop is not None:
                stop.value = 1
            if len(signals) < len(received):
                self._settled.set()

    def settle(self) -> None:
        """Waits until pending signals are handled: none may reach the next launch or the next listener."""
        self._settled.clear()
        with suppress(OSError):
            os.write(self.writes, MARK)
            self._settled.wait(SETTLE_SECONDS)


@cache
def _listener() -> SignalListener:
    return SignalListener()


os.register_at_fork(after_in_child=_listener.cache_clear)  # a child has no threads


@contextmanager
def stopped_by_signals(stop: c_int32) -> Iterator[None]:
    """Context manager: a signal sets `stop`.  No-op except on the main thread, where Python handles signals."""
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

"""Time limit: ends what runs on this thread after some seconds, also in the middle of a kernel."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from warplens.errors import TimeLimitReached


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Context manager: TimeLimitReached after so many seconds; None: no limit.  On the main thread alone."""
    if seconds is None:
        yield
        return

    def reached(number: int, frame: FrameType | None) -> None:
        raise TimeLimitReached

    before = signal.signal(signal.SIGALRM, reached)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)

"""Program progress: a line on stderr while a program runs, on a terminal: launches so far, what is executed."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import TextIO

from warplens.control_characters import visible
from warplens.report.program_view import ProgramView
from warplens.report.wording import count

PATIENCE_SECONDS, STEP_SECONDS = 2.0, 0.5
CLEAR, TO_START = "\x1b[2K", "\r"
MOST = 79  # characters: a longer line would wrap, and could not be cleared


@contextmanager
def shown(view: ProgramView, out: TextIO | None = None, patience: float = PATIENCE_SECONDS) -> Iterator[None]:
    """Context manager: nothing where stderr is no terminal, or the program ends soon.

    The cursor goes back to the start of the line, where the program's own output goes on.
    """
    out = out or sys.stderr
    if not out.isatty():
        yield
        return
    ended = Event()
    thread = Thread(target=_show, args=(view, out, ended, patience), name="warplens progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _show(view: ProgramView, out: TextIO, ended: Event, patience: float) -> None:
    started, running, since = time.monotonic(), "", 0.0
    written = False
    while not ended.wait(min(STEP_SECONDS, patience)):
        now = time.monotonic()
        if view.running != running:
            running, since = view.running, now
        if now - started >= patience:
            out.write(CLEAR + line(view, running, now - started, now - since)[:MOST] + TO_START)
            out.flush()
            written = True
    if written:
        out.write(CLEAR)
        out.flush()


def line(view: ProgramView, running: str, seconds: float, seconds_of_it: float) -> str:
    """ "warplens: 12 launches in 34 s; executing scale for 5 s"."""
    launches = f"{view.launches:,} launch{'es' * (view.launches != 1)}"
    text = f"warplens: {launches} in {count(round(seconds), 'second')}"
    return visible(f"{text}; {running} for {seconds_of_it:.0f} s" if running else text)

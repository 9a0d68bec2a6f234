"""Progress of long runs on stderr: a bar after a second, on a terminal, and once a hint at --sample."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from warplens.control_characters import visible

PATIENCE_SECONDS = 1.0
LONG_SECONDS = 10.0
SAMPLE_BLOCKS = 64


def bar(title: str, hint: bool = False) -> Callable[[int, int], None] | None:
    """To be called with blocks done and all blocks; None where nobody would see it.

    hint   whether to say of a launch of many blocks, once, how long it will take and that a sample is quicker
    """
    advance = Hint(title).advance if hint else None
    if not sys.stderr.isatty():
        return advance
    shown = Bar(title).advance

    def both(done: int, blocks: int) -> None:
        if advance:
            advance(done, blocks)
        shown(done, blocks)

    return both


class Hint:
    """One line about a launch that has taken LONG_SECONDS and will take as long again."""

    def __init__(self, title: str) -> None:
        self.title, self.started, self.shown = title, time.monotonic(), False
        self.first: tuple[float, int] | None = None  # time and blocks done, when some were: before, code is compiled

    def advance(self, done: int, blocks: int) -> None:
        passed = time.monotonic() - self.started
        if done and self.first is None:
            self.first = time.monotonic(), done
        if self.shown or passed < LONG_SECONDS or blocks <= SAMPLE_BLOCKS:
            return
        left = self._left(done, blocks)
        if left is None or left > LONG_SECONDS:
            self.shown = True
            when = "" if left is None else f", about {_spoken(left)} left"
            line = (
                f"{visible(self.title)}: {done:,} of {blocks:,} blocks after {passed:.0f} s{when}; "
                f"--sample {SAMPLE_BLOCKS} runs {SAMPLE_BLOCKS} blocks and scales the counts to the grid"
            )
            print(line, file=sys.stderr, flush=True)

    def _left(self, done: int, blocks: int) -> float | None:
        """Seconds, at the speed since the first blocks; None where that is not known."""
        then, before = self.first or (0.0, done)
        return (time.monotonic() - then) * (blocks - done) / (done - before) if done > before else None


def _spoken(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


class Bar:
    def __init__(self, title: str) -> None:
        from rich.console import Console
        from rich.markup import escape
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:.0f} %"))
        self.title, self.started = title, time.monotonic()
        self.progress = Progress(
            *columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True, auto_refresh=False
        )
        self.task = self.progress.add_task(escape(visible(title)))

    def advance(self, done: int, blocks: int) -> None:
        if time.monotonic() - self.started < PATIENCE_SECONDS and not self.progress.live.is_started:
            return
        self.progress.start()
        self.progress.update(self.task, completed=done, total=blocks, refresh=True)
        if done >= blocks:
            self.progress.stop()


@contextmanager
def count_bar(title: str) -> Iterator[Callable[[int, int], None]]:
    """To be called with what is done and how much there is; a bar on a terminal or in a notebook, else nothing."""
    if not (sys.stderr.isatty() or in_notebook()):
        yield lambda done, of: None
        return
    shown = Bar(title)
    try:
        yield shown.advance
    finally:
        shown.progress.stop()


def in_notebook() -> bool:
    """Whether a bar can be drawn in a notebook: rich does it with ipywidgets."""
    return "ipykernel" in sys.modules and find_spec("ipywidgets") is not None


class ProgressLog:
    """Lines about long work for a file or a pipe."""

    def __init__(self, title: str) -> None:
        self.title, self.last = title, time.monotonic()

    def add(self, what: str, done: int, of: int) -> None:
        if time.monotonic() - self.last >= LONG_SECONDS:
            self.last = time.monotonic()
            print(visible(f"{self.title}: {done + 1} of {of}: {what}"), file=sys.stderr, flush=True)


@contextmanager
def steps(title: str) -> Iterator[Callable[[str, int, int], None]]:
    """To be called with what is done next, its number and how many there are; one line on stderr, on a terminal;
    elsewhere a line every LONG_SECONDS at the most."""
    if not sys.stderr.isatty():
        yield ProgressLog(title).add
        return
    width = shutil.get_terminal_size().columns - 1

    def show(what: str, done: int, of: int) -> None:
        line = f"{title}: {done + 1} of {of}: {what}"
        print(f"\r\x1b[K{visible(line)[:width]}", end="", file=sys.stderr, flush=True)

    try:
        yield show
    finally:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)

"""A progress bar for runs that take more than a second, on stderr and only on a terminal.  F7."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from warplens.control_characters import visible

PATIENCE_SECONDS = 1.0


def bar(title: str) -> Callable[[int, int], None] | None:
    """To be called with blocks done and all blocks; None where nobody would see it."""
    return Bar(title).advance if sys.stderr.isatty() else None


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

"""Thread pool: threads that run native code, kept between launches.

Starting a thread takes as long as ten thousand instructions.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Thread

Task = Callable[[], None]


class TaskResult:
    """Task result: `raised` has one entry once the task has ended; `ended` wakes the waiting thread.

    The queue only wakes: Ctrl-C between get() taking an entry and returning loses the entry.
    """

    def __init__(self) -> None:
        self.raised: list[BaseException | None] = []
        self.ended: SimpleQueue[None] = SimpleQueue()


class PoolThread:
    """A worker thread; waits in the idle list between tasks."""

    def __init__(self) -> None:
        self.tasks: SimpleQueue[tuple[Task, TaskResult]] = SimpleQueue()
        Thread(target=self._work, name="warplens", daemon=True).start()

    def _work(self) -> None:
        while True:
            task, outcome = self.tasks.get()
            wrong: BaseException | None = None
            try:
                task()
            except BaseException as error:
                wrong = error
            del task  # with its references to the launch
            _idle.append(self)
            outcome.raised.append(wrong)
            outcome.ended.put(None)
            del outcome, wrong


_idle: list[PoolThread] = []
os.register_at_fork(after_in_child=_idle.clear)  # a child has no threads


class StartedTask:
    """Started task: runs on a pool thread of its own."""

    def __init__(self, task: Task) -> None:
        self._outcome = TaskResult()
        try:
            thread = _idle.pop()
        except IndexError:
            thread = PoolThread()
        thread.tasks.put((task, self._outcome))

    def done(self, seconds: float | None = None) -> bool:
        """Waits for the end, at most so long; whether it has ended.  Raises the task's exception, once.

        Ctrl-C interrupts the waiting, not the task.
        """
        raised = self._outcome.raised
        if not raised:
            try:
                self._outcome.ended.get(timeout=seconds)
            except Empty:
                return False
        wrong, raised[0] = raised[0], None
        if wrong is not None:
            raise wrong
        return True

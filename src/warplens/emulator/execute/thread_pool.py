"""Threads that run machine code, kept between launches: to start one takes as long as ten thousand instructions."""

from __future__ import annotations

import os
from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Thread

Task = Callable[[], None]


class TaskResult:
    """`raised` has one entry once the task has ended; `told` wakes who waits for that.

    Ctrl-C may take away what stood in a queue: it comes when get() has it and nobody else yet.
    """

    def __init__(self) -> None:
        self.raised: list[BaseException | None] = []
        self.told: SimpleQueue[None] = SimpleQueue()


class PoolThread:
    """A thread that does one task after the other, and waits for the next among the idle."""

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
            del task  # with all that it holds of a launch
            _idle.append(self)
            outcome.raised.append(wrong)
            outcome.told.put(None)
            del outcome, wrong


_idle: list[PoolThread] = []
os.register_at_fork(after_in_child=_idle.clear)  # threads stay behind


class StartedTask:
    """A task on a thread of its own."""

    def __init__(self, task: Task) -> None:
        self._outcome = TaskResult()
        try:
            member = _idle.pop()
        except IndexError:
            member = PoolThread()
        member.tasks.put((task, self._outcome))

    def done(self, seconds: float | None = None) -> bool:
        """Waits for the end, at most so long; whether that has come.  Raises what the task raised, once.

        Ctrl-C interrupts the waiting, not the task.
        """
        raised = self._outcome.raised
        if not raised:
            try:
                self._outcome.told.get(timeout=seconds)
            except Empty:
                return False
        wrong, raised[0] = raised[0], None
        if wrong is not None:
            raise wrong
        return True

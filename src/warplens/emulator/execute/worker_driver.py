"""Worker driver: runs workers on threads; polls signals, progress and the time limit."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from math import inf

from warplens.emulator.execute.launch_state import LaunchState
from warplens.emulator.execute.outcome import FaultOutcome, Finished, Outcome, Restart
from warplens.emulator.execute.signals import stopped_by_signals
from warplens.emulator.execute.thread_pool import StartedTask
from warplens.emulator.execute.tiering import TierPolicy
from warplens.emulator.execute.time_limit import stopped_after
from warplens.emulator.execute.worker import Worker
from warplens.emulator.jit.native_code import NativeCode
from warplens.emulator.state.structs import FaultKind, Status

Progress = Callable[[int, int], None]  # (blocks done, blocks of the launch)
Chunk = tuple[int, int]  # first block, number of blocks
POLL_SECONDS = 0.05
WAKE_SECONDS = 0.5  # a signal delivered to another thread is handled when this one wakes


class WorkerDriver:
    """Worker driver: runs chunks of blocks on workers.

    blocks            of the launch, for `progress`
    on_this_thread    whether a worker that runs alone may use the calling thread, until a signal arrives
    """

    def __init__(
        self, tiers: TierPolicy, state: LaunchState, progress: Progress | None, blocks: int, on_this_thread: bool
    ) -> None:
        self.tiers, self.state, self.progress, self.blocks = tiers, state, progress, blocks
        self.on_this_thread = on_this_thread and progress is None
        self.started = time.perf_counter()

    def drive(self, code: NativeCode, workers: list[Worker], chunks: list[Chunk], finish: bool) -> Outcome:
        """Runs the chunks; `finish`: until no block of them waits."""
        self.state.stop.value = 0
        if self.on_this_thread and len(workers) == 1:
            limit = self._seconds_left(code)
            late = partial(self._late, code, workers)
            with stopped_by_signals(self.state.stop), stopped_after(limit, self.state.stop, late):
                status = workers[0].run(code, iter(chunks), finish)
        else:
            status = self._on_threads(code, workers, iter(chunks), finish)
        self.state.stop.value = 0
        return self._outcome(code, workers, status)

    def _on_threads(self, code: NativeCode, workers: list[Worker], queue: Iterator[Chunk], finish: bool) -> Status:
        """Each worker on a thread of its own takes the next chunk until none is left or one has failed."""
        lock = threading.Lock()
        failed: list[Status] = []

        def upcoming() -> Iterator[Chunk]:
            while not failed:
                with lock:
                    chunk = next(queue, None)
                if chunk is None:
                    return
                yield chunk

        def work(worker: Worker) -> None:
            status = worker.run(code, upcoming(), finish)
            if status is not Status.DONE:
                failed.append(status)
                self.state.stop.value = len(workers) > 1

        tasks: list[StartedTask] = []
        try:
            tasks += (StartedTask(partial(work, worker)) for worker in workers)
            for task in tasks:
                while not task.done(self._poll_seconds(code)):
                    self._report_progress(workers)
                    self.state.stop.value |= self._late(code, workers)
            self._report_progress(workers)
        except BaseException:
            self._stop(tasks)
            raise
        return failed[0] if failed else Status.DONE

    def _stop(self, tasks: list[StartedTask]) -> None:
        """Waits for all running tasks: they write to arrays that the caller is about to get back."""
        self.state.stop.value = 1
        for task in tasks:
            ended = False
            while not ended:
                with suppress(BaseException):  # the task's own, raised once, or another Ctrl-C
                    ended = task.done()

    def _outcome(self, code: NativeCode, workers: list[Worker], status: Status) -> Outcome:
        """The outcome of a run; raises errors of this process, in compiling code or copying arrays."""
        code.check()
        for worker in workers:
            worker.state.first_write.check()
        if any(worker.env.fault.kind == FaultKind.WRAPPED for worker in workers):
            return Restart.INDEX_WRAPPED
        if status is Status.DONE:
            return Finished(tuple(workers))
        in_order = len(workers) == 1 and workers[0].interleaved is None
        if status is Status.STOPPED and self._late(code, workers):
            return Restart.TIER_UP
        if status is Status.STOPPED and len(workers) == 1:
            return Restart.SIGNALLED
        if in_order and self.tiers.may_cross and workers[0].waits_at_convergence_barrier():
            return Restart.LANES_CROSSED
        return FaultOutcome(workers[0] if in_order else None)

    def _poll_seconds(self, code: NativeCode) -> float:
        """Polling interval of the workers."""
        if self.progress:
            return POLL_SECONDS
        return min(max(self._seconds_left(code), POLL_SECONDS), WAKE_SECONDS)

    def _seconds_left(self, code: NativeCode) -> float:
        """Time left for the code, if it is threaded code."""
        return inf if code.places is None else self.started + self.tiers.seconds - time.perf_counter()

    def _late(self, code: NativeCode, workers: list[Worker]) -> bool:
        """Whether threaded code has had its time, and has executed enough for compiled code to pay."""
        return self._seconds_left(code) < 0 and self.tiers.pays(
            sum(self.state.plan.executed(worker.counters) for worker in workers)
        )

    def _report_progress(self, workers: list[Worker]) -> None:
        if self.progress:
            self.progress(sum(worker.env.done for worker in workers), self.blocks)

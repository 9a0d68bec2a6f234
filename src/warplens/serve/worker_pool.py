"""Worker pool: processes that compile and execute kernels, one of them ready in place of one that is ended.

Each is started ahead and warmed up; it answers one step after the other of one request, then those of the next.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any

from warplens.errors import WarplensError
from warplens.serve.worker_limits import STEPS, WorkerLimits

SIZE = 2
STEPS_PER_WORKER = 500  # compiled code is kept for the life of a process, and counts as its memory
START_SECONDS = 180.0  # with an empty cache, on a busy machine
FAILED_STARTS = 3
MOST_BYTES = 64 << 20  # of an answer
POLL_SECONDS = 0.05
GRACE_SECONDS = 2.0  # a step that is over its limit ends by itself: then the worker is kept, and the place is known
CANCEL_SECONDS = 2.0  # for a step whose answer nobody waits for any more: most end by then, and the worker is kept

Cancelled = Callable[[], bool]


class WorkerEnded(WarplensError):
    """The process ended, by itself or because a step took too long."""


class RequestCancelled(Exception):
    """Nobody waits for the answer."""


@dataclass(frozen=True, slots=True)
class WorkerStep:
    """Worker step: a question with its limit."""

    name: str
    seconds: float
    arguments: Mapping[str, Any]

    def line(self) -> bytes:
        return json.dumps({"step": self.name, "seconds": self.seconds, **self.arguments}).encode() + b"\n"


class WorkerProcess:
    """Worker process, seen from the server.  Started by a thread that lives as long as the process shall."""

    def __init__(self, limits: WorkerLimits) -> None:
        self.scratch = tempfile.mkdtemp(prefix="warplens-serve-")
        self.limits = replace(limits, scratch=self.scratch)
        environment = os.environ | {"TMPDIR": self.scratch, "MALLOC_ARENA_MAX": "4"}
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "warplens.serve.worker_process", str(os.getpid()),
             json.dumps(asdict(self.limits))],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment,
            start_new_session=True,
        )  # fmt: skip
        self.steps = 0
        self._buffer = b""

    @property
    def alive(self) -> bool:
        return self.process.poll() is None and self.steps < STEPS_PER_WORKER

    def wait_until_ready(self) -> None:
        """WorkerEnded where it does not become ready."""
        self._line(time.monotonic() + START_SECONDS, lambda: False)

    def ask(self, step: WorkerStep, cancelled: Cancelled) -> dict[str, Any]:
        """The answer.  WorkerEnded, and the process is gone; RequestCancelled."""
        self.steps += 1
        assert self.process.stdin
        try:
            self.process.stdin.write(step.line())
            self.process.stdin.flush()
        except OSError:
            self.end()
            raise WorkerEnded(self._reason(step)) from None
        found: dict[str, Any] = json.loads(self._line(time.monotonic() + step.seconds + GRACE_SECONDS, cancelled, step))
        return found

    def _line(self, until: float, cancelled: Cancelled, step: WorkerStep | None = None) -> bytes:
        assert self.process.stdout
        output, leaving = self.process.stdout.fileno(), False
        while b"\n" not in self._buffer:
            try:
                ready = select.select([output], [], [], POLL_SECONDS)[0]
                part = os.read(output, 1 << 20) if ready else b""
            except OSError:  # end() has closed it, in another thread
                raise WorkerEnded(self._reason(step)) from None
            if ready:
                self._buffer += part
                if not part or len(self._buffer) > MOST_BYTES:
                    self.process.poll()
                    self.end()
                    raise WorkerEnded(self._reason(step))
            elif time.monotonic() > until:
                self.end()
                if leaving:
                    raise RequestCancelled
                if step is None:
                    raise WorkerEnded(f"a process for kernels was not ready after {START_SECONDS:g} s")
                raise WorkerEnded(f"{STEPS[step.name]} was ended after {step.seconds:g} s, the limit of --timeout")
            elif not leaving and cancelled():
                leaving, until = True, min(until, time.monotonic() + CANCEL_SECONDS)
        line, _, self._buffer = self._buffer.partition(b"\n")
        if leaving:
            raise RequestCancelled
        return line

    def _reason(self, step: WorkerStep | None) -> str:
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(1)
        code = self.process.returncode or 0
        name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        if step is None:
            return f"a process for kernels did not start ({name})"
        if name == "SIGXCPU":
            return f"ended after {step.seconds:g} s of each processor, the limit of --timeout"
        return (
            f"the process that ran the kernel ended ({name}), as it does when it needs more memory than "
            f"{self.limits.memory:g} GiB, the limit of --memory"
        )

    def end(self) -> None:
        """Ends it with all that it has started, and removes its folder."""
        with suppress(OSError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            with suppress(OSError):
                if pipe:
                    pipe.close()
        shutil.rmtree(self.scratch, ignore_errors=True)


class WorkerPool:
    """Worker pool.  start() begins to fill it, close() ends all processes."""

    def __init__(self, limits: WorkerLimits, size: int = SIZE) -> None:
        self.limits, self.size = limits, size
        self.changed = threading.Condition()
        self.idle: list[WorkerProcess] = []
        self.busy: set[WorkerProcess] = set()
        self.failed = ""
        self._closed = False
        self._starting: WorkerProcess | None = None
        self._thread = threading.Thread(target=self._fill, name="warplens workers", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def take(self, cancelled: Cancelled) -> WorkerProcess:
        """One that is ready.  WorkerEnded where none can be started; RequestCancelled."""
        with self.changed:
            while not self.idle:
                if self._closed or cancelled():
                    raise RequestCancelled
                if self.failed:
                    raise WorkerEnded(self.failed)
                self.changed.wait(POLL_SECONDS)
            worker = self.idle.pop()
            self.busy.add(worker)
            return worker

    def give_back(self, worker: WorkerProcess) -> None:
        with self.changed:
            self.busy.discard(worker)
            if worker.alive and not self._closed:
                self.idle.append(worker)
            else:
                worker.end()
            self.changed.notify_all()

    def close(self) -> None:
        with self.changed:
            self._closed = True
            workers = [*self.idle, *self.busy, *([self._starting] if self._starting else [])]
            self.idle.clear()
            self.changed.notify_all()
        for worker in workers:
            worker.end()
        self._thread.join()

    def _fill(self) -> None:
        """Starts one process after the other until there are `size`, and again when one has ended.

        They are started by this thread because they end with the thread that has started them (PR_SET_PDEATHSIG).
        """
        failed = 0
        while True:
            with self.changed:
                while not self._closed and (self.failed or len(self.idle) + len(self.busy) >= self.size):
                    self.changed.wait()
                if self._closed:
                    return
                self._starting = worker = WorkerProcess(self.limits)
            try:
                worker.wait_until_ready()
                failed = 0
            except WorkerEnded as error:
                failed += 1
                with self.changed:
                    self._starting = None
                    self.failed = str(error) if failed >= FAILED_STARTS else ""
                    self.changed.notify_all()
                continue
            with self.changed:
                self._starting = None
                if self._closed:
                    worker.end()
                    return
                self.idle.append(worker)
                self.changed.notify_all()

"""Page events: from a request to what the page is sent of it, as soon as it is known: counts first, then times."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warplens.errors import UsageError
from warplens.serve.kernel_request import KernelRequest
from warplens.serve.worker_pool import Cancelled, WorkerEnded, WorkerPool, WorkerProcess, WorkerStep

REPORT_FACTOR = 6  # a report executes and predicts all kernels, and traces blocks for its pictures

Event = tuple[str, dict[str, Any]]
"""Name and document: kernels, counts, time, error or done."""


@dataclass(frozen=True, slots=True)
class PageEvents:
    """Page events of one server's requests."""

    pool: WorkerPool

    @property
    def seconds(self) -> float:
        return self.pool.limits.seconds

    def of(self, request: KernelRequest, file: Path, cancelled: Cancelled) -> Iterator[Event]:
        """RequestCancelled once nobody waits for them."""
        worker = self.pool.take(cancelled)
        try:
            yield from self._of(worker, request, file, cancelled)
        except WorkerEnded as error:
            yield "error", {"text": str(error), "lines": [], "printed": ""}
        finally:
            self.pool.give_back(worker)
        yield "done", {}

    def _of(self, worker: WorkerProcess, request: KernelRequest, file: Path, cancelled: Cancelled) -> Iterator[Event]:
        opened = self._open(worker, request, file, cancelled)
        if "error" in opened:
            yield "error", opened["error"]
            return
        yield "kernels", opened
        titles, counted = [kernel["title"] for kernel in opened["kernels"]], []
        for index in sorted(range(len(titles)), key=lambda index: titles[index] != request.first):
            found = worker.ask(WorkerStep("count", self.seconds, {"kernel": index}), cancelled)
            if "error" in found:
                yield "error", {"title": titles[index], **found["error"]}
            else:
                counted.append(index)
                yield "counts", found
        for index in counted if request.gpu != "none" else ():
            found = worker.ask(WorkerStep("predict", self.seconds, {"kernel": index}), cancelled)
            if "error" in found:
                text = f"prediction: {found['error']['text']}"
                yield "error", {"title": titles[index], **found["error"], "text": text}
            else:
                yield "time", found

    def report(self, request: KernelRequest, file: Path, cancelled: Cancelled) -> str:
        """The page of `warplens explain --html`.  UsageError with the reason why there is none; RequestCancelled."""
        worker = self.pool.take(cancelled)
        try:
            found = self._open(worker, request, file, cancelled)
            if "error" not in found:
                found = worker.ask(WorkerStep("report", REPORT_FACTOR * self.seconds, {}), cancelled)
        except WorkerEnded as error:
            raise UsageError(str(error)) from None
        finally:
            self.pool.give_back(worker)
        if "error" in found:
            raise UsageError(found["error"]["text"])
        return str(found["html"])

    def _open(self, worker: WorkerProcess, request: KernelRequest, file: Path, cancelled: Cancelled) -> dict[str, Any]:
        arguments = {"request": request.document(), "file": str(file)}
        return worker.ask(WorkerStep("open", self.seconds, arguments), cancelled)

"""Launch log: collects what the program does on the GPU, for the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from warplens.core.launch import Launch
from warplens.core.metric import Metric
from warplens.program.launch_selection import LaunchSelection, LaunchSelector
from warplens.program.program_check import ProgramCheck
from warplens.program.protocol import Status
from warplens.program.time_prediction import LaunchTime
from warplens.report.launch_view import LaunchView
from warplens.report.program_view import LaunchGroup, ProgramView, SelectedLaunch, Transfer
from warplens.report.timeline import COPY, FILL, KERNEL, Track, Work
from warplens.run import Run, sources_beside

FILLS = "fill"


@dataclass(frozen=True)
class Executed:
    """Executed launch, which others may repeat; `metrics` where one of these may be counted, `view` where it may be
    the first of its group."""

    group: LaunchGroup
    arch: str
    time: LaunchTime
    metrics: Mapping[str, Metric]
    view: LaunchView | None


class LaunchLog:
    """Launch log: fills `view`; counts the launches that `selection` means."""

    def __init__(
        self, view: ProgramView, selection: LaunchSelection | None = None, checks: Sequence[str] | None = None
    ) -> None:  # fmt: skip
        self.view = view
        self.check = ProgramCheck(view, checks)
        self.selector = LaunchSelector(selection or LaunchSelection())
        self._groups: dict[tuple[str, Launch], LaunchGroup] = {}
        self._executed: list[Executed] = []
        self._launches = 0
        # By process, until its time is known: the last work, its bytes, and the launch if it was counted.
        self._last: dict[int, tuple[Work, int, SelectedLaunch | None]] = {}

    def connected(self, process: int, name: str) -> None:
        self.view.processes[process] = name

    def launched(self, process: int, kernel: str, run: Run, time: LaunchTime) -> int:
        """The number of this launch, for others that repeat it."""
        launch = run.launch
        group = self._groups.get((kernel, launch))
        if group is None:
            group = self._groups[kernel, launch] = LaunchGroup(kernel, launch, limit=time.limit)
            self.view.groups.append(group)
        group.executed += 1
        metrics: Mapping[str, Metric] = {}
        view = None
        if self.selector.may_select(kernel, launch):
            metrics = {**run.metrics, **time.metrics}
            if group.first is None:
                view = self._view(run, time, process)
        self._executed.append(Executed(group, run.kernel.arch, time, metrics, view))
        self.repeated(process, len(self._executed) - 1)
        return len(self._executed) - 1

    def _view(self, run: Run, time: LaunchTime, process: int) -> LaunchView:
        """The whole launch, without its memory, with the text of sources in the current folder and below."""
        shown = replace(
            run, prediction=time.prediction, unpredicted=time.unpredicted, machine_from="--gpu", again=None,
            file=self.view.processes.get(process, ""),
        ).subject  # fmt: skip
        return shown if shown.sources else replace(shown, sources=sources_beside(Path.cwd(), shown.program))

    def repeated(self, process: int, number: int) -> None:
        """A launch that does what that one did."""
        done = self._executed[number]
        group, time = done.group, done.time
        group.launches += 1
        group.unpredicted += not time.predicted
        group.time_us += time.time_us
        group.low_us += time.low_us
        group.high_us += time.high_us
        counted = None
        if self.selector.select(group.kernel, group.launch):
            counted = SelectedLaunch(self._launches, group.kernel, group.launch, done.arch, process, done.metrics)
            self.view.counted.append(counted)
            if group.first is None:
                group.first, group.metrics = done.view, done.metrics
        self._launches += 1
        self._last[process] = Work(KERNEL, group.kernel), 0, counted

    def copied(self, process: int, direction: str, size: int, nanoseconds: int) -> None:
        transfer = self.view.transfers.get(direction)
        if transfer is None:
            transfer = self.view.transfers[direction] = Transfer()
        transfer.copies += 1
        transfer.size += size
        transfer.time_us += nanoseconds / 1000
        self._last[process] = Work(FILL if direction == FILLS else COPY, direction), size, None

    def timed(self, track: Track, start: int, duration: int) -> None:
        """When the last work of a process, on a stream, begins, and how long it takes."""
        work, size, counted = self._last.pop(track.process, (None, 0, None))
        if work is None:  # a launch that faulted
            return
        self.view.timeline.add(track, work, start, duration, size)
        if counted:
            counted.stream = track.stream

    def faulted(self, message: str, status: Status) -> None:
        self.view.faults.append(f"{message}\n  the program sees error {int(status)} from here on")

    def missed(self, name: str) -> None:
        if name not in self.view.missing:
            self.view.missing.append(name)

    def note(self, sentence: str) -> None:
        if sentence not in self.view.notes:
            self.view.notes.append(sentence)

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
from warplens.program.timing.predicted_launch import LaunchTime
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
    cold: LaunchTime
    metrics: Mapping[str, Metric]
    view: LaunchView | None
    work: int  # of the timeline


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
        self._first_alone = self.selector.selection == LaunchSelection()
        self._copies: dict[str, int] = {}  # by direction: of the timeline
        self._tracks: dict[tuple[int, int, int], int] = {}  # process, stream, device: of the timeline
        # By process, until its time is known: the last work, its bytes, and the launch if it was counted.
        self._last: dict[int, tuple[int, int, SelectedLaunch | None]] = {}

    def connected(self, process: int, name: str) -> None:
        self.view.processes[process] = name

    def launched(self, process: int, kernel: str, run: Run, time: LaunchTime, cold: LaunchTime) -> int:
        """The number of this launch, for others that repeat it.  cold: its time with an empty L2"""
        launch = run.launch
        group = self._groups.get((kernel, launch))
        if group is None:
            group = self._groups[kernel, launch] = LaunchGroup(kernel, launch, limit=cold.limit)
        group.executed += 1
        group.uncounted += not run.counted.counted
        metrics: Mapping[str, Metric] = {}
        view = None
        if run.counted.counted and self.selector.may_select(kernel, launch):
            metrics = {**run.metrics, **cold.metrics}
            if group.first is None:
                view = self._view(run, cold, process)
        work = self.view.timeline.number_of_work(Work(KERNEL, kernel))
        self._executed.append(Executed(group, run.kernel.arch, cold, metrics, view, work))
        self.repeated(process, len(self._executed) - 1, time)
        return len(self._executed) - 1

    def _view(self, run: Run, time: LaunchTime, process: int) -> LaunchView:
        """The whole launch, without its memory, with the text of sources in the current folder and below."""
        name = self.view.processes.get(process, "")
        shown = replace(
            run.subject, prediction=time.prediction, unpredicted=time.unpredicted, machine_from="--gpu",
            file=name or run.subject.file,
        )  # fmt: skip
        return shown if shown.sources else replace(shown, sources=sources_beside(Path.cwd(), shown.program))

    def repeated(self, process: int, number: int, time: LaunchTime) -> None:
        """A launch that does what that one did, in its own time."""
        done = self._executed[number]
        group = done.group
        if not group.launches:  # shown from its first launch on, wherever the run is stopped
            self.view.groups.append(group)
        group.launches += 1
        group.unpredicted += not time.predicted
        group.time_us += time.time_us
        group.low_us += time.low_us
        group.high_us += time.high_us
        group.cold_us += done.cold.time_us
        group.warm += time.time_us != done.cold.time_us
        counted = None
        known = self._first_alone and group.metrics  # so that none is counted any more
        if not known and self.selector.select(group.kernel, group.launch):
            counted = SelectedLaunch(self._launches, group.kernel, group.launch, done.arch, process, done.metrics)
            self.view.counted.append(counted)
            if group.first is None:
                group.first, group.metrics = done.view, done.metrics
        self._launches += 1
        self._last[process] = done.work, 0, counted

    def copied(self, process: int, direction: str, size: int, nanoseconds: int, pageable: bool = False) -> None:
        """pageable: over the link, with memory of the host that is not page-locked"""
        transfer = self.view.transfers.get(direction)
        if transfer is None:
            transfer = self.view.transfers[direction] = Transfer()
        transfer.copies += 1
        transfer.size += size
        transfer.time_us += nanoseconds / 1000
        if pageable:
            transfer.pageable += 1
            transfer.pageable_size += size
            transfer.pageable_us += nanoseconds / 1000
        work = self._copies.get(direction)
        if work is None:
            made = Work(FILL if direction == FILLS else COPY, direction)
            work = self._copies[direction] = self.view.timeline.number_of_work(made)
        self._last[process] = work, size, None

    def timed(self, place: tuple[int, int, int], start: int, duration: int) -> None:
        """When the last work of a process begins, and how long it takes; place: process, stream, GPU."""
        work, size, counted = self._last.pop(place[0], (None, 0, None))
        if work is None:  # a launch that faulted
            return
        track = self._tracks.get(place)
        if track is None:
            track = self._tracks[place] = self.view.timeline.number_of_track(Track(*place))
        self.view.timeline.add(track, work, start, duration, size)
        if counted:
            counted.stream = place[1]

    def faulted(self, message: str, status: Status) -> None:
        self.view.faults.append(f"{message}\n  the program sees error {int(status)} from here on")

    def missed(self, name: str) -> None:
        if name not in self.view.missing:
            self.view.missing.append(name)

    def note(self, sentence: str) -> None:
        if sentence not in self.view.notes:
            self.view.notes.append(sentence)

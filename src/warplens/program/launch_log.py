"""Launch log: collects what the program does on the GPU, for the report."""

from __future__ import annotations

from warplens.core.launch import Launch
from warplens.program.protocol import Status
from warplens.program.time_prediction import LaunchTime
from warplens.report.program_view import LaunchGroup, ProgramView, Transfer
from warplens.run import Run


class LaunchLog:
    """Launch log: fills `view`."""

    def __init__(self, view: ProgramView) -> None:
        self.view = view
        self._groups: dict[tuple[str, Launch], LaunchGroup] = {}
        self._answered: list[tuple[LaunchGroup, LaunchTime]] = []

    def launched(self, kernel: str, launch: Launch, run: Run, time: LaunchTime) -> int:
        """The number of this launch, for others that repeat it."""
        group = self._groups.get((kernel, launch))
        if group is None:
            group = self._groups[kernel, launch] = LaunchGroup(kernel, launch, limit=time.limit)
            group.metrics = {**run.metrics, **time.metrics}
            self.view.groups.append(group)
        group.executed += 1
        self._answered.append((group, time))
        self.repeated(len(self._answered) - 1)
        return len(self._answered) - 1

    def repeated(self, number: int) -> None:
        """A launch that does what that one did."""
        group, time = self._answered[number]
        group.launches += 1
        group.unpredicted += not time.predicted
        group.time_us += time.time_us
        group.low_us += time.low_us
        group.high_us += time.high_us

    def copied(self, direction: str, size: int, nanoseconds: int) -> None:
        transfer = self.view.transfers.get(direction)
        if transfer is None:
            transfer = self.view.transfers[direction] = Transfer()
        transfer.copies += 1
        transfer.size += size
        transfer.time_us += nanoseconds / 1000

    def faulted(self, message: str, status: Status) -> None:
        self.view.faults.append(f"{message}\n  the program sees error {int(status)} from here on")

    def missed(self, name: str) -> None:
        if name not in self.view.missing:
            self.view.missing.append(name)

    def note(self, sentence: str) -> None:
        if sentence not in self.view.notes:
            self.view.notes.append(sentence)

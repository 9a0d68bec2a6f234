"""Checked kernel: a kernel on its way through `warplens check`, with what is known of it so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from warplens.commands.kernel_case import CaseError, CompiledCase, FileJob
from warplens.core.cubin import SourceLine
from warplens.regression.budget import CountBudget
from warplens.regression.kernel_record import KernelKey, KernelRecord, LineCounts

COUNTING = ("warplens", "nvdisasm")
"""Tools that counts depend on; a compiler that makes the same machine code is no reason to count again."""


@dataclass
class CheckedKernel:
    """budgets: those that apply;  before: its record in the baseline;  now: of today, or the error in its place."""

    job: FileJob
    case: CompiledCase
    budgets: tuple[CountBudget, ...]
    before: KernelRecord | None
    now: KernelRecord | None = None
    executed: bool = False
    error: CaseError | None = None

    @property
    def key(self) -> KernelKey:
        return self.case.record.key

    def reusable(self, names: Sequence[str]) -> bool:
        """Whether the baseline's counts are those of today: same machine code and launch, counted by the same tools,
        none missing."""
        before, now = self.before, self.case.record
        if before is None or (before.code, before.inputs) != (now.code, now.inputs):
            return False
        alike = all(before.tools.get(name) == now.tools.get(name) for name in COUNTING)
        return alike and set(names) <= before.counts.keys()

    def reuse(self) -> None:
        """Counts of a launch from the baseline, those of the machine code from today; lines where they stand today."""
        assert self.before is not None
        both = {**self.before.counts, **self.case.record.counts}
        counts = {name: both[name] for name in sorted(both)}
        lines = tuple(map(self._today, self.before.lines))
        self.now = replace(self.case.record, counts=counts, lines=lines, sampled=self.before.sampled)

    def _today(self, line: LineCounts) -> LineCounts:
        """An edit above moves a line, its text stays: the nearest one with the same text."""
        if line.place.file != self.key.file or not line.text:
            return line
        found = [number for number, text in enumerate(self.case.source, 1) if text.strip() == line.text]
        nearest = min(found, key=lambda number: abs(number - line.place.line), default=line.place.line)
        return replace(line, place=SourceLine(line.place.file, nearest))

    @property
    def to_keep(self) -> KernelRecord | None:
        """What the baseline is to have: the old entry as long as it says the same, so that saving again changes
        nothing."""
        if self.before is not None and self.now is not None and not self.executed:
            old, new = self.before, self.now
            if (old.code, old.inputs, old.tools, old.counts) == (new.code, new.inputs, new.tools, new.counts):
                return old
        return self.now

"""Diff view: what `warplens diff` found, as its reports see it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from warplens.regression.code_diff import CodeDiff
from warplens.regression.kernel_record import KernelRecord, LineCounts
from warplens.regression.line_attribution import paired_lines

TIME = "gpu__time_duration.sum"


class Difference(StrEnum):
    UNCHANGED = "UNCHANGED"
    CHANGED = "CHANGED"
    NEW = "NEW"
    GONE = "GONE"
    ERROR = "ERROR"


@dataclass(frozen=True, slots=True)
class LineChange:
    """Counts of a source line in both versions; None where one has no such line."""

    old: LineCounts | None
    new: LineCounts | None

    @property
    def names(self) -> list[str]:
        sides = [{} if side is None else side.counts for side in (self.old, self.new)]
        return sorted(name for name in {**sides[0], **sides[1]} if sides[0].get(name, 0) != sides[1].get(name, 0))

    def values(self, name: str) -> tuple[float, float]:
        old, new = (0 if side is None else side.counts.get(name, 0) for side in (self.old, self.new))
        return old, new


@dataclass(frozen=True)
class KernelDiff:
    """One kernel in both versions.

    code    None where the machine code is the same, or there is one version only
    note    why counts or times are missing
    """

    name: str
    arch: str
    difference: Difference
    old: KernelRecord | None = None
    new: KernelRecord | None = None
    code: CodeDiff | None = None
    note: str = ""
    exit_code: int = 0

    @property
    def counts(self) -> list[tuple[str, float, float]]:
        """Counts that differ, by name."""
        if self.old is None or self.new is None:
            return []
        old, new = self.old.counts, self.new.counts
        return [(name, old[name], new[name]) for name in old if name in new and name != TIME and old[name] != new[name]]

    @property
    def lines(self) -> list[LineChange]:
        """Source lines whose counts differ."""
        return list(self._lines())

    def _lines(self) -> Iterator[LineChange]:
        if self.old is not None and self.new is not None:
            for now, before in paired_lines(self.new, self.old):
                change = LineChange(before, now)
                if change.names:
                    yield change

    @property
    def times(self) -> tuple[float, float] | None:
        """Predicted durations in nanoseconds."""
        if self.old is None or self.new is None or TIME not in self.old.counts or TIME not in self.new.counts:
            return None
        return self.old.counts[TIME], self.new.counts[TIME]


@dataclass(frozen=True)
class DiffView:
    old: str
    new: str
    kernels: tuple[KernelDiff, ...]

    @property
    def differs(self) -> bool:
        return any(kernel.difference is not Difference.UNCHANGED for kernel in self.kernels)

"""Suggestion view: what a search for faster versions found, as reports show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from warplens.report.findings.finding_view import FindingView


@dataclass(frozen=True)
class ChangeView:
    """One change that is kept.

    before_us, after_us   predicted;  outputs: how they compare with the original's
    promise   what callers must keep to from now on, "" for nothing;  counts: before and after, by metric
    """

    title: str
    transform: str
    line: int
    before_us: float
    after_us: float
    outputs: str
    promise: str
    counts: Mapping[str, tuple[float, float]]

    @property
    def gain(self) -> float:
        return 1 - self.after_us / self.before_us


@dataclass(frozen=True)
class RejectedView:
    """A change that is not offered, and why;  line: 0 where it has none"""

    title: str
    line: int
    reason: str


@dataclass(frozen=True)
class MeasuredView:
    """Times of both versions on a GPU, L2 swept before."""

    before_us: float
    after_us: float
    gpu: str


@dataclass(frozen=True)
class SuggestionView:
    """Of one kernel.

    low_us, high_us   interval of the time before;  sizes: of the launch that changed, as words
    """

    title: str
    gpu: str
    before_us: float | None
    low_us: float | None
    high_us: float | None
    after_us: float | None
    unpredicted: str
    findings: Sequence[FindingView]
    changes: Sequence[ChangeView]
    rejected: Sequence[RejectedView]
    refused: Sequence[RejectedView]
    launch: str
    diff: str
    noise: float
    ratio_error: float
    measured: MeasuredView | None = None


@dataclass(frozen=True)
class ProgramKernelView:
    """A kernel of a program: its predicted time in all launches together, as it is and with all changes.

    suggestion   what the search found, None where there was none, for this reason
    """

    kernel: str
    launches: int
    before_us: float
    after_us: float
    suggestion: SuggestionView | None
    reason: str = ""


@dataclass(frozen=True)
class ProgramSuggestionView:
    """Of a whole program.

    before_us, after_us   predicted, of all its kernels together
    exit_code    of the program, of both versions;  output: how what they print compares, in words
    kernels      heaviest first;  findings: of the program as a whole
    diff         of all files
    """

    command: str
    gpu: str
    before_us: float
    after_us: float
    exit_code: int
    output: str
    kernels: Sequence[ProgramKernelView]
    findings: Sequence[str]
    diff: str

    @property
    def changed(self) -> bool:
        return bool(self.diff)

"""Advise: the findings of a run, each with the time that removing its cause would save at the most."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from warplens.advice.remedies import Remedy, remedy
from warplens.advice.significance import NOISE
from warplens.errors import Unpredictable
from warplens.machine import Machine
from warplens.machine import machine as described
from warplens.report.finding_text import format_fault
from warplens.report.findings.finding_view import FindingView
from warplens.rules import Finding, findings
from warplens.run import Run

# The cause that the model can take away, by rule; for the others no upper bound is known.
REMOVED = {
    "uncoalesced_access": "ideal_access",
    "narrow_access": "ideal_access",
    "unused_bytes": "ideal_access",
    "bank_conflicts": "no_bank_conflicts",
    "inactive_lanes": "no_divergence",
    "low_occupancy": "full_occupancy",
    "register_cliff": "full_occupancy",
    "shared_memory_cliff": "full_occupancy",
}


@dataclass(frozen=True)
class Advice:
    """One finding, and what it is worth on a GPU.

    >>> x = np.zeros(1 << 16, np.float32)
    >>> run = wl.compile("examples/copy.cu")["nccopy"].launch(512, 128, x, x.copy(), np.int32(x.size))
    >>> division, access = wl.advise(run, gpu="h200")
    >>> access.gpu, access.line, access.worth_it
    ('NVIDIA H200 SXM', 40, False)
    >>> division.remedy.expression
    '(2 * i) % n'

    text      the finding in a sentence;  line: of the source, None where it is not known
    remedy    the expression that is at fault, and what to write instead
    gpu       its name;  time_us: predicted, as the kernel is
    without_us   predicted with the cause removed: no change of the source can gain more by this; None: not known
    """

    finding: Finding
    text: str
    line: int | None
    gpu: str
    time_us: float | None
    without_us: float | None
    remedy: Remedy

    @property
    def gain(self) -> float | None:
        """Upper bound of the time saved, as a share of the time."""
        return None if self.without_us is None or not self.time_us else max(1 - self.without_us / self.time_us, 0.0)

    @property
    def worth_it(self) -> bool:
        """Whether it may gain more than the error of a predicted ratio; not where no upper bound is known."""
        return self.gain is not None and self.gain >= NOISE

    @property
    def view(self) -> FindingView:
        """As reports show it."""
        return FindingView(
            self.finding.fault, self.text, self.line, self.gain, self.worth_it, self.remedy.expression,
            self.remedy.instead, self.remedy.rung, self.remedy.nsight,
        )  # fmt: skip

    def __str__(self) -> str:
        instead = f". Instead: {self.remedy.instead}"
        if self.gain is None:
            return f"{self.text}{instead}"
        if not self.worth_it:
            return f"{self.text}; no measurable gain expected on {self.gpu}{instead}"
        return f"{self.text}; at most {self.gain:.0%} less time on {self.gpu} without it{instead}"


def advise(run: Run, gpu: str | None = None) -> list[Advice]:
    """What is wrong with a launch, first what may gain most.

    gpu   its name (default: the one of the launch)
    UsageError for a GPU that is not known, or whose machine code is another.

    >>> x = np.zeros(1 << 20, np.float32)
    >>> run = wl.compile("examples/copy.cu")["nccopy"].launch(8192, 128, x, x.copy(), np.int32(x.size))
    >>> [advice.finding.fault for advice in wl.advise(run, gpu="h200")]
    ['division_by_variable', 'small_blocks', 'uncoalesced_access']
    """
    machine = described(gpu) if gpu else run.machine
    return _advice(run, machine, partial(_predicted, run, machine))


def advised(run: Run) -> Run:
    """The same run with what its findings are worth and what to write instead, for reports; without a prediction of
    its time only the latter."""
    made = _advice(run, run.machine, partial(_predicted, run, run.machine) if run.prediction else _unknown)
    return replace(run, advice=tuple(advice.view for advice in made))


def _advice(run: Run, machine: Machine, predicted: Callable[[str], float | None]) -> list[Advice]:
    """predicted: the time in us with a cause removed, with "" for none"""
    found = findings(run.subject)
    now = predicted("") if found else None
    causes = dict.fromkeys(REMOVED[finding.fault] for finding in found if finding.fault in REMOVED)
    times = {cause: predicted(cause) for cause in causes} if now is not None else {}
    made = [
        Advice(
            finding, format_fault(finding, run.subject), finding.line.line if finding.line else None, machine.title,
            now, times.get(REMOVED.get(finding.fault, "")), remedy(finding, run),
        )
        for finding in found
    ]  # fmt: skip
    return sorted(made, key=lambda advice: -(advice.gain if advice.gain is not None else advice.finding.weight))


def _predicted(run: Run, machine: Machine, cause: str) -> float | None:
    """As the run has it already, where it is of this GPU; None where the model does not apply."""
    known = {"": run.prediction, **run.what_if} if machine.key == run.machine.key else {}
    try:
        return (known.get(cause) or run.predict(machine.key, (cause,) if cause else ())).time_us
    except Unpredictable:
        return None


def _unknown(cause: str) -> None:
    """Where no time is asked for."""

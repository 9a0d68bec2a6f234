"""Check view: what `warplens check` found, as its reports see it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from warplens.core.cubin import SourceLine
from warplens.regression.verdict import BrokenBudget, KernelVerdict, Verdict, exit_code


@dataclass(frozen=True)
class CheckView:
    """What was found.

    folder     names of files are relative to it
    problems   what is wrong with the settings or the baseline as a whole
    tools      versions by program;  baseline: its file, "" for none
    """

    folder: str
    kernels: tuple[KernelVerdict, ...]
    problems: tuple[str, ...] = ()
    tools: Mapping[str, str] | None = None
    baseline: str = ""
    saved: bool = False

    @property
    def exit_code(self) -> int:
        return max(exit_code(self.kernels), 2 if self.problems else 0)

    @property
    def tally(self) -> dict[Verdict, int]:
        """How many kernels have each verdict, the gravest first."""
        found = Counter(kernel.verdict for kernel in self.kernels)
        return {verdict: found[verdict] for verdict in Verdict if found[verdict]}

    @property
    def summary(self) -> str:
        """ "12 kernels: 1 FAIL, 11 UNCHANGED; 1 executed"."""
        count = len(self.kernels)
        parts = ", ".join(f"{number} {verdict}" for verdict, number in self.tally.items())
        executed = sum(kernel.executed for kernel in self.kernels)
        return f"{count} kernel{'s' * (count != 1)}: {parts or 'none'}; {executed} executed"

    def path(self, file: str) -> str:
        """A file as it is reached from the working directory; headers of the tools keep their name."""
        return file if file.startswith("<") else os.path.relpath(os.path.join(self.folder, file))

    def place(self, kernel: KernelVerdict) -> SourceLine:
        """Where the kernel begins, or its file."""
        line = kernel.line or SourceLine(kernel.key.file, 1)
        return SourceLine(self.path(line.file), line.line)

    def at(self, kernel: KernelVerdict, broken: BrokenBudget) -> SourceLine:
        if broken.at is None:
            return self.place(kernel)
        return SourceLine(self.path(broken.at.place.file), broken.at.place.line)


def amount(value: float | int) -> str:
    """A count with separators, a fraction with the digits that matter."""
    return f"{int(value):,}" if float(value).is_integer() and abs(value) < 1e15 else f"{value:,.5g}"


def broken_text(broken: BrokenBudget) -> str:
    """ "smsp__inst_executed.sum <= 1.02 * baseline: 311,296 inst (baseline 131,072), at most 133,693"."""
    unit = f" {broken.unit}" if broken.unit else ""
    then = "" if broken.before is None else f" (baseline {amount(broken.before)})"
    kept = "" if broken.fails else f"; {broken.reason}, so it does not fail the build (see fail_on)"
    return f"{broken.budget}: {amount(broken.value)}{unit}{then}, bound {amount(broken.bound)}{kept}"


def attributed(broken: BrokenBudget) -> str:
    """What its source line has to do with it: "if (i < n) ...  (4,194,304 -> 6,291,456)"."""
    at = broken.at
    if at is None:
        return ""
    moved = ""
    if at.after is not None:
        before = "" if at.before is None else f"{amount(at.before)} -> "
        moved = f"{before}{amount(at.after)}" + (f" {at.name}" if at.name not in broken.budget else "")
    return f"{at.text}  ({moved})" if moved else at.text

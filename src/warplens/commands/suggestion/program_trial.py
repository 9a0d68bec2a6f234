"""Program trial: a program that is run for its output and its kernels' times, and what another version does else."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace

from warplens.control_characters import visible
from warplens.program.program_options import Options
from warplens.program.server import serve
from warplens.report.program_view import ProgramView

NUMBER = re.compile(r"(?<![\w.])[-+]?(?:0x[0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)")
LONGEST = 60  # characters of a line in a message


@dataclass(frozen=True)
class ProgramTrial:
    """Program trial: exit code, what it printed on both streams, and what it did on the GPU."""

    exit_code: int
    output: str
    view: ProgramView

    @property
    def times_us(self) -> dict[str, float]:
        """Predicted, by kernel."""
        found: dict[str, float] = {}
        for group in self.view.groups:
            found[group.kernel] = found.get(group.kernel, 0.0) + group.time_us
        return found

    def why_not_green(self, expect: str) -> str:
        """Why nothing can be proven with this program; "" where it ends as it should."""
        if self.view.ended:
            return f"the program was stopped {self.view.ended}"
        if self.view.faults:
            return self.view.faults[0]
        if self.exit_code:
            return f"the program ended with exit code {self.exit_code}"
        return f"its output does not contain {expect!r}" if expect not in self.output else ""

    def difference(self, after: ProgramTrial, expect: str) -> str:
        """What a changed version does that this one does not; "" where both are alike.

        Numbers may differ: a program prints times, and the order of sums shows in last digits.  Its kernels' outputs
        are compared by themselves.
        """
        if reason := after.why_not_green(expect):
            return reason
        mine, other = (_words(trial.output) for trial in (self, after))
        for before, now in zip(mine, other, strict=False):
            if before != now:
                return f"it prints {now[:LONGEST]!r} instead of {before[:LONGEST]!r}"
        return "" if len(mine) == len(other) else f"it prints {len(other)} lines instead of {len(mine)}"

    def other_numbers(self, after: ProgramTrial) -> int:
        """Lines of the output in which only numbers differ."""
        return sum(before != now for before, now in zip(self.lines, after.lines, strict=False))

    @property
    def lines(self) -> list[str]:
        return [line for line in self.output.splitlines() if line.strip()]


def trial(command: Sequence[str], options: Options, view: ProgramView) -> ProgramTrial:
    """Runs a program with its output kept.  UsageError if it cannot be started."""
    with tempfile.TemporaryFile() as output:
        outcome = serve(command, replace(options, output=output.fileno()), view)
        output.seek(0)
        return ProgramTrial(outcome.exit_code, visible(output.read().decode(errors="replace")), outcome.view)


def _words(output: str) -> list[str]:
    """Lines without numbers; blanks between words are one."""
    lines = (" ".join(NUMBER.sub("#", line).split()) for line in output.splitlines())
    return [line for line in lines if line]

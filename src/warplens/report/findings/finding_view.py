"""Finding view: a fault as reports show it, with what it is worth on a GPU and what to write instead."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import shorten
from typing import Any

from warplens.report.wording import percent

BRIEF_REMEDY = 160  # characters of what to write instead, in a brief document of at most 2 KB
NO_RULE = "no rule"  # as docstrings of rules say that Nsight Compute has none


@dataclass(frozen=True)
class FindingView:
    """A fault.

    text      the finding in a sentence;  line: of the source or None
    gain      upper bound as a share of the time, None where it is not known;  worth_it: whether that is known to be
              more than the error of a predicted ratio
    expression   of the source that is at fault, "" where it is not known;  instead: what to write, a sentence
    rung      of a lab that shows it, "" for none;  nsight: Nsight Compute's rule for the fault
    """

    fault: str
    text: str
    line: int | None
    gain: float | None
    worth_it: bool
    expression: str = ""
    instead: str = ""
    rung: str = ""
    nsight: str = ""

    def worth(self, gpu: str) -> str:
        """The finding with what it is worth there."""
        if self.gain is None:
            return self.text
        if not self.worth_it:
            return f"{self.text}; no measurable gain expected on {gpu}"
        return f"{self.text}; at most {percent(self.gain)} less time without it"

    @property
    def remedy_lines(self) -> list[str]:
        """The expression at fault, what to write instead, and where more of it is."""
        place = f"Line {self.line}: " if self.line else "Launch: " if "<<<" in self.expression else "Expression: "
        lines = [f"{place}{self.expression}"] if self.expression else []
        lines += [f"Instead: {self.instead}."] if self.instead else []
        lab, _, rung = self.rung.partition("/")
        nsight = f"Nsight Compute: {self.nsight}" if self.nsight not in ("", NO_RULE) else ""
        more = [f"See warplens lab {lab}, rung {rung}" if self.rung else "", nsight]
        return [*lines, f"{'; '.join(filter(None, more))}."] if any(more) else lines

    def sentences(self, gpu: str) -> list[str]:
        """For a brief report: the finding, and what to write instead."""
        worth = self.worth(gpu)
        first = f"{worth[:1].upper()}{worth[1:]}."
        return [first, f"Instead of {self.expression}: {self.instead}."] if self.instead else [first]

    def brief_part(self) -> dict[str, Any]:
        """For a brief document."""
        return {
            "line": self.line,
            "text": self.text,
            "most_gain": None if self.gain is None else round(self.gain, 3),
            "expression": self.expression,
            "instead": shorten(self.instead, BRIEF_REMEDY, placeholder=" ..."),
        }

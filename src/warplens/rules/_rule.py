"""Rule: a function that finds one fault in the counts of a launch, with its threshold and examples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from warplens.core.cubin import SourceLine
from warplens.rules._counted_launch import CountedLaunch


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault as data; report/ words it.

    fault      name of the rule;  weight: its share of the launch's work, 0 to 1, by which findings are ranked
    evidence   the numbers, a NamedTuple of the rule's file;  line: with most of it, None where it is not known
    """

    fault: str
    weight: float
    evidence: tuple[Any, ...]
    line: SourceLine | None = None


Check = Callable[[CountedLaunch], Finding | None]


@dataclass(frozen=True, slots=True)
class Rule:
    """One fault.

    threshold  weight from which the finding is reported
    reads      exact metrics behind the evidence
    fires      the rung of a lab, at its small size, on which the rule is tested to fire: "coalescing/2_nccopy"; or,
               where no lab has the fault, a kernel of tests/kernels: "rules.cu/histogram"
    silent     its repaired counterpart
    """

    fault: str
    threshold: float
    reads: tuple[str, ...]
    fires: str
    silent: str
    check: Check

    def __call__(self, launch: CountedLaunch) -> Finding | None:
        """The finding, None below the threshold."""
        found = self.check(launch)
        return found if found and found.weight >= self.threshold else None


def rule(threshold: float, reads: tuple[str, ...], fires: str, silent: str) -> Callable[[Check], Rule]:
    """Makes a function the rule of its name."""
    return lambda check: Rule(check.__name__, threshold, reads, fires, silent, check)

"""Rule: a function that finds one fault in the counts of a launch, with its threshold and examples."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple

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
NSIGHT = "Nsight Compute: "


class RuleDescription(NamedTuple):
    """Of a rule, from its file's docstring: what the fault is, what to write instead, Nsight Compute's rule for it."""

    fault: str
    instead: str
    nsight: str


def described(check: Callable[..., Any]) -> RuleDescription:
    """What the file of a rule says."""
    paragraphs = (inspect.getdoc(import_module(check.__module__)) or "").split("\n\n")
    first, *rest = (" ".join(paragraph.split()) for paragraph in paragraphs)
    instead, _, nsight = " ".join(rest).partition(NSIGHT)
    return RuleDescription(first.partition(": ")[2].rstrip("."), instead.strip(), nsight.rstrip("."))


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

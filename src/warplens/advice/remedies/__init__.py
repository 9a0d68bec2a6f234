"""Remedy: what to write instead of a fault, in the names of the kernel's own source.

In: a finding, and the run that it was found in.  Out: the expression that is at fault, and a sentence.
A function in `memory_remedy.py`, `instruction_remedy.py` or `launch_remedy.py` has the name of its rule; where it
knows nothing better, or there is no source, the rule's own words stand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from warplens.advice.remedies import instruction_remedy, launch_remedy, memory_remedy
from warplens.advice.remedies.faulty_source import FaultySource
from warplens.rules import Finding, Rule, described, rules
from warplens.run import Run

MODULES = (memory_remedy, instruction_remedy, launch_remedy)


@dataclass(frozen=True)
class Remedy:
    """expression   of the source, "" where it is not known;  instead: what to write, a sentence
    rung      of a lab, "transpose/4_padded", that shows it, "" for none;  nsight: Nsight Compute's rule for the fault
    """

    expression: str
    instead: str
    rung: str
    nsight: str


def remedy(finding: Finding, run: Run) -> Remedy:
    """Of a finding in a run."""
    rule = next(rule for rule in rules() if rule.fault == finding.fault)
    source = FaultySource(finding, run)
    expression, instead = _worded(rule, source)
    about = described(rule.check)
    lab = "" if ".cu/" in rule.silent else rule.silent
    return Remedy(expression or source.line_text, (instead or about.instead).rstrip("."), lab, about.nsight)


def _worded(rule: Rule, source: FaultySource) -> tuple[str, str]:
    for module in MODULES:
        words: Callable[[FaultySource], tuple[str, str]] | None = getattr(module, rule.fault, None)
        if words is not None:
            return words(source)
    return "", ""

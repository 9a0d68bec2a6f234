"""Rules: one file a fault, named after it; the folders memory/, instructions/ and launch/ are the list, and program/
that of a whole program's.

In: a counted launch (`CountedLaunch`: program, trace, metrics, occupancy).
Out: `Finding`s as data: fault, weight, source line, evidence numbers; heaviest first.

A file has one function decorated with @rule, of the file's name: threshold, metrics read, and the pair of kernels
on which tests/rules/ runs it: it fires on the first and is silent on the second.  The file's docstring says what the
fault is, then what to write instead, then Nsight Compute's rule for the same; docs/rules.md is made of it.
report/finding_text.py words the findings.  Rules know nothing of time, formats or the command line.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from warplens.rules._counted_launch import CountedLaunch
from warplens.rules._program_activity import LinkCopies, ProgramActivity, WholeProgramRule
from warplens.rules._rule import Finding, Rule, RuleDescription, described

__all__ = [
    "CountedLaunch",
    "Finding",
    "LinkCopies",
    "ProgramActivity",
    "Rule",
    "RuleDescription",
    "WholeProgramRule",
    "described",
    "findings",
    "program_findings",
    "program_rules",
    "rules",
]
PROGRAM = "program"  # the folder of rules on whole programs


@cache
def rules() -> tuple[Rule, ...]:
    """Of every file in the folders of launches, in order of their names."""
    return tuple(_loaded(name, folder) for name, folder in sorted(_files()) if folder != PROGRAM)


@cache
def program_rules() -> tuple[WholeProgramRule, ...]:
    """Of every file in program/, in order of their names."""
    return tuple(_loaded(name, folder) for name, folder in sorted(_files()) if folder == PROGRAM)


def _loaded(name: str, folder: str) -> Any:
    return getattr(import_module(f"{__name__}.{folder}.{name}"), name)


def _files() -> Iterator[tuple[str, str]]:
    """(name, folder) of each rule."""
    for folder in iter_modules(__path__):
        if folder.ispkg:
            package = import_module(f"{__name__}.{folder.name}")
            yield from ((module.name, folder.name) for module in iter_modules(package.__path__))


def findings(launch: CountedLaunch) -> list[Finding]:
    """What the rules find in a launch, heaviest first."""
    found = [finding for rule in rules() if (finding := rule(launch))]
    return sorted(found, key=lambda finding: -finding.weight)


def program_findings(program: ProgramActivity) -> list[Finding]:
    """What the rules find in a whole program, heaviest first."""
    found = [finding for rule in program_rules() if (finding := rule(program))]
    return sorted(found, key=lambda finding: -finding.weight)

"""Rules: one file a fault, named after it; the folders memory/, instructions/ and launch/ are the list.

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

from warplens.rules._counted_launch import CountedLaunch
from warplens.rules._rule import Finding, Rule

__all__ = ["CountedLaunch", "Finding", "Rule", "findings", "rules"]


@cache
def rules() -> tuple[Rule, ...]:
    """Of every file in the folders here, in order of their names."""
    return tuple(getattr(import_module(f"{__name__}.{folder}.{name}"), name) for name, folder in sorted(_files()))


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

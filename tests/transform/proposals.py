"""Proposals: what a transform makes of a small kernel, as a diff and as reasons."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff
from typing import Any

from warplens.transform import Change, KernelSource, LaunchFacts, Refusal, Transform
from warplens.transform._change import edited


def facts(grid: int = 1000, block: int = 256, **more: Any) -> LaunchFacts:
    return LaunchFacts((grid, 1, 1), (block, 1, 1), **more)


def changes_of(transform: Transform, source: str, launch: LaunchFacts, name: str = "f") -> list[Change]:
    return [found for found in _proposed(transform, source, launch, name) if isinstance(found, Change)]


def diffs(transform: Transform, source: str, launch: LaunchFacts, name: str = "f") -> list[str]:
    """The changed lines of each change, "-" and "+" before them."""
    return [_diff(source, edited(source, change.edits)) for change in changes_of(transform, source, launch, name)]


def refusals(transform: Transform, source: str, launch: LaunchFacts, name: str = "f") -> list[tuple[int, str]]:
    """Line and reason of each; no change was made."""
    found = list(_proposed(transform, source, launch, name))
    assert all(isinstance(one, Refusal) for one in found), found
    return [(one.line, one.reason) for one in found if isinstance(one, Refusal)]


def _proposed(transform: Transform, source: str, launch: LaunchFacts, name: str) -> Iterator[Change | Refusal]:
    return transform.propose(KernelSource(source, name), launch)


def _diff(before: str, after: str) -> str:
    lines = list(unified_diff(before.split("\n"), after.split("\n"), n=0, lineterm=""))[2:]
    return "\n".join(line for line in lines if not line.startswith("@@"))

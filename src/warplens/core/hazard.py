"""Hazards: findings of --check other than faults: races, uninitialised reads, misused barriers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from warplens.core.launch import Dim3
from warplens.core.program import Instruction
from warplens.errors import UsageError

Check = Literal["races", "init", "barriers"]
CHECKS: tuple[Check, ...] = ("races", "init", "barriers")
Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Party:
    """Party: a thread (threadIdx) at an instruction, and its action: "write", "read", "atomic", "wait"."""

    act: str
    thread: Dim3
    at: Instruction


@dataclass(frozen=True, slots=True)
class Hazard:
    """Hazard: a finding of a check: a pair of code locations (or one, or none), reported at its first worst occurrence.

    severity   error; warning: correct only while the lanes of a warp run in lockstep, or uncertain; note: legal
    message    the text without the locations
    parties    the threads of that occurrence, the earlier one first
    block      blockIdx of it;  times: occurrences in the launch (pairs of accesses, reads, arrivals)
    """

    check: Check
    severity: Severity
    message: str
    parties: tuple[Party, ...]
    block: Dim3
    times: int


def checks_of(names: Sequence[str]) -> frozenset[Check]:
    """The selected checks: "races,init" is two, "all" is all of them."""
    given = [names] if isinstance(names, str) else names
    said = {part for name in given for part in name.replace(" ", "").split(",") if part}
    if unknown := sorted(said - {*CHECKS, "all"}):
        raise UsageError(f"no check {unknown[0]!r}; there are {', '.join(CHECKS)} and all (memory is always checked)")
    return frozenset(check for check in CHECKS if check in said or "all" in said)

"""GPU choice: for which GPU counters and times are reported."""

from __future__ import annotations

from collections.abc import Mapping

from warplens.machine.catalog import machine
from warplens.machine.local_gpu import detect
from warplens.machine.schema import Machine

DEFAULTS = ("h200", "a100", "b200", "rtx5090", "rtx4090", "rtx3090", "t4")
"""Default GPUs: the first, or the first of the code's architecture."""
NONE = "none"
"""In place of a name: no time is predicted."""


def choose(flag: str | None, environment: Mapping[str, str]) -> tuple[Machine, str]:
    """The GPU, and where its name comes from: "--gpu", "WARPLENS_GPU", "this machine", "default", or
    "none" where no time is wanted.

    UsageError if the flag or the variable names a GPU that is not known.
    """
    for name, where in ((flag, "--gpu"), (environment.get("WARPLENS_GPU"), "WARPLENS_GPU")):
        if name:
            return (machine(DEFAULTS[0]), NONE) if name.casefold() == NONE else (machine(name), where)
    if present := detect():
        return machine(present), "this machine"
    return machine(DEFAULTS[0]), "default"


def fitting(arch: str, chosen: Machine, by: str) -> tuple[Machine, str]:
    """The GPU for code of this architecture, and where its name comes from: `chosen` unless it is a default that cannot
    run the code."""
    if by in ("--gpu", "WARPLENS_GPU") or same_code(arch, chosen.arch):
        return chosen, by
    found = next((machine(name) for name in DEFAULTS if same_code(arch, machine(name).arch)), chosen)
    return found, NONE if by == NONE else "default"


def same_code(arch: str, other: str) -> bool:
    """Whether they are one architecture; sm_90a is sm_90 with more instructions."""
    return arch.rstrip("af") == other.rstrip("af")

"""Architectures: those whose machine code is supported."""

from __future__ import annotations

from warplens.errors import UsageError

ARCHITECTURES = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120")
WITH_ITS_OWN = ("sm_90a", "sm_100a", "sm_100f", "sm_120a", "sm_120f")
"""Targets of the compiler with what only this architecture has, or its family: the machine code is the same one's."""


def check_architecture(arch: str) -> str:
    """`arch` itself; UsageError, naming the known ones, if it is not among them."""
    if arch not in ARCHITECTURES + WITH_ITS_OWN:
        known = ", ".join(ARCHITECTURES)
        raise UsageError(f"unknown architecture {arch!r}; known are {known}, and of these {', '.join(WITH_ITS_OWN)}")
    return arch

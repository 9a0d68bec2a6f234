"""The architectures whose machine code is understood."""

from __future__ import annotations

from warplens.errors import UsageError

ARCHITECTURES = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120")


def check_architecture(arch: str) -> str:
    """`arch` itself; UsageError, naming the known ones, if it is not among them."""
    if arch not in ARCHITECTURES:
        raise UsageError(f"unknown architecture {arch!r}; known are {', '.join(ARCHITECTURES)}")
    return arch

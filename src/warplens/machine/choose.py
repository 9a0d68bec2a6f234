"""For which GPU to answer.  F2."""

from __future__ import annotations

from collections.abc import Mapping

from warplens.machine.catalog import machine
from warplens.machine.detect import detect
from warplens.machine.schema import Machine

DEFAULT = "h200"


def choose(flag: str | None, environment: Mapping[str, str]) -> tuple[Machine, str]:
    """The GPU, and who named it: "--gpu", "WARPLENS_GPU", "this machine" or "default".

    UsageError if the flag or the variable names a GPU that is not known.
    """
    if flag:
        return machine(flag), "--gpu"
    if wished := environment.get("WARPLENS_GPU"):
        return machine(wished), "WARPLENS_GPU"
    if present := detect():
        return machine(present), "this machine"
    return machine(DEFAULT), "default"

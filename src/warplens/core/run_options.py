"""Run options: limits of the emulation on this machine."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Run options of the command line; None: the default.

    threads   of this machine
    budget    instructions a warp may execute
    sample    blocks to run; the counts of the others are inferred from theirs
    """

    threads: int | None = None
    budget: int | None = None
    sample: int | None = None


USUAL = RunOptions()

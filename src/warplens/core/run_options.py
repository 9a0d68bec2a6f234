"""How much of this machine a run may take."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What stands on the command line; None: the default.

    threads   of this machine
    budget    instructions a warp may execute
    sample    blocks to run; the counts of the others are inferred from theirs
    """

    threads: int | None = None
    budget: int | None = None
    sample: int | None = None


USUAL = RunOptions()

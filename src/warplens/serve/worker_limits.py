"""Worker limits: what a process that executes kernels may use."""

from __future__ import annotations

from dataclasses import dataclass

STEPS = {"open": "compiling", "count": "executing", "predict": "the prediction", "report": "the report"}
"""Steps of a worker, in words."""


@dataclass(frozen=True, slots=True)
class WorkerLimits:
    """Worker limits.

    read      folders of kernels;  scratch: the one folder that it may write to, besides the cache
    seconds   of a step;  memory: GiB beyond what the process has when it is ready
    budget    instructions that a warp may execute;  threads: of this machine
    """

    read: tuple[str, ...]
    seconds: float = 10.0
    memory: float = 4.0
    budget: int | None = None
    threads: int | None = None
    scratch: str = ""

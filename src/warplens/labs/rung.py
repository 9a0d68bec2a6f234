"""Rung: the interface of kernel rungs and Python rungs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from warplens.core.metric import Metric
from warplens.core.program import Program
from warplens.core.run_options import RunOptions
from warplens.hardware import Gpu, Job, Timing
from warplens.launchspec.expression import Names
from warplens.launchspec.lab_toml import RungEntry
from warplens.report.lab.lab_table import Predicted
from warplens.report.launch_view import LaunchView
from warplens.run import Run


@dataclass(frozen=True)
class RungResult:
    """Rung result: one rung at one size for one GPU.

    metrics      by Nsight's names, or those that a Python rung gives its numbers
    unpredicted  why there is no time;  wrong: text of results that differ from truth.py's
    run          of a kernel: its machine code and addresses, for pages and pictures
    """

    metrics: Mapping[str, Metric]
    predicted: Predicted | None
    unpredicted: str = ""
    wrong: tuple[str, ...] = ()
    run: Run | None = field(default=None, repr=False)

    @property
    def subject(self) -> LaunchView | None:
        return self.run.subject if self.run else None


class Rung(Protocol):
    """Rung.  size: names that replace those of the lab, None for the small size."""

    @property
    def entry(self) -> RungEntry: ...

    def run(self, gpu: str, size: Names | None, host: RunOptions, predict: bool = True) -> RungResult:
        """Executes it on the CPU, checks its result and predicts its time."""
        ...

    def program(self, gpu: str) -> Program | None:
        """Its machine code for a GPU, at the full size; None if it is no kernel."""
        ...

    def job(self, size: Names | None) -> Job | None:
        """The launch, to be counted on a GPU; None if it is no kernel."""
        ...

    def time(self, gpu: Gpu, size: Names | None) -> Timing | None:
        """Time on this machine's GPU; None if it cannot be timed."""
        ...

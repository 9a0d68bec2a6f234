"""Program activity: what rules read of a whole program: its copies over the link, and when the GPU did what."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warplens.machine.host_link import HostLink
from warplens.rules._rule import Finding

Spans = NDArray[np.int64]  # rows of begin and end, in nanoseconds of virtual time


@dataclass(frozen=True)
class LinkCopies:
    """Copies of one direction over the link.

    pageable, pageable_bytes, pageable_us   those whose memory on the host is not page-locked
    spans    when, and sizes: bytes of each
    """

    pageable: int
    pageable_bytes: int
    pageable_us: float
    spans: Spans
    sizes: NDArray[np.int64]


@dataclass(frozen=True)
class ProgramActivity:
    """A whole program.

    link       between the GPU and its host;  into, out_of: copies, from the GPU's side
    work       spans of kernels, and of copies within the GPU;  kernels_us: time of each kernel
    busy_us    in which GPU or link do anything; the host's pauses between depend on the machine that runs the program
    """

    link: HostLink
    into: LinkCopies
    out_of: LinkCopies
    work: Spans
    kernels_us: Mapping[str, float]
    busy_us: float


@dataclass(frozen=True, slots=True)
class WholeProgramRule:
    """One fault of a program; threshold, fires and silent as of a Rule."""

    fault: str
    threshold: float
    fires: str
    silent: str
    check: Callable[[ProgramActivity], Finding | None]

    def __call__(self, program: ProgramActivity) -> Finding | None:
        found = self.check(program)
        return found if found and found.weight >= self.threshold else None


Check = Callable[[ProgramActivity], Finding | None]


def program_rule(threshold: float, fires: str, silent: str) -> Callable[[Check], WholeProgramRule]:
    """Makes a function the rule of its name.  fires, silent: rungs of labs/transfers, at their full size."""
    return lambda check: WholeProgramRule(check.__name__, threshold, fires, silent, check)


def covered_us(*spans: Spans) -> float:
    """Length of the union."""
    rows = np.concatenate(spans)
    if not len(rows):
        return 0.0
    rows = rows[np.argsort(rows[:, 0], kind="stable")]
    ends = np.maximum.accumulate(rows[:, 1])
    gaps = np.maximum(rows[1:, 0] - ends[:-1], 0).sum()
    return float(ends[-1] - rows[0, 0] - gaps) / 1000

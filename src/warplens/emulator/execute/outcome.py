"""Outcomes: how a part of a launch ended.

Finished, FaultOutcome: the blocks ran, or the kernel faulted.  Restart: the launch begins again, with other code.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from warplens.emulator.execute.worker import Worker


@dataclass(frozen=True)
class Finished:
    """Finished: all blocks ran, or wait for others; `workers` have their counters."""

    workers: tuple[Worker, ...]


@dataclass(frozen=True)
class FaultOutcome:
    """Fault outcome: recorded by `worker`; None if several ran: a rerun in block order finds the first fault."""

    worker: Worker | None


class Restart(Enum):
    """Restart: why a launch begins again.

    TIER_UP        threaded code has run for longer than compiling takes
    INDEX_WRAPPED  an affine index left 32 bits: only code compiled without affine values can execute that
    LANES_CROSSED  lanes of a warp wait for each other in two places.  An H200 releases those that wait at a BSYNC
                   (crossed.csv in measurements/h200); code that supports that is slower
    SIGNALLED      a signal arrived, and its Python handler did not end the launch
    """

    TIER_UP = auto()
    INDEX_WRAPPED = auto()
    LANES_CROSSED = auto()
    SIGNALLED = auto()


Outcome = Finished | FaultOutcome | Restart

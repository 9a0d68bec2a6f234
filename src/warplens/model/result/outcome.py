"""Simulation outcome: what the SM simulation and the grid estimate hand to the results."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warplens.model.sm.activity import Activity
from warplens.model.sm.sm_settings import Settings
from warplens.model.sm.sm_state import Counters


@dataclass(frozen=True)
class SimulationOutcome:
    """What the simulation of one multiprocessor gave, and what it stands for.

    counts      of one SM;  stalls: (reason, instruction);  busy: cycles of each pipe
    cycles      of the multiprocessor for all its blocks;  scale: all of its instructions / those simulated
    settings    with which it ran;  active: how long multiprocessors are, and their warps
    """

    counts: Counters
    stalls: NDArray[np.float64]
    busy: NDArray[np.float64]
    cycles: float
    scale: float
    settings: Settings
    active: Activity

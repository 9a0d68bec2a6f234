"""Simulation outcome: results of the SM simulation, input of the prediction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warplens.model.grid.memory_supply import MemorySupply
from warplens.model.sm.activity import Activity
from warplens.model.sm.sm_settings import Settings
from warplens.model.sm.sm_state import Counters


@dataclass(frozen=True)
class SimulationOutcome:
    """Results of one simulated SM, and the scale to the whole launch.

    counts      of one SM;  stalls: (reason, instruction);  busy: cycles of each pipe
    cycles      of the SM for all its blocks;  scale: all of its instructions / those simulated
    settings    of the simulation;  supply: with the L2 evictions that the simulation found
    activity    active cycles of SMs, and their warps
    """

    counts: Counters
    stalls: NDArray[np.float64]
    busy: NDArray[np.float64]
    cycles: float
    scale: float
    settings: Settings
    supply: MemorySupply
    activity: Activity

    @property
    def issued(self) -> float:
        """Warp instructions that the simulated SM issued, at least 1."""
        return max(self.counts.issued, 1.0)

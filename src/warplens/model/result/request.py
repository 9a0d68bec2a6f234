"""Prediction request: the launch and the GPU of a prediction, and what the model derives from them."""

from __future__ import annotations

from typing import NamedTuple

from warplens.core.counts import Trace
from warplens.core.program import Program
from warplens.counters.occupancy import Occupancy
from warplens.machine import Machine
from warplens.model.grid.inter_block_sync import InterBlockSync
from warplens.model.grid.memory_demand import MemoryDemand
from warplens.model.grid.memory_supply import MemorySupply
from warplens.model.grid.simulated_blocks import SimulatedBlocks
from warplens.model.instruction.instruction_table import InstructionTable
from warplens.model.trace.warp_streams import WarpStreams


class PredictionRequest(NamedTuple):
    """machine: at the clock of this launch;  what_if: causes to remove (WHAT_IF of prediction.py);  effort: share of
    the usual sample of blocks."""

    program: Program
    trace: Trace
    machine: Machine
    occupancy: Occupancy
    what_if: tuple[str, ...]
    effort: float = 1.0

    @property
    def executed(self) -> float:
        """Warp instructions of the whole grid."""
        return float(self.trace.executed.sum())


class SimulationInput(NamedTuple):
    """chosen: blocks to simulate, whose traces are in `streams`;  sync: waits of blocks for each other."""

    chosen: SimulatedBlocks
    code: InstructionTable
    streams: WarpStreams
    demand: MemoryDemand
    supply: MemorySupply
    sync: InterBlockSync

"""Extrapolation: from the simulated blocks of one SM to the whole launch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from warplens.machine.parameter import assumed
from warplens.model.grid.memory_supply import MemorySupply
from warplens.model.grid.simulated_blocks import SimulatedBlocks
from warplens.model.result.outcome import SimulationOutcome
from warplens.model.result.prediction_metrics import SECTOR
from warplens.model.result.request import PredictionRequest, SimulationInput
from warplens.model.sm.activity import History, activity
from warplens.model.sm.concurrent_sms import simulate_sms
from warplens.model.sm.l1_cache import LINE, l1_lines
from warplens.model.sm.simulate import CacheLines, SimulatedKernel
from warplens.model.sm.sm_settings import Settings, settings_of
from warplens.model.sm.sm_state import Counters

ROUNDING = assumed(0.02, "share", "the error of the estimate how often the simulated part is repeated")


def simulation_outcome(request: PredictionRequest, inputs: SimulationInput) -> SimulationOutcome:
    """Simulates the chosen blocks and scales the result to the grid."""
    machine, chosen, total = request.machine, inputs.chosen, request.trace.launch.blocks
    kernel = simulated_kernel(request, inputs)
    settings = kernel.settings
    runs = simulate_sms(kernel, inputs.streams, chosen)
    histories = [run.history for run in runs]
    counts = mean_counts([run.counts for run in runs])
    simulated = max(counts.cycles, counts.last_store)
    # An SM with one block more than others ends last.
    executed = request.executed / total * chosen.of_blocks
    scale = 1.0 if chosen.other_sms else executed / max(counts.issued, 1.0)
    cycles = cycles_of_all_blocks(simulated, scale, histories[0], chosen, request.what_if)
    if inputs.sync.chain_cycles:
        # Other blocks run while some wait, except for the first.
        cycles = max(cycles, float(histories[0].ended[0]) + inputs.sync.chain_cycles)
    cycles += inputs.sync.grid_barrier_cycles
    of_all = executed * total / chosen.of_blocks / max(counts.issued, 1.0)
    evicted = (n * of_all for n in (counts.l2_lost, counts.l2_filled, counts.l2_rewritten))
    supply = inputs.supply.with_evictions(*evicted)
    first_block = machine.speeds.first_block_cycles
    least = first_block + dram_cycles(settings, chosen, supply)
    if "ideal_access" not in request.what_if and least > cycles:
        counts.cycles *= least / cycles
        cycles = least
    longer = (cycles - first_block) / max(simulated - first_block, 1.0)
    return SimulationOutcome(
        counts=counts,
        stalls=np.mean([run.stalls for run in runs], axis=0),
        busy=np.mean([run.busy for run in runs], axis=0),
        cycles=cycles,
        scale=scale,
        settings=settings,
        supply=supply,
        activity=activity(histories, chosen, machine, inputs.streams.warps, total, longer),
    )


def simulated_kernel(request: PredictionRequest, inputs: SimulationInput) -> SimulatedKernel:
    chosen = inputs.chosen
    settings = settings_of(request.machine, chosen, inputs.supply, request.what_if)
    return SimulatedKernel(
        inputs.code, chosen.resources, settings, inputs.supply.arrays(), cache_lines(request, chosen)
    )  # fmt: skip


def cache_lines(request: PredictionRequest, chosen: SimulatedBlocks) -> CacheLines:
    """Lines of L1, and of the SM's share of L2."""
    machine = request.machine
    l2 = machine.l2_bytes // LINE // chosen.active
    l1 = l1_lines(
        machine.limits.unified_bytes_per_multiprocessor, request.occupancy.carveout_bytes, machine.speeds.l1_share
    )
    return CacheLines(l1, l2, int(machine.microarchitecture.partial_lines * l2), int(machine.speeds.dirty_share * l2))


def mean_counts(counts: list[Counters]) -> Counters:
    """Average over the simulated SMs; the cycles are those of the slowest, with which the launch ends."""
    mean = Counters.mean(counts)
    mean.cycles = max(each.cycles for each in counts)
    mean.last_store = max(each.last_store for each in counts)
    return mean


def cycles_of_all_blocks(
    simulated: float, scale: float, history: History, chosen: SimulatedBlocks, what_if: Sequence[str]
) -> float:
    """Cycles for all blocks of the SM, from those that were simulated in so many cycles.

    scale   instructions of all its blocks / those simulated
    """
    number, total, resident = len(chosen.blocks), chosen.of_blocks, chosen.resident
    if chosen.other_sms or chosen.busy or (number == total and "no_divergence" in what_if):
        return simulated
    if number == total:
        return simulated * max(scale, 1.0) if abs(scale - 1) > ROUNDING else simulated
    if number < 2 * resident:
        return simulated * (total / number)
    return float(simulated + block_cycles(history, resident) * (total - number))


def block_cycles(history: History, resident: int) -> float:
    """Cycles that each further block adds, from those after the first wave.

    The SM is full until its last block begins: the time from the end of the first wave to then, divided by the blocks
    executed in it, of which those in progress count in part.  Where blocks end in step, little or nothing is executed
    in that time; then the average time of a block, of which `resident` run at once (Little's law).
    """
    first, last = float(np.sort(history.ended)[resident - 1]), float(history.began.max())
    executed = blocks_executed(history, last) - blocks_executed(history, first)
    if executed >= resident / 2:
        return (last - first) / executed
    later = np.argsort(history.began, kind="stable")[resident:]
    return float((history.ended - history.began)[later].mean()) / resident


def blocks_executed(history: History, until: float) -> float:
    """Blocks executed until then, in parts too."""
    passed = (until - history.began) / np.maximum(history.ended - history.began, 1.0)
    return float(np.clip(passed, 0.0, 1.0).sum())


def dram_cycles(settings: Settings, chosen: SimulatedBlocks, supply: MemorySupply) -> float:
    """Minimum DRAM cycles for the traffic of the whole grid.  The simulation of one SM lacks two parts of it: L2
    evictions caused by other SMs, and write-backs of data from before the launch."""
    cycles = supply.read / settings.dram.read_bytes + supply.stored / settings.dram.write_bytes
    return float(SECTOR * cycles / chosen.active)

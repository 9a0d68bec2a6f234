"""predict(): the time that a launch takes on a GPU.

One SM is simulated (simulate.py) with the blocks that it would be assigned, all of them or as many full waves as
represent the rest; L2 and DRAM serve it with its share of their bandwidth.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from warplens.core.counts import Trace
from warplens.core.program import Program
from warplens.counters.occupancy import Occupancy, waves
from warplens.errors import UsageError
from warplens.machine import Machine
from warplens.machine.parameter import assumed
from warplens.model import layout as p
from warplens.model.grid.inter_block_sync import InterBlockSync, waits_of
from warplens.model.grid.memory_supply import Buffers, MemorySupply
from warplens.model.grid.simulated_blocks import SimulatedBlocks, choose_blocks, with_neighbours
from warplens.model.instruction.instruction_table import PIPES, InstructionTable, machine_code
from warplens.model.instruction.sm_clock import at_its_clock
from warplens.model.result.limit import limit_of
from warplens.model.result.outcome import SimulationOutcome
from warplens.model.result.prediction import WHAT_IF, Prediction, Simulated
from warplens.model.result.prediction_metrics import SECTOR, interval, metrics_of, units_of
from warplens.model.sm.activity import activity
from warplens.model.sm.concurrent_sms import side_by_side
from warplens.model.sm.l1_cache import LINE, lines_of
from warplens.model.sm.simulate import CacheLines, SimulatedKernel
from warplens.model.sm.sm_settings import Settings, settings_of
from warplens.model.sm.sm_state import Counters
from warplens.model.trace.warp_streams import WarpStreams, part
from warplens.sass.block_queue import waiting_loads

ROUNDING = assumed(0.02, "share", "the error of the estimate how often the simulated part is repeated")
REPEATED = assumed(1.1, "factor", "a prediction mentions repetitions from there on")
Recorder = Callable[[tuple[int, ...]], WarpStreams]


def predict(
    program: Program, trace: Trace, machine: Machine, occupancy: Occupancy, buffers: Buffers, recorded: Recorder,
    what_if: Sequence[str] = (),
) -> Prediction:  # fmt: skip
    """Time of the launch on `machine`, with an empty L2 at its start.

    buffers    [low, high) of each allocation of device memory
    recorded   runs blocks by number and returns the traces of their warps
    what_if    of WHAT_IF: causes to remove
    Raises UsageError if not even one block fits, or for an unknown what_if; Unpredictable where warps wait for each
    other in a way that the model does not support, or blocks are too long to be recorded.
    """
    for name in what_if:
        if name not in WHAT_IF:
            raise UsageError(f"what_if={name!r}: there are {', '.join(WHAT_IF)}")
    waves(machine, occupancy, trace.launch.blocks)
    machine = at_its_clock(program, trace, machine)
    if "full_occupancy" in what_if:
        most = machine.limits.warps_per_multiprocessor // trace.launch.warps_per_block
        seats = machine.limits.warps_per_multiprocessor // machine.limits.sub_partitions
        occupancy = replace(occupancy, blocks=max(most, occupancy.blocks), seats=seats)
    chosen = choose_blocks(trace, machine, occupancy)
    waits = waits_of(program, trace, chosen, machine.speeds, recorded)
    others = recorded(chosen.more)
    streams = others
    if not set(chosen.simulated) <= set(chosen.more):
        streams = recorded(chosen.simulated)
    near = with_neighbours(chosen.centres, trace.launch.grid)
    beside = recorded(near) if near else part(others, ())
    code = machine_code(program, machine)
    supply = MemorySupply.of(program, code, others, beside, chosen, machine, trace, buffers)
    return _answer(program, trace, machine, occupancy, chosen, code, streams, supply, what_if, waits)


def _run(
    machine: Machine,
    occupancy: Occupancy,
    chosen: SimulatedBlocks,
    code: InstructionTable,
    streams: WarpStreams,
    supply: MemorySupply,
    what_if: Sequence[str],
    executed: float,
    blocks: int,
    waits: InterBlockSync,
) -> tuple[SimulationOutcome, MemorySupply]:
    chosen_settings = settings_of(machine, chosen, supply, what_if)
    unified = machine.limits.unified_bytes_per_multiprocessor
    of_l2 = machine.l2_bytes // LINE // chosen.active
    of_l1 = lines_of(unified, occupancy.carveout_bytes, machine.speeds.l1_share)
    partial = int(machine.microarchitecture.partial_lines * of_l2)
    lines = CacheLines(of_l1, of_l2, partial, int(machine.speeds.dirty_share * of_l2))
    kernel = SimulatedKernel(code, chosen.room, chosen_settings, supply.arrays(), lines)
    runs = side_by_side(kernel, streams, chosen)
    counts = Counters.mean([run.counts for run in runs])
    stalls, busy = np.mean([run.stalls for run in runs], axis=0), np.mean([run.busy for run in runs], axis=0)
    counts.cycles = max(run.counts.cycles for run in runs)
    counts.last_store = max(run.counts.last_store for run in runs)
    cycles = simulated = max(counts.cycles, counts.last_store)
    scale = executed / max(counts.issued, 1.0)
    if chosen.alongside:
        scale = 1.0  # these are all of the SM's work
    elif len(chosen.blocks) < chosen.of_blocks:
        # The rest runs at the rate of the blocks after the first wave.
        first, n = chosen.resident, len(chosen.blocks)
        ends = np.sort(runs[0].history.ended)
        if n >= 2 * first:
            rate = (ends[-1] - ends[first - 1]) / (n - first)
            cycles += rate * (chosen.of_blocks - n)
        else:
            cycles *= chosen.of_blocks / n
    elif "no_divergence" not in what_if:
        cycles *= max(scale, 1.0) if abs(scale - 1) > ROUNDING else 1.0
    before = machine.speeds.first_block_cycles
    if waits.before:
        # Other blocks run while some wait, except for the first.
        cycles = max(cycles, runs[0].history.ended[0] + waits.before)
    cycles += waits.met
    of_all = executed * blocks / chosen.of_blocks / max(counts.issued, 1.0)
    supply = supply.and_again(*(n * of_all for n in (counts.l2_lost, counts.l2_filled, counts.l2_rewritten)))
    if "ideal_access" not in what_if and (least := before + dram_cycles(chosen_settings, chosen, supply)) > cycles:
        counts.cycles *= least / cycles
        cycles = least
    longer = (cycles - before) / max(simulated - before, 1.0)
    histories = [run.history for run in runs]
    active = activity(histories, chosen, machine, streams.warps, blocks, longer)
    return SimulationOutcome(counts, stalls, busy, cycles, scale, chosen_settings, active), supply


def dram_cycles(settings: Settings, chosen: SimulatedBlocks, supply: MemorySupply) -> float:
    """Minimum DRAM cycles for the traffic of the whole grid.  The simulation of one SM lacks two parts of it: L2
    evictions caused by other SMs, and write-backs of data from before the launch."""
    cycles = supply.read / settings.dram.read_bytes + supply.stored / settings.dram.write_bytes
    return float(SECTOR * cycles / chosen.active)


def _answer(
    program: Program,
    trace: Trace,
    machine: Machine,
    occupancy: Occupancy,
    chosen: SimulatedBlocks,
    code: InstructionTable,
    streams: WarpStreams,
    supply: MemorySupply,
    what_if: Sequence[str],
    waits: InterBlockSync,
) -> Prediction:
    # An SM with one block more than others ends last.
    each = float(trace.executed.sum()) / trace.launch.blocks * chosen.of_blocks
    out, supply = _run(machine, occupancy, chosen, code, streams, supply, what_if, each, trace.launch.blocks, waits)
    issued = max(out.counts.issued, 1.0)
    launch_us, event_us = machine.speeds.launch_microseconds, machine.speeds.event_microseconds
    time_us = launch_us + out.cycles / machine.boost_megahertz
    duration_us = time_us - event_us
    surely = bool(machine.calibrated) and not waiting_loads(program)
    low, high = interval(time_us, launch_us, surely)
    shortest, longest = interval(duration_us, launch_us - event_us, surely)
    stalls = {name: float(out.stalls[n].sum()) / issued for n, name in enumerate(p.REASONS)}
    at = {
        int(i): {name: float(out.stalls[n, i]) for n, name in enumerate(p.REASONS) if out.stalls[n, i]}
        for i in np.flatnonzero(out.stalls.sum(0))
    }
    metrics = metrics_of(machine, program, trace, chosen.active, out, supply, duration_us)
    units = units_of(machine, trace, chosen.active, out, supply, dict(zip(PIPES, out.busy, strict=False)))
    simulated = _simulated(chosen, int(issued), out.scale)
    limit = waits.limit(out.cycles) or limit_of(program, trace, machine, units, stalls, at, out, time_us)
    return Prediction(
        machine.key, time_us, low, high, duration_us, shortest, longest, limit, units, metrics, stalls, at, simulated,
        machine.calibrated, coverage_measured=surely, assumptions=machine.inherited,
    )  # fmt: skip


def _simulated(chosen: SimulatedBlocks, instructions: int, scale: float) -> Simulated:
    n, whole = len(chosen.blocks), chosen.of_blocks
    if n == whole and scale > REPEATED:
        why = f"the first {100 / scale:.0f} % of what one SM executes: the rest is taken to repeat it"
        return Simulated(n, whole, instructions, why)
    if n == whole:
        why = "all blocks of one SM; the others have the same work"
    else:
        waves_run = math.ceil(n / chosen.resident)
        waves_of = f"{waves_run} waves of {chosen.resident}"
        why = f"{n} of the {whole} blocks of one SM, {waves_of}: the rest repeats them"
    return Simulated(n, whole, instructions, why)

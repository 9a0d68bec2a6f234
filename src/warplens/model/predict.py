"""predict(): the time that a launch takes on a GPU.

One SM is simulated (simulate.py) with the blocks that it would be assigned, all of them or as many full waves as
represent the rest; L2 and DRAM serve it with its share of their bandwidth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from warplens.core.counts import Trace
from warplens.core.memory_opcodes import TENSOR_MEMORY
from warplens.core.program import Program
from warplens.counters.occupancy import Occupancy, waves
from warplens.errors import Unpredictable, UsageError
from warplens.machine import Machine
from warplens.model.grid.buffer_footprints import Buffers, RecordedGrid
from warplens.model.grid.inter_block_sync import inter_block_sync
from warplens.model.grid.l2_contents import L2Start, RangeUse
from warplens.model.grid.memory_demand import MemoryDemand
from warplens.model.grid.memory_supply import MemorySupply
from warplens.model.grid.simulated_blocks import choose_blocks, neighbourhoods
from warplens.model.instruction.instruction_table import machine_code
from warplens.model.instruction.sm_clock import with_sm_clock
from warplens.model.layout import REASONS
from warplens.model.result.bottleneck_analysis import StallTables, bottleneck_of
from warplens.model.result.extrapolation import simulation_outcome
from warplens.model.result.outcome import SimulationOutcome
from warplens.model.result.prediction import WHAT_IF, Prediction, Simulated
from warplens.model.result.prediction_metrics import interval, metrics_of, units_of
from warplens.model.result.request import PredictionRequest, SimulationInput
from warplens.model.result.sm_replay import warp_timeline
from warplens.model.result.warp_timeline import WarpTimeline
from warplens.model.trace.warp_streams import WarpStreams, select_blocks
from warplens.sass.block_queue import waiting_loads

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
    other in a way that the model does not support, blocks are too long to be recorded, or there is tensor memory.
    """
    return launch_model(program, trace, machine, occupancy, buffers, recorded, what_if).prediction()


def launch_model(
    program: Program, trace: Trace, machine: Machine, occupancy: Occupancy, buffers: Buffers, recorded: Recorder,
    what_if: Sequence[str] = (), effort: float = 1.0,
) -> LaunchModel:  # fmt: skip
    """A launch that can be predicted whatever L2 holds at its start; arguments and errors are those of predict().

    effort     share of the usual number of blocks from which it is estimated what the grid reads and writes
    """
    request = prediction_request(program, trace, machine, occupancy, what_if)._replace(effort=effort)
    return LaunchModel(request, simulation_input(request, buffers, recorded))


@dataclass(frozen=True)
class LaunchModel:
    """Launch model: what was recorded of a launch, and what it asks of memory."""

    request: PredictionRequest
    inputs: SimulationInput

    @property
    def uses(self) -> tuple[RangeUse, ...]:
        """By buffer."""
        return self.inputs.demand.uses

    @property
    def nbytes(self) -> int:
        """Of its recordings."""
        return self.inputs.streams.words.nbytes

    def prediction(self, start: L2Start | None = None) -> Prediction:
        """Time of the launch if L2 holds that at its start; None: nothing."""
        inputs = self.inputs
        if start is not None:
            supply = MemorySupply.of(inputs.demand, self.request.machine, start)
            inputs = inputs._replace(supply=supply)
        return prediction_of(self.request, inputs, simulation_outcome(self.request, inputs))


def timeline(
    program: Program, trace: Trace, machine: Machine, occupancy: Occupancy, buffers: Buffers, recorded: Recorder
) -> WarpTimeline:
    """What the warps of the simulated SM do when; arguments and errors are those of predict()."""
    request = prediction_request(program, trace, machine, occupancy)
    return warp_timeline(request, simulation_input(request, buffers, recorded))


def prediction_request(
    program: Program, trace: Trace, machine: Machine, occupancy: Occupancy, what_if: Sequence[str] = ()
) -> PredictionRequest:
    for name in what_if:
        if name not in WHAT_IF:
            raise UsageError(f"what_if={name!r}: there are {', '.join(WHAT_IF)}")
    if any(instruction.base in TENSOR_MEMORY for instruction in program.instructions):
        raise Unpredictable("no GPU that has tensor memory (tcgen05) was measured: measure it on a GPU")
    waves(machine, occupancy, trace.launch.blocks)
    machine = with_sm_clock(program, trace, machine)
    if "full_occupancy" in what_if:
        occupancy = full_occupancy(trace, machine, occupancy)
    return PredictionRequest(program, trace, machine, occupancy, tuple(what_if))


def full_occupancy(trace: Trace, machine: Machine, occupancy: Occupancy) -> Occupancy:
    """Occupancy that only the warp slots of an SM limit."""
    most = machine.limits.warps_per_multiprocessor // trace.launch.warps_per_block
    seats = machine.limits.warps_per_multiprocessor // machine.limits.sub_partitions
    return replace(occupancy, blocks=max(most, occupancy.blocks), seats=seats)


def simulation_input(request: PredictionRequest, buffers: Buffers, recorded: Recorder) -> SimulationInput:
    """Chooses blocks, records them, and estimates what the whole grid does to L2 and DRAM."""
    program, trace, machine = request.program, request.trace, request.machine
    chosen = choose_blocks(trace, machine, request.occupancy, request.effort)
    sync = inter_block_sync(program, trace, chosen, machine.speeds, recorded)
    sample = recorded(chosen.sample)
    streams = sample if set(chosen.simulated) <= set(chosen.sample) else recorded(chosen.simulated)
    numbers = neighbourhoods(chosen.centres, trace.launch.grid)
    neighbours = recorded(numbers) if numbers else select_blocks(sample, ())
    code = machine_code(program, machine)
    grid = RecordedGrid(program, code, trace, chosen, sample, neighbours)
    demand = MemoryDemand.of(grid, machine, buffers)
    return SimulationInput(chosen, code, streams, demand, MemorySupply.of(demand, machine), sync)


def prediction_of(request: PredictionRequest, inputs: SimulationInput, out: SimulationOutcome) -> Prediction:
    """Time, interval, metrics, bottleneck and stalls of the launch."""
    machine, chosen = request.machine, inputs.chosen
    launch_us, event_us = machine.speeds.launch_microseconds, machine.speeds.event_microseconds
    time_us = launch_us + out.cycles / machine.boost_megahertz
    duration_us = time_us - event_us
    covered = bool(machine.calibrated) and not waiting_loads(request.program)
    low, high = interval(time_us, launch_us, covered)
    shortest, longest = interval(duration_us, launch_us - event_us, covered)
    stalls = StallTables(
        {name: float(out.stalls[n].sum()) / out.issued for n, name in enumerate(REASONS)},
        {
            int(i): {name: float(out.stalls[n, i]) for n, name in enumerate(REASONS) if out.stalls[n, i]}
            for i in np.flatnonzero(out.stalls.sum(0))
        },
    )
    units = units_of(request, out, chosen.active)
    return Prediction(
        gpu=machine.key,
        time_us=time_us,
        low_us=low,
        high_us=high,
        duration_us=duration_us,
        duration_low_us=shortest,
        duration_high_us=longest,
        bottleneck=bottleneck_of(request, inputs.sync, units, stalls, out, time_us),
        units=units,
        metrics=metrics_of(request, out, duration_us),
        stalls=stalls.all,
        stalls_at=stalls.at,
        simulated=Simulated(
            len(chosen.blocks),
            len(chosen.blocks) if chosen.busy else chosen.of_blocks,
            int(out.issued),
            chosen.resident,
            out.scale,
        ),
        calibrated=machine.calibrated,
        coverage_measured=covered,
        assumptions=machine.inherited,
    )

"""Prediction metrics: Nsight Compute's metrics and speed of light, from a simulation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from warplens.core.counts import Trace
from warplens.core.metric import Metric
from warplens.core.program import Program
from warplens.machine import Machine
from warplens.machine.parameter import assumed, measured
from warplens.model import layout as p
from warplens.model.result.l2_hit_rate import PIECE, L2Lookups, L2Requests, lookups
from warplens.model.result.outcome import SimulationOutcome
from warplens.model.result.prediction import Unit
from warplens.model.result.rates import rates

if TYPE_CHECKING:
    from warplens.model.grid.memory_supply import MemorySupply

# Half widths of the interval: of the cost of a launch, and of the rest.  0.3 holds 505 of the 523 launches of the first
# five lists of benchmarks/validation, 97 %, with which the model has been examined, and 112 of the 118 of the sixth.
LAUNCHED = measured(0.05, "share", "measurements/h200/calibration.csv, `empty` and `equal work` of 4 rounds")
CALIBRATED = measured(0.3, "share", "measurements/h200/validation_times.csv and those of later lists")
# Of all of the time where a GPU is not calibrated, or blocks wait for each other.
PUBLISHED = assumed(0.6, "share", "1.1 was seen of 132 blocks that wait, 4 of 1,056 that all poll one word")
SECTOR = 32
INSTRUCTION = 16  # defined: bytes


def interval(time_us: float, launch_us: float, surely: bool) -> tuple[float, float]:
    """Interval of a time or a duration.

    launch_us    part of it that an empty launch takes;  surely: calibrated, and no block waits for others
    """
    if not surely:
        return time_us / (1 + PUBLISHED), time_us * (1 + PUBLISHED)
    known, rest = min(launch_us, time_us), max(time_us - launch_us, 0.0)
    return known * (1 - LAUNCHED) + rest / (1 + CALIBRATED), known * (1 + LAUNCHED) + rest * (1 + CALIBRATED)


def modelled(value: float, unit: str) -> Metric:
    return Metric(value, unit, "modelled")


def metrics_of(
    machine: Machine,
    program: Program,
    trace: Trace,
    active: int,
    out: SimulationOutcome,
    supply: MemorySupply,
    duration_us: float,
) -> Mapping[str, Metric]:
    counts, issued = out.counts, max(out.counts.issued, 1.0)
    inst, sm_active = float(trace.executed.sum()), max(out.active.cycles, 1.0)
    elapsed = duration_us * machine.boost_megahertz
    resident = out.active.warp_cycles / sm_active
    found = {
        "gpu__time_duration.sum": modelled(1000 * duration_us, "ns"),
        "gpc__cycles_elapsed.max": modelled(elapsed, "cycle"),
        "sm__cycles_active.avg": modelled(sm_active, "cycle"),
        "sm__warps_active.avg.pct_of_peak_sustained_active": modelled(
            100 * resident / machine.limits.warps_per_multiprocessor, "%"
        ),
        "smsp__average_warps_active_per_inst_executed.ratio": modelled(
            resident * sm_active * machine.multiprocessors / inst, "cycle"
        ),
        "smsp__average_warp_latency_per_inst_issued.ratio": modelled(out.stalls.sum() / issued, "cycle"),
        "sm__inst_executed.avg.per_cycle_active": modelled(inst / machine.multiprocessors / sm_active, "inst/cycle"),
        "sm__inst_executed.avg.per_cycle_elapsed": modelled(inst / machine.multiprocessors / elapsed, "inst/cycle"),
        "dram__bytes_read.sum": modelled(supply.read * SECTOR, "byte"),
        "dram__bytes_write.sum": modelled(supply.stored * SECTOR, "byte"),
    }
    through_l1 = float(counts.l1_sectors + counts.l2_writes + counts.l1_merged)
    if through_l1:
        found["l1tex__t_sector_hit_rate.pct"] = modelled(100 * counts.l1_hits / through_l1, "%")
    found["lts__t_sector_hit_rate.pct"] = modelled(_lookups(machine, program, trace, out, supply).percent, "%")
    for n, name in enumerate(p.REASONS[1:], 1):
        value = float(out.stalls[n].sum()) / issued
        found[f"smsp__average_warps_issue_stalled_{name}_per_issue_active.ratio"] = modelled(value, "inst")
    return found | rates(machine, program, trace, found, duration_us)


def _lookups(
    machine: Machine, program: Program, trace: Trace, out: SimulationOutcome, supply: MemorySupply
) -> L2Lookups:
    counts = out.counts
    of_all = float(trace.executed.sum()) / max(counts.issued, 1.0)
    reads, stores, atomics = (n * of_all for n in (counts.l2_reads, counts.l2_writes, counts.l2_updates))
    reads -= counts.l2_joined * of_all
    first = counts.l2_in_pieces / max(counts.l2_pieces, 1.0)
    asked = L2Requests(
        reads, stores, atomics, (supply.read - supply.filled) / PIECE, first, supply.both, supply.filled,
        len(program.instructions) * INSTRUCTION,
    )  # fmt: skip
    return lookups(asked, int(machine.speeds.halves), machine.microarchitecture)


def units_of(
    machine: Machine, trace: Trace, active: int, out: SimulationOutcome, supply: MemorySupply, busy: Mapping[str, float]
) -> tuple[Unit, ...]:
    """Speed of light of every unit with work, highest first."""
    counts = out.counts
    moved, per_cycle = supply.read + supply.stored, active * machine.boost_megahertz / 1000
    best = supply.read / out.settings.dram.read_bytes + supply.stored / out.settings.dram.write_bytes
    cycles = max(counts.cycles, 1.0)
    seconds = out.cycles / (machine.boost_megahertz * 1e6)
    parts = machine.limits.sub_partitions
    found = [
        Unit("issue slots", counts.issued / cycles, parts, "instructions/cycle"),
        Unit("load/store unit", counts.lsu_busy / cycles, 1.0, "wavefronts/cycle"),
        *(
            Unit(f"L2 {way}s", moved * SECTOR / cycles, rate, "bytes/cycle")
            for way, moved, rate in (
                ("read", counts.l2_reads, out.settings.l2.read_bytes),
                ("write", counts.l2_sent, out.settings.l2.write_bytes),
            )
        ),
        Unit("DRAM", moved * SECTOR / max(seconds, 1e-12) / 1e9, moved / max(best, 1e-12) * per_cycle, "GB/s"),
    ]
    starts = trace.launch.blocks / max(out.cycles, 1.0)
    found.append(Unit("block starts", starts, machine.speeds.block_rate, "blocks/cycle"))
    for pipe, taken in busy.items():
        if taken and pipe not in ("none", "lsu"):
            found.append(Unit(f"{pipe} pipe", float(taken) / parts / cycles, 1.0, "busy"))
    return tuple(sorted((u for u in found if u.achieved > 0), key=lambda u: (-u.percent, u.name)))

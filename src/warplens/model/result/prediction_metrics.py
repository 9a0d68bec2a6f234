"""Prediction metrics: Nsight Compute's metrics and speed of light, from a simulation."""

from __future__ import annotations

from collections.abc import Mapping

from warplens.core.metric import Metric
from warplens.machine.parameter import assumed, measured
from warplens.model.layout import PIPES, REASONS
from warplens.model.result.l2_hit_rate import PIECE, L2Lookups, L2Requests, lookups
from warplens.model.result.outcome import SimulationOutcome
from warplens.model.result.prediction import Unit
from warplens.model.result.rates import ARCH, rates
from warplens.model.result.request import PredictionRequest
from warplens.model.result.throughputs import throughputs

# Half widths of the interval: of the cost of a launch, and of the rest.  0.3 holds 505 of the 523 launches of the first
# five lists of tests/validation, 97 %, with which the model has been examined, and 112 of the 118 of the sixth.
LAUNCHED = measured(0.05, "share", "measurements/h200/calibration.csv, `empty` and `equal work` of 4 rounds")
CALIBRATED = measured(0.3, "share", "tests/validation/first/h200/times.csv and those of later lists")
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


def metrics_of(request: PredictionRequest, out: SimulationOutcome, duration_us: float) -> Mapping[str, Metric]:
    machine, counts = request.machine, out.counts
    executed, sm_active = request.executed, max(out.activity.cycles, 1.0)
    elapsed = duration_us * machine.boost_megahertz
    resident = out.activity.warp_cycles / sm_active
    found = {
        "gpu__time_duration.sum": modelled(1000 * duration_us, "ns"),
        "gpc__cycles_elapsed.max": modelled(elapsed, "cycle"),
        "sm__cycles_active.avg": modelled(sm_active, "cycle"),
        "sm__warps_active.avg.pct_of_peak_sustained_active": modelled(
            100 * resident / machine.limits.warps_per_multiprocessor, "%"
        ),
        "smsp__average_warps_active_per_inst_executed.ratio": modelled(
            resident * sm_active * machine.multiprocessors / executed, "cycle"
        ),
        "smsp__average_warp_latency_per_inst_issued.ratio": modelled(float(out.stalls.sum()) / out.issued, "cycle"),
        "sm__inst_executed.avg.per_cycle_active": modelled(
            executed / machine.multiprocessors / sm_active, "inst/cycle"
        ),
        "sm__inst_executed.avg.per_cycle_elapsed": modelled(executed / machine.multiprocessors / elapsed, "inst/cycle"),
        "dram__bytes_read.sum": modelled(out.supply.read * SECTOR, "byte"),
        "dram__bytes_write.sum": modelled(out.supply.stored * SECTOR, "byte"),
    }
    through_l1 = float(counts.l1_sectors + counts.l2_writes + counts.l1_merged)
    if through_l1:
        found["l1tex__t_sector_hit_rate.pct"] = modelled(100 * counts.l1_hits / through_l1, "%")
    looked_up = _lookups(request, out)
    found["lts__t_sector_hit_rate.pct"] = modelled(looked_up.percent, "%")
    for n, name in enumerate(REASONS[1:], 1):
        value = float(out.stalls[n].sum()) / out.issued
        found[f"smsp__average_warps_issue_stalled_{name}_per_issue_active.ratio"] = modelled(value, "inst")
    found |= rates(machine, request.program, request.trace, found, duration_us)
    if machine.arch.rstrip("af") == ARCH:
        found |= throughputs(request, out, looked_up, elapsed, found)
    return found


def _lookups(request: PredictionRequest, out: SimulationOutcome) -> L2Lookups:
    counts, supply = out.counts, out.supply
    of_all = request.executed / out.issued
    reads, stores, atomics = (n * of_all for n in (counts.l2_reads, counts.l2_writes, counts.l2_updates))
    reads -= counts.l2_joined * of_all
    first = counts.l2_in_pieces / max(counts.l2_pieces, 1.0)
    requests = L2Requests(
        reads, stores, atomics, (supply.read - supply.filled) / PIECE, first, supply.both, supply.filled,
        len(request.program.instructions) * INSTRUCTION,
    )  # fmt: skip
    return lookups(requests, int(request.machine.speeds.halves), request.machine.microarchitecture)


def units_of(request: PredictionRequest, out: SimulationOutcome, active: int) -> tuple[Unit, ...]:
    """Speed of light of every unit with work, highest first;  active: SMs that have a block."""
    machine, counts, supply, settings = request.machine, out.counts, out.supply, out.settings
    moved, per_cycle = supply.read + supply.stored, active * machine.boost_megahertz / 1000
    best = supply.read / settings.dram.read_bytes + supply.stored / settings.dram.write_bytes
    cycles = max(counts.cycles, 1.0)
    seconds = out.cycles / (machine.boost_megahertz * 1e6)
    parts = machine.limits.sub_partitions
    starts = request.trace.launch.blocks / max(out.cycles, 1.0)
    found = [
        Unit("issue slots", counts.issued / cycles, parts, "instructions/cycle"),
        Unit("load/store unit", counts.lsu_busy / cycles, 1.0, "wavefronts/cycle"),
        Unit("L2 reads", (counts.l2_reads - counts.l2_joined) * SECTOR / cycles, settings.l2.read_bytes, "bytes/cycle"),
        Unit("L2 writes", counts.l2_sent * SECTOR / cycles, settings.l2.write_bytes, "bytes/cycle"),
        Unit("DRAM", moved * SECTOR / max(seconds, 1e-12) / 1e9, moved / max(best, 1e-12) * per_cycle, "GB/s"),
        Unit("block starts", starts, machine.speeds.block_rate, "blocks/cycle"),
    ]
    for pipe, taken in zip(PIPES, out.busy, strict=True):
        if taken and pipe not in ("none", "lsu"):
            found.append(Unit(f"{pipe} pipe", float(taken) / parts / cycles, 1.0, "busy"))
    return tuple(sorted((u for u in found if u.achieved > 0), key=lambda u: (-u.percent, u.name)))

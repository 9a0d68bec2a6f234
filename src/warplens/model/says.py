"""What a simulation means: metrics under Nsight Compute's names, speed of light, the limit in a sentence.  F5."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from warplens.counters.opcodes import Access, access
from warplens.counters.sections.shared_memory import conflicts
from warplens.counters.vocabulary import ALL, SHARED, WAVEFRONTS, Counts
from warplens.machine import Machine
from warplens.metric import Metric
from warplens.model import places as p
from warplens.model.l2_lookups import PIECE, Asked, Lookups, lookups
from warplens.model.prediction import Unit
from warplens.program import Program
from warplens.trace import Trace

if TYPE_CHECKING:
    from warplens.model.predict import Outcome
    from warplens.model.supply import Supply

# Half widths of the interval.  What a launch costs is known to a twentieth (`empty`, `equal work ... 4 rounds` of the
# calibration); the rest to 0.3, which holds 505 of the 523 launches of the first five lists of benchmarks/validation,
# 97 %, with which the model has been looked at, and 112 of the 118 of the sixth.  All of the time of GPUs without a
# calibration: assumed; where blocks wait for each other: 1.1 of 132 blocks, 4 of 1,056 that all poll one word.
LAUNCHED, CALIBRATED, PUBLISHED = 0.05, 0.3, 0.6  # source: the error of validation
MANY_CONFLICTS = 1 / 3  # assumed: when a sentence names them
BUSY = 80.0  # assumed: percent from which on a unit is what limits
SECTOR = 32
INSTRUCTION = 16  # defined: bytes


def interval(time_us: float, launch_us: float, surely: bool) -> tuple[float, float]:
    """Of a time or a duration.

    launch_us    of it, that of a launch that does nothing;  surely: calibrated, and no block waits for others
    """
    if not surely:
        return time_us / (1 + PUBLISHED), time_us * (1 + PUBLISHED)
    known, rest = min(launch_us, time_us), max(time_us - launch_us, 0.0)
    return known * (1 - LAUNCHED) + rest / (1 + CALIBRATED), known * (1 + LAUNCHED) + rest * (1 + CALIBRATED)


def modelled(value: float, unit: str) -> Metric:
    return Metric(value, unit, "modelled")


def metrics_of(
    machine: Machine, program: Program, trace: Trace, active: int, out: Outcome, supply: Supply, duration_us: float
) -> Mapping[str, Metric]:
    counts, issued = out.counts, max(float(out.counts[p.ISSUED]), 1.0)
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
        "sm__inst_executed.avg.per_cycle_active": modelled(
            inst / machine.multiprocessors / sm_active, "inst/cycle"
        ),
        "sm__inst_executed.avg.per_cycle_elapsed": modelled(inst / machine.multiprocessors / elapsed, "inst/cycle"),
        "dram__bytes_read.sum": modelled(supply.read * SECTOR, "byte"),
        "dram__bytes_write.sum": modelled(supply.stored * SECTOR, "byte"),
    }
    through_l1 = float(counts[p.L1_SECTORS] + counts[p.L2_WRITES] + counts[p.L1_MERGED])
    if through_l1:
        found["l1tex__t_sector_hit_rate.pct"] = modelled(100 * float(counts[p.L1_HITS]) / through_l1, "%")
    found["lts__t_sector_hit_rate.pct"] = modelled(_lookups(machine, program, trace, out, supply).percent, "%")
    for n, name in enumerate(p.REASONS[1:], 1):
        value = float(out.stalls[n].sum()) / issued
        found[f"smsp__average_warps_issue_stalled_{name}_per_issue_active.ratio"] = modelled(value, "inst")
    return found


def _lookups(machine: Machine, program: Program, trace: Trace, out: Outcome, supply: Supply) -> Lookups:
    counts = out.counts
    of_all = float(trace.executed.sum()) / max(float(counts[p.ISSUED]), 1.0)
    reads, stores, atomics = (float(counts[n]) * of_all for n in (p.L2_READS, p.L2_WRITES, p.L2_UPDATES))
    reads -= float(counts[p.L2_JOINED]) * of_all
    first = float(counts[p.L2_IN_PIECES]) / max(float(counts[p.L2_PIECES]), 1.0)
    asked = Asked(
        reads, stores, atomics, (supply.read - supply.filled) / PIECE, first, supply.both, supply.filled,
        len(program.instructions) * INSTRUCTION,
    )  # fmt: skip
    return lookups(asked, int(machine.speeds.halves))


def units_of(
    machine: Machine, trace: Trace, active: int, out: Outcome, supply: Supply, busy: Mapping[str, float]
) -> tuple[Unit, ...]:
    """Speed of light of every unit with work, highest first."""
    counts = out.counts
    moved, per_cycle = supply.read + supply.stored, active * machine.boost_megahertz / 1000
    best = supply.read / float(out.settings[p.DRAM_READ]) + supply.stored / float(out.settings[p.DRAM_WRITE])
    cycles = max(float(counts[p.CYCLES]), 1.0)
    seconds = out.cycles / (machine.boost_megahertz * 1e6)
    parts = machine.limits.sub_partitions
    found = [
        Unit("issue slots", float(counts[p.ISSUED]) / cycles, parts, "instructions/cycle"),
        Unit("load/store unit", float(counts[p.LSU_BUSY]) / cycles, 1.0, "wavefronts/cycle"),
        *(
            Unit(f"L2 {way}s", float(counts[moved]) * SECTOR / cycles, float(out.settings[rate]), "bytes/cycle")
            for way, moved, rate in (("read", p.L2_READS, p.L2_READ), ("write", p.L2_SENT, p.L2_WRITE))
        ),
        Unit("DRAM", moved * SECTOR / max(seconds, 1e-12) / 1e9, moved / max(best, 1e-12) * per_cycle, "GB/s"),
    ]
    starts = trace.launch.blocks / max(out.cycles, 1.0)
    found.append(Unit("block starts", starts, machine.speeds.block_rate, "blocks/cycle"))
    for pipe, taken in busy.items():
        if taken and pipe not in ("none", "lsu"):
            found.append(Unit(f"{pipe} pipe", float(taken) / parts / cycles, 1.0, "busy"))
    return tuple(sorted((u for u in found if u.achieved > 0), key=lambda u: (-u.percent, u.name)))


def limit_of(
    program: Program, trace: Trace, machine: Machine, units: tuple[Unit, ...], stalls: Mapping[str, float],
    at: Mapping[int, Mapping[str, float]], out: Outcome, time_us: float,
) -> str:  # fmt: skip
    if time_us < 2 * machine.speeds.launch_microseconds:
        return f"the launch itself: {machine.speeds.launch_microseconds:.1f} of {time_us:.1f} µs"
    idle = machine.multiprocessors - trace.launch.blocks
    few = f"{trace.launch.blocks} blocks leave {idle} of {machine.multiprocessors} multiprocessors idle; in the others "
    where = few.replace("1 blocks leave", "1 block leaves") if idle > 0 else ""
    return where + _limit_inside(program, trace, units, stalls, at, out)


def _limit_inside(
    program: Program, trace: Trace, units: tuple[Unit, ...], stalls: Mapping[str, float],
    at: Mapping[int, Mapping[str, float]], out: Outcome,
) -> str:  # fmt: skip
    """Of the multiprocessors that work."""
    top = units[0] if units else None
    if top and top.name == "block starts" and top.percent >= BUSY:
        return (
            f"the start of blocks: {trace.launch.blocks:,} of them, and the GPU starts {top.peak:.2g} a cycle; "
            "larger blocks, or more work for each thread, need fewer"
        )
    if top and top.percent >= BUSY:
        needless = _conflicts(program, trace) if top.name == "load/store unit" else ""
        return f"{top.name}: {top.achieved:,.4g} of {top.peak:,.4g} {top.unit}{needless}"
    waits = {name: value for name, value in stalls.items() if name not in ("selected", "not_selected")}
    worst = max(waits, key=lambda name: waits[name])
    if worst == "long_scoreboard":
        return _latency(program, out, at)
    says = {
        "wait": "the latency of arithmetic: each instruction waits for the one before, and too few warps fill the gaps",
        "short_scoreboard": "the latency of shared memory, shuffles or special functions",
        "barrier": "barriers: warps wait for the slowest of their block",
        "math_pipe_throttle": "an arithmetic pipe that is asked for more than it can do",
        "lg_throttle": "the queue for global memory accesses: too many instructions for the bytes that they move",
        "mio_throttle": "the queue for shared memory and shuffles",
        "branch_resolving": "branches",
        "no_instruction": "the code itself: it is executed for the first time",
        "membar": "memory fences",
        "drain": "stores that are still on their way to L2 when their warps end",
        "dispatch_stall": "the banks of registers: instructions that read several registers of one",
    }
    share = 100 * waits[worst] / max(sum(stalls.values()), 1e-9)
    if worst in ("mio_throttle", "lg_throttle") and out.counts[p.L2_UPDATES] and not trace.wavefronts.any():
        return (
            "atomic operations: L2 does those on one word one after the other, and the queues before it are full "
            f"({share:.0f} % of the warps' time)"
        )
    needless = _conflicts(program, trace) if worst in ("mio_throttle", "short_scoreboard", "barrier") else ""
    return f"{says[worst]} ({share:.0f} % of the warps' time){needless}"


def _conflicts(program: Program, trace: Trace) -> str:
    """How much of what shared memory does is conflicts of its banks, where that is much."""
    counts = Counts(program, trace, [0] * len(program.instructions))
    needless, all_of_them = (float(quantity.of(counts)[0]) for quantity in (conflicts(ALL), WAVEFRONTS[SHARED]))
    if needless < MANY_CONFLICTS * all_of_them or not needless:
        return ""
    return f"; {100 * needless / all_of_them:.0f} % of the wavefronts of shared memory are bank conflicts"


def _latency(program: Program, out: Outcome, at: Mapping[int, Mapping[str, float]]) -> str:
    """Long scoreboard: what is in flight, and where it comes from."""
    waiter = max(at, key=lambda i: at[i].get("long_scoreboard", 0.0))
    mask = program.instructions[waiter].control.wait_mask
    loads: list[Access] = []
    for instruction in program.instructions[:waiter][::-1]:
        control, found = instruction.control, access(instruction)
        if control.wait_mask & mask and instruction.index != waiter and loads:
            break
        waited = control.write_barrier is not None and mask >> control.write_barrier & 1
        if found and waited and found.space in ("global", "local", "generic"):  # constants may share the barrier
            loads.append(found)
    reads, hits = out.counts[p.L2_READS], out.counts[p.L2_MISSES]
    place = "DRAM" if reads and hits / reads > 0.5 else "L2" if reads else "L1"
    if not loads:
        return f"the latency of {place}: warps wait for what they have asked for, not for bandwidth"
    size = sum(a.bits for a in loads) // 8
    what = f"one {size}-byte load" if len(loads) == 1 else f"{len(loads)} loads of {size} bytes together"
    return f"each thread has {what} in flight: the latency of {place}, not its bandwidth"

"""Bottleneck analysis: finds what the time of a launch is made of, from the figures in the tables.

A busy unit is named by its share of its peak, a wait by the stall reason with the largest share, and what the warps
wait for by the executed instructions: those that set the scoreboard, or that fill the queue.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from warplens.core.counts import Trace
from warplens.core.program import Instruction, Program
from warplens.counters.metrics.shared_memory import conflicts
from warplens.counters.opcodes import access, category
from warplens.counters.vocabulary import ALL, SHARED, WAVEFRONTS, Counts
from warplens.machine.parameter import assumed
from warplens.model.grid.inter_block_sync import InterBlockSync
from warplens.model.instruction.instruction_table import kind_of
from warplens.model.layout import Kind
from warplens.model.result.bottleneck import (
    AtomicBacklog,
    BankConflicts,
    BlockChain,
    BlockLaunchRate,
    Bottleneck,
    BusyUnit,
    Cause,
    FullQueue,
    GlobalWait,
    InFlightAtExit,
    LaunchOverhead,
    MemoryLatency,
    StallWait,
    VariableLatency,
)
from warplens.model.result.outcome import SimulationOutcome
from warplens.model.result.prediction import Unit
from warplens.model.result.request import PredictionRequest

MANY_CONFLICTS = assumed(1 / 3, "share", "the limit names bank conflicts from there on")
BUSY = assumed(80.0, "percent", "a unit that is as busy is the limit")
LINE = 128  # defined: bytes of a warp access of 4 bytes a lane; a smaller access is limited by its instruction
# Category of the instruction mix -> resource with a variable latency that its instructions use
RESOURCES = {
    "shared memory": "shared memory", "across lanes": "shuffles", "constant memory": "constant memory",
    "special function": "special functions", "conversion": "conversions", "move and select": "special registers",
    "uniform": "special registers", "double precision": "double-precision arithmetic", "tensor": "matrix products",
    "main memory": "accesses to global memory",
}  # fmt: skip
GLOBAL = ("global", "local", "generic")


class StallTables(NamedTuple):
    """Warp cycles by stall reason, per issued instruction, and by instruction index."""

    all: Mapping[str, float]
    at: Mapping[int, Mapping[str, float]]

    @property
    def worst(self) -> str:
        """The largest reason to wait."""
        waits = {name: value for name, value in self.all.items() if name not in ("selected", "not_selected")}
        return max(waits, key=lambda name: waits[name])

    @property
    def worst_percent(self) -> float:
        """Its share of the warps' time."""
        return 100 * self.all[self.worst] / max(sum(self.all.values()), 1e-9)


def bottleneck_of(
    request: PredictionRequest, sync: InterBlockSync, units: tuple[Unit, ...], stalls: StallTables,
    out: SimulationOutcome, time_us: float,
) -> Bottleneck:  # fmt: skip
    machine, blocks = request.machine, request.trace.launch.blocks
    if 2 * sync.chain_cycles > out.cycles:
        return Bottleneck(BlockChain(100 * min(sync.chain_cycles / out.cycles, 1.0)))
    if time_us < 2 * machine.speeds.launch_microseconds:
        return Bottleneck(LaunchOverhead(machine.speeds.launch_microseconds, time_us))
    active = out.activity.cycles * machine.multiprocessors / min(machine.multiprocessors, blocks)
    if 2 * active < out.cycles and _global_actions(request.program, request.trace) & {"atomic", "reduction"}:
        return Bottleneck(AtomicBacklog(100 * (1 - active / out.cycles)))
    cause = _cause_in_sm(request.program, request.trace, units, stalls, out)
    return Bottleneck(cause, blocks, max(machine.multiprocessors - blocks, 0), machine.multiprocessors)


def _cause_in_sm(
    program: Program, trace: Trace, units: tuple[Unit, ...], stalls: StallTables, out: SimulationOutcome
) -> Cause:
    """Cause in the SMs that have work."""
    top = units[0] if units else None
    if top and top.name == "block starts" and top.percent >= BUSY:
        return BlockLaunchRate(trace.launch.blocks, top.peak)
    if top and top.percent >= BUSY:
        added = _bank_conflicts(program, trace) if top.name == "load/store unit" else None
        return BusyUnit(top.name, top.achieved, top.peak, top.unit, added)
    worst, percent = stalls.worst, stalls.worst_percent
    if worst == "long_scoreboard":
        return _long_scoreboard(program, trace, out, stalls)
    if worst == "drain":
        actions = _global_actions(program, trace)
        return InFlightAtExit("store" in actions, bool(actions & {"atomic", "reduction"}), percent)
    if worst in ("lg_throttle", "mio_throttle"):
        entries = _queue_entries(program, trace)
        added = _bank_conflicts(program, trace) if entries == "shared memory" else None
        return FullQueue(entries, _is_narrow(program, trace, entries), percent, added)
    if worst == "short_scoreboard":
        producers = _producers(program, trace, stalls, worst)
        names = tuple(dict.fromkeys(RESOURCES[kind] for i in producers if (kind := category(i)) in RESOURCES))
        return VariableLatency(names, percent, _bank_conflicts(program, trace) if "shared memory" in names else None)
    return StallWait(worst, percent, _bank_conflicts(program, trace) if worst == "barrier" else None)


def _bank_conflicts(program: Program, trace: Trace) -> BankConflicts | None:
    """None where they are a small share of the wavefronts."""
    counts = Counts(program, trace, [0] * len(program.instructions))
    added, wavefronts = (float(quantity.of(counts)[0]) for quantity in (conflicts(ALL), WAVEFRONTS[SHARED]))
    return BankConflicts(added, wavefronts) if added and added >= MANY_CONFLICTS * wavefronts else None


def _producers(program: Program, trace: Trace, stalls: StallTables, reason: str) -> list[Instruction]:
    """Producers of the scoreboards that the instruction with most of these stalls waits for: executed instructions
    before it, back to the last one that waits for them as well, and in a loop also those after it."""
    waiter = max(stalls.at, key=lambda i: stalls.at[i].get(reason, 0.0))
    mask = program.instructions[waiter].control.wait_mask
    found: list[Instruction] = []
    for instruction in (*program.instructions[:waiter][::-1], *program.instructions[waiter:][::-1]):
        control = instruction.control
        if control.wait_mask & mask and instruction.index != waiter and found:
            break
        sets = [barrier for barrier in (control.write_barrier, control.read_barrier) if barrier is not None]
        if any(mask >> barrier & 1 for barrier in sets) and trace.executed[instruction.index]:
            found.append(instruction)
    return found


def _long_scoreboard(program: Program, trace: Trace, out: SimulationOutcome, stalls: StallTables) -> Cause:
    """What is in flight, and where it comes from."""
    accesses = [access(i) for i in _producers(program, trace, stalls, "long_scoreboard")]
    in_flight = [found for found in accesses if found and found.space in GLOBAL]  # constants may share the scoreboard
    loads = [found for found in in_flight if found.action == "load"]
    actions = {found.action for found in in_flight}
    if not loads and "atomic" in actions:
        return GlobalWait("atomic")
    if not loads and "reduction" in actions:
        return GlobalWait("reduction")
    if not loads and "store" in actions:
        return GlobalWait("store")
    reads, misses = out.counts.l2_reads, out.counts.l2_misses
    level = "DRAM" if reads and misses / reads > 0.5 else "L2" if reads else "L1"
    return MemoryLatency(level, len(loads), sum(found.bits for found in loads) // 8)


def _queue_entries(program: Program, trace: Trace) -> str:
    """Main use of the load/store unit's time."""
    filled: Counter[str] = Counter()
    for instruction in program.instructions:
        i, found = instruction.index, access(instruction)
        if found and found.space in GLOBAL and found.action in ("atomic", "reduction"):
            filled["atomics"] += int(trace.threads_on[i])
        elif found and found.space in (*GLOBAL, "shared"):
            filled["shared memory"] += int(trace.wavefronts[i])
            if found.space in GLOBAL:
                kind = "stores" if found.action == "store" else "loads"
                filled[kind] += max(int(trace.sectors[i]) * 32 // LINE, int(trace.requests[i]))
        elif kind_of(instruction) in (Kind.SHUFFLE, Kind.CONSTANT_LOAD, Kind.SPECIAL_REGISTER):
            filled[RESOURCES.get(category(instruction), "shuffles")] += int(trace.executed[i])
    return filled.most_common(1)[0][0] if filled.total() else "shared memory"


def _is_narrow(program: Program, trace: Trace, entries: str) -> bool:
    """Whether the loads, or stores, move few bytes per instruction."""
    if entries not in ("loads", "stores"):
        return False
    chosen = [i.index for i in program.instructions if (found := access(i)) and found.space in GLOBAL
              and (found.action == "store") == (entries == "stores")]  # fmt: skip
    moved, requests = (int(counts[chosen].sum()) for counts in (trace.bytes, trace.requests))
    return moved < LINE * requests


def _global_actions(program: Program, trace: Trace) -> set[str]:
    """What the launch does to global memory."""
    return {found.action for i in program.instructions
            if trace.requests[i.index] and (found := access(i)) and found.space in GLOBAL}  # fmt: skip

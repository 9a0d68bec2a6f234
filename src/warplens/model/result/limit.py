"""Limit of a launch: one line on what its time is made of, from the figures in the tables.

A busy unit is named by its share of its peak, a wait by the stall reason with the largest share, and what the warps
wait for by the executed instructions: those that set the scoreboard, or that fill the queue.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from warplens.core.counts import Trace
from warplens.core.program import Instruction, Program
from warplens.counters.opcodes import access, category
from warplens.counters.sections.shared_memory import conflicts
from warplens.counters.vocabulary import ALL, SHARED, WAVEFRONTS, Counts
from warplens.machine import Machine
from warplens.machine.parameter import assumed
from warplens.model import layout as p
from warplens.model.instruction.instruction_table import kind_of
from warplens.model.result.outcome import SimulationOutcome
from warplens.model.result.prediction import Unit

MANY_CONFLICTS = assumed(1 / 3, "share", "the limit names bank conflicts from there on")
BUSY = assumed(80.0, "percent", "a unit that is as busy is the limit")
LINE = 128  # defined: bytes of a warp access of 4 bytes a lane; a smaller access is limited by its instruction
At = Mapping[int, Mapping[str, float]]

WAITS = {
    "wait": "the latency of arithmetic: each instruction waits for the one before, and too few warps fill the gaps",
    "barrier": "barriers: warps wait for the slowest of their block",
    "math_pipe_throttle": "an arithmetic pipe that is asked for more than it can do",
    "branch_resolving": "branches",
    "no_instruction": "the code itself: it is executed for the first time",
    "membar": "memory fences",
    "dispatch_stall": "the banks of registers: instructions that read several registers of one",
}
SHORT = {
    "shared memory": "shared memory", "across lanes": "shuffles", "constant memory": "constant memory",
    "special function": "special functions", "conversion": "conversions", "move and select": "special registers",
    "uniform": "special registers", "double precision": "double-precision arithmetic", "tensor": "matrix products",
    "main memory": "accesses to global memory",
}  # fmt: skip
ATOMICS = "atomic operations: L2 does those on one word one after the other"
GLOBAL = ("global", "local", "generic")


def limit_of(
    program: Program, trace: Trace, machine: Machine, units: tuple[Unit, ...], stalls: Mapping[str, float],
    at: At, out: SimulationOutcome, time_us: float,
) -> str:  # fmt: skip
    if time_us < 2 * machine.speeds.launch_microseconds:
        return f"launch overhead: {machine.speeds.launch_microseconds:.1f} of {time_us:.1f} µs"
    idle = machine.multiprocessors - trace.launch.blocks
    few = f"{trace.launch.blocks} blocks leave {idle} of {machine.multiprocessors} SMs idle; in the others "
    where = few.replace("1 blocks leave", "1 block leaves") if idle > 0 else ""
    return where + _limit_inside(program, trace, units, stalls, at, out)


def _limit_inside(
    program: Program, trace: Trace, units: tuple[Unit, ...], stalls: Mapping[str, float], at: At, out: SimulationOutcome
) -> str:
    """Limit of the SMs that have work."""
    top = units[0] if units else None
    if top and top.name == "block starts" and top.percent >= BUSY:
        return (
            f"block launch rate: {trace.launch.blocks:,} blocks at {top.peak:.2g} blocks/cycle; "
            "use larger blocks or more work per thread"
        )
    if top and top.percent >= BUSY:
        needless = _conflicts(program, trace) if top.name == "load/store unit" else ""
        return f"{top.name}: {top.achieved:,.4g} of {top.peak:,.4g} {top.unit}{needless}"
    waits = {name: value for name, value in stalls.items() if name not in ("selected", "not_selected")}
    worst = max(waits, key=lambda name: waits[name])
    if worst == "long_scoreboard":
        return _long(program, trace, out, at)
    of_time = f" ({100 * waits[worst] / max(sum(stalls.values()), 1e-9):.0f} % of the warps' time)"
    if worst == "drain":
        return f"{_leaving(program, trace)} on their way to L2 when their warps end{of_time}"
    if worst in ("lg_throttle", "mio_throttle"):
        says, shared = _queued(program, trace)
    elif worst == "short_scoreboard":
        says, shared = _short(program, trace, at)
    else:
        says, shared = WAITS[worst], worst == "barrier"
    return says + of_time + (_conflicts(program, trace) if shared else "")


def _conflicts(program: Program, trace: Trace) -> str:
    """Bank conflicts' share of shared-memory wavefronts, "" where it is small."""
    counts = Counts(program, trace, [0] * len(program.instructions))
    needless, all_of_them = (float(quantity.of(counts)[0]) for quantity in (conflicts(ALL), WAVEFRONTS[SHARED]))
    if needless < MANY_CONFLICTS * all_of_them or not needless:
        return ""
    return f"; {100 * needless / all_of_them:.0f} % of the wavefronts of shared memory are bank conflicts"


def _waited_for(program: Program, trace: Trace, at: At, reason: str) -> list[Instruction]:
    """Producers of the scoreboards that the instruction with most of these stalls waits for: executed instructions
    before it, back to the last one that waits for them as well, and in a loop also those after it."""
    waiter = max(at, key=lambda i: at[i].get(reason, 0.0))
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


def _long(program: Program, trace: Trace, out: SimulationOutcome, at: At) -> str:
    """Long scoreboard: what is in flight, and where it comes from."""
    producers = [(access(i), i) for i in _waited_for(program, trace, at, "long_scoreboard")]
    asked = [found for found, i in producers if found and found.space in GLOBAL]  # constants may share the scoreboard
    loads = [found for found in asked if found.action == "load"]
    actions = {found.action for found in asked}
    if not loads and "atomic" in actions:
        return "the latency of atomic operations: warps wait for the old values that L2 gives back"
    if not loads and "reduction" in actions:
        return f"{ATOMICS}, and those behind them wait"
    if not loads and "store" in actions:
        return "stores to global memory: warps wait until what they store has been taken"
    reads, misses = out.counts.l2_reads, out.counts.l2_misses
    place = "DRAM" if reads and misses / reads > 0.5 else "L2" if reads else "L1"
    if not loads:
        return f"the latency of {place}: warps wait for what they have asked for, not for bandwidth"
    size = sum(found.bits for found in loads) // 8
    what = f"one {size}-byte load" if len(loads) == 1 else f"{len(loads)} loads of {size} bytes together"
    return f"each thread has {what} in flight: the latency of {place}, not its bandwidth"


def _short(program: Program, trace: Trace, at: At) -> tuple[str, bool]:
    """(text, whether it is about shared memory)."""
    producers = _waited_for(program, trace, at, "short_scoreboard")
    names = list(dict.fromkeys(SHORT[kind] for i in producers if (kind := category(i)) in SHORT))
    told = " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
    return f"the latency of {told or 'instructions of variable latency'}", "shared memory" in names


def _queued(program: Program, trace: Trace) -> tuple[str, bool]:
    """Main use of the load/store unit's time: (text, whether it is about shared memory)."""
    filled: Counter[str] = Counter()
    for instruction in program.instructions:
        i, found = instruction.index, access(instruction)
        executed = int(trace.executed[i])
        if found and found.space in GLOBAL and found.action in ("atomic", "reduction"):
            filled["atomics"] += int(trace.threads_on[i])
        elif found and found.space in (*GLOBAL, "shared"):
            filled["shared memory"] += int(trace.wavefronts[i])
            if found.space in GLOBAL:
                kind = "stores" if found.action == "store" else "loads"
                filled[kind] += max(int(trace.sectors[i]) * 32 // LINE, int(trace.requests[i]))
        elif kind_of(instruction) in (p.EXCHANGE, p.TABLE, p.TELL):
            filled[SHORT.get(category(instruction), "shuffles")] += executed
    most = filled.most_common(1)[0][0] if filled.total() else "shared memory"
    if most == "atomics":
        return f"{ATOMICS}, and the queues before it are full", False
    if most in ("loads", "stores"):
        return f"the queue for global memory accesses, full of {most}{_narrow(program, trace, most)}", False
    return f"the queue for {most}", most == "shared memory"


def _narrow(program: Program, trace: Trace, most: str) -> str:
    """Text if the loads, or stores, move few bytes per instruction, else ""."""
    chosen = [i.index for i in program.instructions if (found := access(i)) and found.space in GLOBAL
              and (found.action == "store") == (most == "stores")]  # fmt: skip
    moved, requests = (int(counts[chosen].sum()) for counts in (trace.bytes, trace.requests))
    return ": too many instructions for the bytes that they move" if moved < LINE * requests else ""


def _leaving(program: Program, trace: Trace) -> str:
    """Accesses that are still in flight when warps end."""
    actions = {found.action for i in program.instructions
               if trace.requests[i.index] and (found := access(i)) and found.space in GLOBAL}  # fmt: skip
    words = ["stores"] * ("store" in actions) + ["atomic operations"] * bool(actions & {"atomic", "reduction"})
    return " and ".join(words) + " that are still"

"""Hazard report: the findings of generated code in words, by pair of source lines."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from operator import itemgetter

from warplens.core.hazard import Check, Hazard, Party, Severity
from warplens.core.launch import Dim3, Launch
from warplens.core.memory_opcodes import MEMORY, Action
from warplens.core.program import Instruction, Program
from warplens.emulator.instrument.asynchronous_text import ASYNCHRONOUS, action_of, format_asynchronous
from warplens.emulator.instrument.findings import NO_PARTY, TABLE_ENTRIES, FindingKind, FindingRecord, FindingTable
from warplens.emulator.memory.device_memory import DeviceMemory

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
ACTIONS: dict[Action, str] = {
    "load": "read", "store": "write", "copy": "write", "atomic": "atomic", "reduction": "atomic",
}  # fmt: skip
OLD_VALUE = "in no order: right only if an older value does no harm"


def hazards(
    tables: Iterable[FindingTable], program: Program, launch: Launch, memory: DeviceMemory, checks: Collection[str]
) -> tuple[Hazard, ...]:
    """Hazards of all workers that these checks look for, by source line (by instruction where lines are not known).

    Of several occurrences the worst one in the first block is reported.  Two places are one finding, in
    either order.
    """
    tables = list(tables)
    found: dict[tuple[object, ...], list[tuple[tuple[int, ...], Hazard]]] = {}
    for table in tables:
        for entry in table.entries[: table.count]:
            hazard = _hazard(entry, program, launch, memory)
            if hazard is None or hazard.check not in checks:
                continue
            x, y, z = entry.ctaid
            order = SEVERITIES.index(hazard.severity), -entry.rank, x + launch.grid[0] * (y + launch.grid[1] * z)
            found.setdefault((entry.kind, *sorted(map(_place, hazard.parties))), []).append((order, hazard))
    listed = tuple(
        replace(min(same, key=itemgetter(0))[1], times=sum(hazard.times for _, hazard in same))
        for _, same in sorted(found.items(), key=itemgetter(0))
    )
    dropped = sum(table.dropped for table in tables)
    return (*listed, _full(listed[-1].check, dropped)) if dropped and listed else listed


def format_found(found: Sequence[Hazard]) -> str:
    """Errors and warnings found before a kernel hung, a line each."""
    lines = []
    for hazard in found:
        if hazard.severity != "note":
            sources = [f"{p.act} at {p.at.source.file}:{p.at.source.line}" for p in hazard.parties if p.at.source]
            lines.append(f"\n  --check found: {hazard.message} ({', '.join(sources)})")
    return "".join(lines)


def _place(party: Party) -> tuple[str, int, str]:
    source = party.at.source
    return (source.file, source.line, party.act) if source else ("", party.at.offset, party.act)


def _full(check: Check, dropped: int) -> Hazard:
    """The warning about a full table."""
    message = (
        f"the table of {TABLE_ENTRIES} pairs of instructions is full: {dropped:,} occurrences at others are not "
        "listed; mend what is listed and check again"
    )
    return Hazard(check, "warning", message, (), (0, 0, 0), dropped)


def unwatched(size: int) -> Hazard:
    """The note about buffers that are too large for the check."""
    message = f"the last {size:,} bytes of the buffers are not watched for races: the check would need too much memory"
    return Hazard("races", "note", message, (), (0, 0, 0), 1)


def _hazard(entry: FindingRecord, program: Program, launch: Launch, memory: DeviceMemory) -> Hazard | None:
    """The hazard of a record; None if it is harmless."""
    parties = tuple(
        Party(_action(program.instructions[at], entry.kind), _thread(launch, who), program.instructions[at])
        for at, who in ((entry.first, entry.first_thread), (entry.second, entry.second_thread))
        if at != NO_PARTY
    )
    if entry.kind == FindingKind.TWO_PLACES and _one_line(parties):
        return None  # the compiler has made two of one barrier
    if entry.kind in (FindingKind.RACE, FindingKind.GLOBAL_RACE) and _within_atomics(parties):
        return None
    check, severity, message = _described(entry, parties, program, launch, memory)
    x, y, z = entry.ctaid
    return Hazard(check, severity, message, parties, (x, y, z), entry.times)


def _described(
    entry: FindingRecord, parties: tuple[Party, ...], program: Program, launch: Launch, memory: DeviceMemory
) -> tuple[Check, Severity, str]:
    kind = FindingKind(entry.kind)
    if kind in ASYNCHRONOUS:
        return format_asynchronous(entry, parties)
    byte = f"byte {entry.value:#x}"
    if kind is FindingKind.RACE:
        return _race(entry, parties, program)
    if kind is FindingKind.GLOBAL_RACE:
        return _global_race(entry, parties, program, launch, memory)
    if kind is FindingKind.COPY_PENDING:
        what = f"{parties[1].act} of {byte} of shared memory to which an asynchronous copy is under way"
        return "races", "error", f"{what}: no cp.async.wait_group or wait_all of the copying thread comes before"
    if kind is FindingKind.SHARED_UNWRITTEN:
        return "init", "warning", f"uninitialized shared-memory read ({byte})"
    if kind is FindingKind.LOCAL_UNWRITTEN:
        return "init", "warning", f"uninitialized local-memory read ({byte} of the thread's frame)"
    if kind is FindingKind.PART_OF_A_WARP:
        return "barriers", "error", f"only {entry.value} of the threads of a warp that still run are at the barrier"
    if kind is FindingKind.TWO_PLACES:
        return "barriers", "error", "threads of a block wait for each other at barriers in different places"
    total = launch.threads_per_block
    return "barriers", "note", f"the barrier opens for {entry.value} of {total} threads: the others have ended"


def _race(entry: FindingRecord, parties: tuple[Party, ...], program: Program) -> tuple[Check, Severity, str]:
    one_warp = entry.first_thread // 32 == entry.second_thread // 32
    at_once = one_warp and entry.first == entry.second
    first, second = (party.act for party in parties)
    where = f"byte {entry.value:#x} of shared memory"
    if any(party.at.base == "SYNCS" for party in parties):
        where = f"the mbarrier at {where}"
    what = f"{first} and {second} of {where} by two threads"
    if severity := _of_old_value(parties, program):
        of = "a warp" if one_warp else "a block"
        return "races", severity, f"{what} of {of} {OLD_VALUE}"
    if at_once:
        return "races", "error", f"{what} of a warp in one instruction"
    if one_warp:
        return "races", "warning", f"{what} of a warp, with no __syncwarp() between"
    return "races", "error", f"{what}, with no barrier between"


def _global_race(
    entry: FindingRecord, parties: tuple[Party, ...], program: Program, launch: Launch, memory: DeviceMemory
) -> tuple[Check, Severity, str]:
    x, y, z = entry.ctaid
    columns, rows, _ = launch.grid
    other = entry.first_block
    blocks = (other % columns, other // columns % rows, other // (columns * rows)), (x, y, z)
    first, second = (party.act for party in parties)
    what = f"{first} and {second} of {_byte(entry.value, memory)}"
    if blocks[0] != blocks[1]:
        who = "threads of blocks {} and {}".format(*("({},{},{})".format(*block) for block in blocks))
    else:
        one_warp = entry.first_thread // 32 == entry.second_thread // 32
        who = "two threads of a warp" if one_warp else "two threads of a block"
    if entry.rank == 0:
        return "races", "note", f"{what} by {who} in no order, with the same value"
    if severity := _of_old_value(parties, program):
        return "races", severity, f"{what} by {who} {OLD_VALUE}"
    if entry.rank == 1:
        return "races", "warning", f"{what} by {who}, with no __syncwarp() between"
    if entry.rank == 2:
        return "races", "error", f"{what} by {who} in one instruction"
    if blocks[0] == blocks[1]:
        return "races", "error", f"{what} by {who}, with no barrier between"
    needs = "__threadfence() and an atomic or volatile flag, or grid.sync()"
    return "races", "error", f"{what} by {who}, in no order (that takes {needs})"


def _within_atomics(parties: tuple[Party, ...]) -> bool:
    """Strong accesses do not race.  Nor does the plain read with which the compiler begins the loop of an atomic that
    the memory does not have, such as atomicAdd(float *) in shared memory: a value that is too old means one turn more.
    """
    loop = {party.act for party in parties} == {"read", "atomic"} and any("CAST" in p.at.modifiers for p in parties)
    return all(p.act == "atomic" or "STRONG" in p.at.modifiers for p in parties) or (loop and _one_line(parties))


def _of_old_value(parties: tuple[Party, ...], program: Program) -> Severity | None:
    """The severity of a plain read of what an atomic changes.

    Loops with atomicCAS() begin with one, and so do those that the compiler makes of atomics of 16 bits: then the read
    and a compare-and-swap have one source line.
    """
    if {party.act for party in parties} != {"read", "atomic"}:
        return None
    lines = {party.at.source for party in parties if party.act == "read"} - {None}
    swaps = (i for i in program.instructions if not {"CAS", "CAST"}.isdisjoint(i.modifiers))
    loop = any(swap.source in lines for swap in swaps)
    return "note" if loop or any("CAS" in party.at.modifiers for party in parties) else "warning"


def _byte(address: int, memory: DeviceMemory) -> str:
    """ "byte 0x10 of argument 2"."""
    for allocation in memory.allocations:
        if 0 <= address - allocation.address < allocation.size:
            return f"byte {address - allocation.address:#x} of {allocation.name}"
    return f"the byte at {address:#x}"


def _one_line(parties: tuple[Party, ...]) -> bool:
    first, second = (party.at.source for party in parties)
    return first is not None and first == second


def _action(instruction: Instruction, kind: int) -> str:
    if instruction.base == "BAR":
        return "wait"
    if asynchronous := action_of(instruction, kind != FindingKind.GLOBAL_RACE):
        return asynchronous
    found = MEMORY.get(instruction.base)
    return "read" if found is None else ACTIONS[found.action]


def _thread(launch: Launch, number: int) -> Dim3:
    x, y, _ = launch.block
    return number % x, number // x % y, number // (x * y)

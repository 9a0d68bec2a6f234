"""Sanitizer findings: the table in which generated code records them, and their conversion to hazards."""

from __future__ import annotations

import ctypes as c
from collections.abc import Iterable
from dataclasses import replace
from enum import IntEnum
from operator import itemgetter
from typing import NamedTuple

from warplens import llvm
from warplens.core.hazard import Check, Hazard, Party, Severity
from warplens.core.launch import Dim3, Launch
from warplens.core.memory_opcodes import MEMORY, Action
from warplens.core.program import Instruction, Program
from warplens.emulator.codegen.structured_builder import StructuredBuilder, function, i32, i64
from warplens.emulator.codegen.vector_types import I32, I64, PTR
from warplens.emulator.memory.device_memory import DeviceMemory
from warplens.emulator.state.structs import BlockState, WorkerEnv

TABLE_ENTRIES = 512
"""Pairs of instructions that a worker keeps; a note counts the occurrences of others."""

NO_PARTY = -1
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
ACTIONS: dict[Action, str] = {
    "load": "read", "store": "write", "copy": "write", "atomic": "atomic", "reduction": "atomic",
}  # fmt: skip
OLD_VALUE = "in no order: right only if an older value does no harm"


class FindingKind(IntEnum):
    RACE = 1  # in shared memory; rank 1 between warps, 0 within one
    SHARED_UNWRITTEN = 2
    LOCAL_UNWRITTEN = 3
    PART_OF_A_WARP = 4  # arrives at a block barrier
    TWO_PLACES = 5  # threads of a block are at one barrier, but in different instructions
    OTHERS_HAVE_LEFT = 6  # a barrier opens for those that are still there
    GLOBAL_RACE = 7  # rank 4 between blocks, 3 between warps, 2 in one instruction of a warp, 1 within
    # a warp, 0 the same value is stored
    COPY_PENDING = 8  # shared memory to which an asynchronous copy is under way


class FindingRecord(c.Structure):
    """`first` and `second` are instructions, threads are numbers in the block; `value`: offset, address or threads.

    The threads, value and block are those of the first occurrence of the highest `rank`.
    """

    _fields_ = [
        ("kind", c.c_int32),
        ("first", c.c_int32),
        ("second", c.c_int32),
        ("first_thread", c.c_int32),
        ("second_thread", c.c_int32),
        ("first_block", c.c_int32),  # of a race in global memory: the number of the first thread's block
        ("value", c.c_int64),
        ("ctaid", c.c_int32 * 3),
        ("rank", c.c_int32),  # of a race: greater is worse
        ("times", c.c_int64),
    ]


class FindingTable(c.Structure):
    _fields_ = [("count", c.c_int64), ("dropped", c.c_int64), ("entries", FindingRecord * TABLE_ENTRIES)]


def note(module: llvm.IRModule) -> llvm.Function:
    """note(env, block, kind, first, second, first_thread, second_thread, value, rank, first_block): records one more
    of its kind at these places."""
    if found := module.globals.get("note_finding"):
        return found
    made, code = function(module, "note_finding", llvm.VoidType(), [PTR, PTR, *[I32] * 5, I64, I32, I32])
    env, block, *values = made.args
    rank = values[6]
    b = code.b
    table = code.load(WorkerEnv, env, "findings")
    count = b.trunc(code.load(FindingTable, table, "count"), I32)

    def fill(entry: llvm.Value) -> None:
        names = ("kind", "first", "second", "first_thread", "second_thread", "value", "rank", "first_block")
        for name, value in zip(names, values, strict=True):
            code.store(value, FindingRecord, entry, name)
        for axis in range(3):
            code.store(code.load(BlockState, block, "ctaid", axis), FindingRecord, entry, "ctaid", axis)

    def same(i: llvm.Value) -> None:
        entry = _entry(code, table, i)
        alike = [
            b.icmp_signed("==", code.load(FindingRecord, entry, name), value)
            for name, value in zip(("kind", "first", "second"), values, strict=False)
        ]
        with code.when(b.and_(b.and_(alike[0], alike[1]), alike[2])):
            code.bump(code.field(FindingRecord, entry, "times"))
            with code.when(b.icmp_signed(">", rank, code.load(FindingRecord, entry, "rank")), likely=False):
                fill(entry)
            b.ret_void()

    code.each(count, same)
    with b.if_else(b.icmp_signed("<", count, i32(TABLE_ENTRIES))) as (has_space, full):
        with has_space:
            entry = _entry(code, table, count)
            fill(entry)
            code.store(1, FindingRecord, entry, "times")
            code.bump(code.field(FindingTable, table, "count"))
        with full:
            code.bump(code.field(FindingTable, table, "dropped"))
    b.ret_void()
    return made


class EmittedFinding(NamedTuple):
    """The fields of a FindingRecord as values of generated code."""

    kind: llvm.Value
    first: llvm.Value
    second: llvm.Value
    first_thread: llvm.Value
    second_thread: llvm.Value
    value: llvm.Value
    rank: llvm.Value | None = None
    first_block: llvm.Value | None = None

    @classmethod
    def of_one(cls, kind: FindingKind, at: llvm.Value, thread: llvm.Value, value: llvm.Value) -> EmittedFinding:
        """A finding with one party."""
        return cls(i32(kind), i32(NO_PARTY), at, i32(NO_PARTY), thread, value)


def emit_finding(code: StructuredBuilder, env: llvm.Value, block: llvm.Value, found: EmittedFinding) -> None:
    """Emits the call that records a finding."""
    wide = found.value if found.value.type == I64 else code.b.zext(found.value, I64)
    more = [i32(0) if given is None else given for given in (found.rank, found.first_block)]
    code.b.call(note(code.module), [env, block, *found[:5], wide, *more])


def _entry(code: StructuredBuilder, table: llvm.Value, number: llvm.Value) -> llvm.Value:
    step = code.b.mul(code.widened(number), i64(c.sizeof(FindingRecord)))
    return code.at(code.field(FindingTable, table, "entries"), step)


def hazards(
    tables: Iterable[FindingTable], program: Program, launch: Launch, memory: DeviceMemory
) -> tuple[Hazard, ...]:
    """Hazards of all workers, by source line (by instruction where lines are not known).

    Of several occurrences the worst one in the first block is reported.  Two places are one finding, in
    either order.
    """
    tables = list(tables)
    found: dict[tuple[object, ...], list[tuple[tuple[int, ...], Hazard]]] = {}
    for table in tables:
        for entry in table.entries[: table.count]:
            if (hazard := _hazard(entry, program, launch, memory)) is None:
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
        Party(_action(program.instructions[at]), _thread(launch, who), program.instructions[at])
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


def _action(instruction: Instruction) -> str:
    if instruction.base == "BAR":
        return "wait"
    found = MEMORY.get(instruction.base)
    return "read" if found is None else ACTIONS[found.action]


def _thread(launch: Launch, number: int) -> Dim3:
    x, y, _ = launch.block
    return number % x, number // x % y, number // (x * y)

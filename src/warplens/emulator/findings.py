"""The table in which generated code notes what the checks find, and what it says in words."""

from __future__ import annotations

import ctypes as c
from collections.abc import Iterable
from dataclasses import replace
from enum import IntEnum

from warplens.emulator import ir
from warplens.emulator.code import Code, function, i32, i64
from warplens.emulator.layout import Block, Env
from warplens.emulator.vectors import I32, PTR
from warplens.hazard import Check, Hazard, Party, Severity
from warplens.launch import Dim3, Launch
from warplens.program import Instruction, Program

ROOM = 512
"""Different findings that a worker keeps; what a launch with more of them does is told by these."""

NOBODY = -1


class Kind(IntEnum):
    RACE = 1
    SHARED_UNWRITTEN = 2
    LOCAL_UNWRITTEN = 3
    PART_OF_A_WARP = 4  # arrives at a block barrier
    TWO_PLACES = 5  # threads of a block are at one barrier, but in different instructions
    OTHERS_HAVE_LEFT = 6  # a barrier opens for those that are still there


class Entry(c.Structure):
    """`first` and `second` are instructions, `who` threads by number in the block; `value`: offset or threads.

    The threads, value and block are those of the first occurrence of the highest `rank`.
    """

    _fields_ = [
        ("kind", c.c_int32),
        ("first", c.c_int32),
        ("second", c.c_int32),
        ("who_first", c.c_int32),
        ("who_second", c.c_int32),
        ("value", c.c_int32),
        ("ctaid", c.c_int32 * 3),
        ("rank", c.c_int32),  # of a race: 1 between warps, 0 within one
        ("times", c.c_int64),
    ]


class Findings(c.Structure):
    _fields_ = [("count", c.c_int32), ("unused", c.c_int32), ("entries", Entry * ROOM)]


def note(module: ir.Module) -> ir.Function:
    """note(env, block, kind, first, second, who_first, who_second, value): one more of its kind at these places."""
    if found := module.globals.get("note_finding"):
        return found
    made, code = function(module, "note_finding", ir.VoidType(), [PTR, PTR, *[I32] * 6])
    env, block, *values = made.args
    b = code.b
    table = code.load(Env, env, "findings")
    count = code.load(Findings, table, "count")
    kind, _, _, *who, _ = values
    warps = [b.lshr(thread, i32(5)) for thread in who]
    apart = b.icmp_signed("!=", *warps)
    rank = b.zext(b.and_(b.icmp_signed("==", kind, i32(Kind.RACE)), apart), I32)

    def fill(entry: ir.Value) -> None:
        names = ("kind", "first", "second", "who_first", "who_second", "value")
        for name, value in zip((*names, "rank"), (*values, rank), strict=True):
            code.store(value, Entry, entry, name)
        for axis in range(3):
            code.store(code.load(Block, block, "ctaid", axis), Entry, entry, "ctaid", axis)

    def same(i: ir.Value) -> None:
        entry = _entry(code, table, i)
        alike = [
            b.icmp_signed("==", code.load(Entry, entry, name), value)
            for name, value in zip(("kind", "first", "second"), values, strict=False)
        ]
        with code.when(b.and_(b.and_(alike[0], alike[1]), alike[2])):
            code.bump(code.field(Entry, entry, "times"))
            with code.when(b.icmp_signed(">", rank, code.load(Entry, entry, "rank")), likely=False):
                fill(entry)
            b.ret_void()

    code.each(count, same)
    with code.when(b.icmp_signed("<", count, i32(ROOM))):
        entry = _entry(code, table, count)
        fill(entry)
        code.store(1, Entry, entry, "times")
        code.store(b.add(count, i32(1)), Findings, table, "count")
    b.ret_void()
    return made


def _entry(code: Code, table: ir.Value, number: ir.Value) -> ir.Value:
    step = code.b.mul(code.widened(number), i64(c.sizeof(Entry)))
    return code.at(code.field(Findings, table, "entries"), step)


def hazards(tables: Iterable[Findings], program: Program, launch: Launch) -> tuple[Hazard, ...]:
    """What all workers found, by place in the code; of several, the worst occurrence in the first block is told.

    Two places are one finding, whichever of the two came first.
    """
    found: dict[tuple[int, int, int], list[Entry]] = {}
    for table in tables:
        for entry in table.entries[: table.count]:
            if entry.kind == Kind.TWO_PLACES and _one_line(program, entry):
                continue  # the compiler has made two of one barrier
            first, second = sorted((entry.first, entry.second))
            found.setdefault((entry.kind, first, second), []).append(entry)

    def order(entry: Entry) -> tuple[int, int]:
        x, y, z = entry.ctaid
        return -entry.rank, x + launch.grid[0] * (y + launch.grid[1] * z)

    return tuple(
        replace(_hazard(min(entries, key=order), program, launch), times=sum(entry.times for entry in entries))
        for _, entries in sorted(found.items())
    )


def _hazard(entry: Entry, program: Program, launch: Launch) -> Hazard:
    parties = tuple(
        Party(_act(program.instructions[at]), _thread(launch, who), program.instructions[at])
        for at, who in ((entry.first, entry.who_first), (entry.second, entry.who_second))
        if at != NOBODY
    )
    check, severity, message = _words(entry, parties, launch)
    x, y, z = entry.ctaid
    return Hazard(check, severity, message, parties, (x, y, z), entry.times)


def _words(entry: Entry, parties: tuple[Party, ...], launch: Launch) -> tuple[Check, Severity, str]:
    kind = Kind(entry.kind)
    byte = f"byte {entry.value:#x}"
    if kind is Kind.RACE:
        return _race(entry, parties)
    if kind is Kind.SHARED_UNWRITTEN:
        return "init", "warning", f"shared memory is read that nobody in the block has written ({byte})"
    if kind is Kind.LOCAL_UNWRITTEN:
        return "init", "warning", f"local memory is read that the thread has not written ({byte} of its frame)"
    if kind is Kind.PART_OF_A_WARP:
        return "barriers", "error", f"only {entry.value} of the threads of a warp that still run are at the barrier"
    if kind is Kind.TWO_PLACES:
        return "barriers", "error", "threads of a block wait for each other at barriers in different places"
    total = launch.threads_per_block
    return "barriers", "note", f"the barrier opens for {entry.value} of {total} threads: the others have ended"


def _race(entry: Entry, parties: tuple[Party, ...]) -> tuple[Check, Severity, str]:
    one_warp = entry.who_first // 32 == entry.who_second // 32
    at_once = one_warp and entry.first == entry.second
    first, second = (party.act for party in parties)
    where = f"byte {entry.value:#x} of shared memory"
    what = f"{first} and {second} of {where} by two threads"
    if at_once:
        return "races", "error", f"{what} of a warp in one instruction"
    if one_warp:
        return "races", "warning", f"{what} of a warp, with no __syncwarp() between"
    return "races", "error", f"{what}, with no barrier between"


def _one_line(program: Program, entry: Entry) -> bool:
    first, second = (program.instructions[at].source for at in (entry.first, entry.second))
    return first is not None and first == second


def _act(instruction: Instruction) -> str:
    base = instruction.base
    if base == "BAR":
        return "wait"
    return "atomic" if base.startswith(("ATOM", "RED")) else "write" if base.startswith(("ST", "LDGSTS")) else "read"


def _thread(launch: Launch, number: int) -> Dim3:
    x, y, _ = launch.block
    return number % x, number // x % y, number // (x * y)

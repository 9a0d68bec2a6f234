"""Sanitizer findings: the table in which generated code records them; hazard_report.py puts them in words."""

from __future__ import annotations

import ctypes as c
from enum import IntEnum
from typing import NamedTuple

from warplens import llvm
from warplens.emulator.codegen.structured_builder import StructuredBuilder, function, i32, i64
from warplens.emulator.codegen.vector_types import I32, I64, PTR
from warplens.emulator.state.structs import BlockState, WorkerEnv

TABLE_ENTRIES = 512
"""Pairs of instructions that a worker keeps; a note counts the occurrences of others."""

NO_PARTY = -1


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
    UNFENCED = 9  # shared memory read through the async proxy, with no proxy fence after an ordinary store
    READ_PENDING = 10  # shared memory that a bulk copy or a warpgroup's product may still read is written
    OTHER_SWIZZLE = 11  # read with another than it was written with; rank 0 if written without
    TWO_INITS = 12  # of an mbarrier
    MBARRIER_STORED = 13  # something else is stored where an mbarrier lies
    NO_MBARRIER = 14  # what is used as one is none
    PART_OF_A_WARPGROUP = 15  # executes products or setmaxnreg
    SWIZZLE_PLACE = 16  # a box does not begin where its swizzle does
    BULK_PENDING = 17  # shared memory to which a bulk copy may still write


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

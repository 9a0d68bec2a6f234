"""Race detector records: clocks of warps and lanes, and the last accesses of every unit of shared memory."""

from __future__ import annotations

import ctypes as c
from collections.abc import Callable
from typing import Literal, NamedTuple

from warplens import llvm
from warplens.emulator.codegen.structured_builder import StructuredBuilder, i64
from warplens.emulator.codegen.vector_types import I32, vector
from warplens.emulator.state.structs import BARRIERS, BlockState, WarpState, WorkerEnv

How = Literal["load", "store", "atomic"]


class Ordering(NamedTuple):
    """How an access is ordered with those of other threads.

    strong    atomic, volatile, or of more than the block's scope: it does not race with others of its kind
    acquires  it may read what other blocks have released
    copies    an asynchronous copy
    """

    strong: bool = False
    acquires: bool = False
    copies: bool = False


PLAIN = Ordering()
VOID = llvm.VoidType()
V32 = vector(I32)
MOST_WARPS = 32
MBARRIERS = BARRIERS  # the row of what was published at mbarriers, after those of the barriers
PUBLISHED = BARRIERS + 2  # rows; the last has what is known of other blocks, by barrier
GROUPS = 16  # of asynchronous copies whose wait times are kept


class GlobalShadow(c.Structure):
    """Shadow memory that the workers of a launch share, for `bytes` of global memory from address `base` on."""

    _fields_ = [
        ("units", c.c_void_p),
        ("events", c.c_void_p),
        ("released", c.c_void_p),  # by block and warp: the clock up to which it has been
        ("base", c.c_uint64),
        ("bytes", c.c_uint64),
        ("event", c.c_uint32),  # the latest
        ("ticks", c.c_uint32),  # the clock of the launch
    ]


class WarpClocks(c.Structure):
    """Vector clocks of a warp: `clocks` by warp, its own included; `seen[lane][other]` by lane in steps of this warp.

    Nothing is cleared between blocks: clocks go on, so that what a block before did is in order.
    """

    _fields_ = [
        ("clocks", c.c_uint32 * MOST_WARPS),
        ("seen", c.c_uint32 * (32 * 32)),
        ("step", c.c_uint32),
        ("known", c.c_uint32),  # what was released until this reading of the launch's clock is known (global races)
        ("committed", c.c_uint32),  # groups of asynchronous copies
        ("completed", c.c_uint32),  # those of them that were waited for
        ("done_clock", c.c_uint32 * GROUPS),  # of the latest completed groups, by number: when they were waited for
        ("done_step", c.c_uint32 * GROUPS),
        ("unused", c.c_uint32 * 28),
    ]


class LastStore(c.Structure):
    """The last store to a unit; `thread` is the number in the block."""

    _fields_ = [
        ("clock", c.c_uint32),
        ("step", c.c_uint32),
        ("at", c.c_int32),
        ("thread", c.c_int32),
        ("value", c.c_uint32),
        ("group", c.c_uint32),  # of an asynchronous copy, counted from 1; 0 for other stores
        ("unused", c.c_uint32 * 2),
    ]


class LastAccesses(c.Structure):
    """The last loads, or atomics, of a unit by one warp: by these lanes, since it last was in step."""

    _fields_ = [("clock", c.c_uint32), ("step", c.c_uint32), ("at", c.c_int32), ("lanes", c.c_uint32)]


LOADS, ATOMICS = 0, c.sizeof(LastAccesses)
CONFLICTS: dict[How, tuple[int, ...]] = {"load": (ATOMICS,), "store": (LOADS, ATOMICS), "atomic": (LOADS,)}


def row_bytes(warps: int) -> int:
    """Bytes of shadow memory of one unit."""
    return c.sizeof(LastStore) + 2 * c.sizeof(LastAccesses) * warps


def each_warp(code: StructuredBuilder, env: llvm.Value, block: llvm.Value, visit: Callable[[llvm.Value], None]) -> None:
    """visit(record) for every warp of the block."""
    stride, first = code.load(WorkerEnv, env, "warp_stride"), code.load(BlockState, block, "warps")

    def number(n: llvm.Value) -> None:
        visit(code.at(first, code.b.mul(code.widened(n), stride)))

    code.each(code.load(WorkerEnv, env, "warps"), number)


def block_number(code: StructuredBuilder, env: llvm.Value, block: llvm.Value) -> llvm.Value:
    """The number of a block in the grid, x fastest."""
    b = code.b
    x, y, z = (code.load(BlockState, block, "ctaid", axis) for axis in range(3))
    columns, rows = (code.load(WorkerEnv, env, "grid", axis) for axis in range(2))
    return b.add(x, b.mul(columns, b.add(y, b.mul(rows, z))))


def row_at(code: StructuredBuilder, rows: llvm.Value, number: llvm.Value) -> llvm.Value:
    """The address of a row in a table with 32 numbers a row."""
    return code.at(rows, code.b.mul(code.widened(number), i64(128)))


def known_at(code: StructuredBuilder, block: llvm.Value, barrier: llvm.Value) -> llvm.Value:
    """Where WarpClocks.known is published at a barrier: in the last row."""
    rows = code.load(BlockState, block, "published")
    return code.at(rows, code.b.add(i64(128 * (PUBLISHED - 1)), code.b.mul(code.widened(barrier), i64(4))))


def raise_to(code: StructuredBuilder, place: llvm.Value, value: llvm.Value) -> None:
    """*place = max(*place, value), by element."""
    b = code.b
    old = b.load(place, typ=value.type, align=4)
    b.store(b.select(b.icmp_unsigned(">", value, old), value, old), place, align=4)


def tick(code: StructuredBuilder, env: llvm.Value, warp: llvm.Value) -> None:
    """Advances the warp's own clock."""
    shared = code.load(WorkerEnv, env, "races")
    code.bump(code.field(GlobalShadow, shared, "ticks"), 1, I32)
    own = code.field(WarpClocks, code.load(WarpState, warp, "order"), "clocks", code.load(WarpState, warp, "index"))
    code.b.store(code.load(GlobalShadow, shared, "ticks"), own)


def own_clock(code: StructuredBuilder, warp: llvm.Value) -> llvm.Value:
    return code.load(WarpClocks, code.load(WarpState, warp, "order"), "clocks", code.load(WarpState, warp, "index"))

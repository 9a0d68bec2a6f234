"""Race detector records: clocks of warps and lanes, and the last accesses of every unit of shared memory."""

from __future__ import annotations

import ctypes as c
from collections.abc import Callable
from enum import IntEnum
from typing import Literal, NamedTuple

from warplens import llvm
from warplens.emulator.codegen.structured_builder import StructuredBuilder, i32, i64
from warplens.emulator.codegen.vector_types import I32, vector
from warplens.emulator.state.structs import BARRIERS, BlockState, WarpState, WorkerEnv

How = Literal["load", "store", "atomic"]
Swap = Literal["compare", "spin"]  # compare-and-swaps: ATOMS.CAS, ATOMS.CAST.SPIN
MbarrierUse = Literal["", "init", "use"]


class GroupKind(IntEnum):
    """Kind of asynchronous operations that are waited for in groups."""

    COPIES = 0  # cp.async
    BULK_COPIES = 1
    PRODUCTS = 2  # of a warpgroup
    TENSOR_PRODUCTS = 3  # into tensor memory


class Ordering(NamedTuple):
    """How an access is ordered with those of other threads.

    strong    atomic, volatile, or of more than the block's scope: it does not race with others of its kind
    acquires  it may read what other blocks have released
    copies    an asynchronous copy
    proxy     of an access through the async proxy what it waits for: bulk copies or a warpgroup's products
    """

    strong: bool = False
    acquires: bool = False
    copies: bool = False
    proxy: GroupKind | None = None


PLAIN = Ordering()
VOID = llvm.VoidType()
V32 = vector(I32)
MOST_WARPS = 32
MBARRIERS, MBARRIER_ROWS = BARRIERS, 64  # the rows of mbarriers, by address, after those of the barriers
PUBLISHED = MBARRIERS + MBARRIER_ROWS  # rows of what was published
ROWS = {"clocks": 0, "fenced": 128 * PUBLISHED, "copied": 256 * PUBLISHED}  # where those of each vector begin
KNOWN = 384 * PUBLISHED  # and the numbers `known`
PUBLISHED_BYTES = KNOWN + 4 * PUBLISHED
GROUPS = 16  # of asynchronous operations whose wait times are kept


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


class GroupClocks(c.Structure):
    """Groups of asynchronous operations of a warp: how many were committed, how many of them were waited for, and of
    the latest of these, by number, when."""

    _fields_ = [
        ("committed", c.c_uint32),
        ("completed", c.c_uint32),
        ("done_clock", c.c_uint32 * GROUPS),
        ("done_step", c.c_uint32 * GROUPS),
        ("unused", c.c_uint32 * 14),
    ]


class WarpClocks(c.Structure):
    """Vector clocks of a warp: `clocks` by warp, its own included; `seen[lane][other]` by lane in steps of this warp.

    Nothing is cleared between blocks: clocks go on, so that what a block before did is in order.
    """

    _fields_ = [
        ("clocks", c.c_uint32 * MOST_WARPS),
        ("seen", c.c_uint32 * (32 * 32)),
        ("fenced", c.c_uint32 * MOST_WARPS),  # those of `clocks` after which a proxy fence came
        ("copied", c.c_uint32 * MOST_WARPS),  # up to when the bulk copies of each warp have arrived, as is known here
        ("step", c.c_uint32),
        ("known", c.c_uint32),  # what was released until this reading of the launch's clock is known (global races)
        ("begun", c.c_uint32),  # the clock at which the block began
        ("issuer", c.c_int32),  # of the operation through the async proxy at hand: the lane
        ("layout", c.c_int32),  # and how it lays out shared memory (Layout)
        ("product_at", c.c_int32),  # the last instruction of a kind that all warps of a warpgroup execute, or -1
        ("registers_at", c.c_int32),
        ("unused", c.c_uint32 * 25),
        ("copies", GroupClocks),
        ("bulk_copies", GroupClocks),
        ("products", GroupClocks),
        ("tensor_products", GroupClocks),
    ]


class Layout(IntEnum):
    """Layout of a unit of shared memory."""

    UNKNOWN = 0
    PLAIN = 1  # by a tensor map or matrix descriptor without swizzle; further 3: of 32, 64, 128 bytes
    MBARRIER = 255


class LastStore(c.Structure):
    """The last store to a unit; `thread` is the number in the block."""

    _fields_ = [
        ("clock", c.c_uint32),
        ("step", c.c_uint32),
        ("at", c.c_int32),
        ("thread", c.c_int32),
        ("value", c.c_uint32),
        ("group", c.c_uint32),  # of an asynchronous copy, counted from 1; 0 for other stores
        ("proxy", c.c_int32),  # whether it was made through the async proxy
        ("layout", c.c_int32),
    ]


class LastRead(c.Structure):
    """The last read of a unit by one warp through the async proxy: of a GroupKind, its group counted from 1."""

    _fields_ = [("group", c.c_uint32), ("kind", c.c_int32), ("at", c.c_int32), ("thread", c.c_int32)]


class LastAccesses(c.Structure):
    """The last loads, or atomics, of a unit by one warp: by these lanes, since it last was in step."""

    _fields_ = [("clock", c.c_uint32), ("step", c.c_uint32), ("at", c.c_int32), ("lanes", c.c_uint32)]


LOADS, ATOMICS = 0, c.sizeof(LastAccesses)
CONFLICTS: dict[How, tuple[int, ...]] = {"load": (ATOMICS,), "store": (LOADS, ATOMICS), "atomic": (LOADS,)}


def warp_bytes(asynchronous: bool) -> int:
    """Bytes of shadow memory of one unit for each warp; asynchronous: whether there are reads through that proxy."""
    return 2 * c.sizeof(LastAccesses) + asynchronous * c.sizeof(LastRead)


def row_bytes(warps: int, asynchronous: bool) -> int:
    """Bytes of shadow memory of one unit."""
    return c.sizeof(LastStore) + warp_bytes(asynchronous) * warps


def shadow_row(
    code: StructuredBuilder, env: llvm.Value, block: llvm.Value, unit: llvm.Value, stride: int
) -> llvm.Value:
    """The shadow memory of a unit, with `stride` bytes for each warp: first its LastStore."""
    b = code.b
    size = b.add(i32(c.sizeof(LastStore)), b.mul(code.load(WorkerEnv, env, "warps"), i32(stride)))
    return code.at(code.load(BlockState, block, "shadow"), b.mul(code.widened(unit), code.widened(size)))


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
    """Where WarpClocks.known is published at a barrier."""
    rows = code.load(BlockState, block, "published")
    return code.at(rows, code.b.add(i64(KNOWN), code.b.mul(code.widened(barrier), i64(4))))


def groups_of(code: StructuredBuilder, order: llvm.Value, kind: GroupKind) -> llvm.Value:
    """The groups of a kind of the warp whose WarpClocks these are."""
    return code.field(WarpClocks, order, kind.name.lower())


def mbarrier_row(code: StructuredBuilder, address: llvm.Value) -> llvm.Value:
    """Number of the row of the mbarrier at a shared address."""
    b = code.b
    return b.add(b.and_(b.lshr(address, i32(3)), i32(MBARRIER_ROWS - 1)), i32(MBARRIERS))


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

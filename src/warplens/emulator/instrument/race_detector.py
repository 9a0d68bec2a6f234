"""Race detector for shared memory (--check races): finds accesses that no barrier orders.

Every unit of shared memory (a word; less where the kernel accesses less) records its last store, and for each warp its
last loads and its last atomics.  Each warp has a clock: the launch's clock when the warp last arrived at a barrier.  It
knows up to which clock of every other warp it has waited; an access of an earlier one is ordered.  Within a warp the
same is kept for each pair of lanes, with WARPSYNC, and the NOP that the compiler leaves where lanes of a __syncwarp()
are together anyway, in place of barriers.  An asynchronous copy is a store of the time at which its thread has waited
for it.  Shuffles and votes order nothing: the compiler itself moves stores past them.

After Flanagan and Freund, "FastTrack: Efficient and Precise Dynamic Race Detection", PLDI 2009, with the two levels
of a block: threads of one warp and warps.  The records are in race_state.py.
"""

from __future__ import annotations

from functools import cached_property

from warplens import llvm
from warplens.emulator.codegen.emitter import LlvmEmitter
from warplens.emulator.codegen.structured_builder import StructuredBuilder, function, i32, i64
from warplens.emulator.codegen.vector_types import I32, PTR, vector
from warplens.emulator.instrument.findings import NO_PARTY
from warplens.emulator.instrument.race_state import (
    GROUPS,
    PUBLISHED_BYTES,
    ROWS,
    V32,
    VOID,
    GlobalShadow,
    GroupClocks,
    GroupKind,
    How,
    LastStore,
    Layout,
    MbarrierUse,
    Ordering,
    WarpClocks,
    each_warp,
    groups_of,
    known_at,
    mbarrier_row,
    own_clock,
    raise_to,
    row_at,
    shadow_row,
    tick,
    warp_bytes,
)
from warplens.emulator.instrument.shared_access import SharedAccess
from warplens.emulator.instrument.warpgroup_check import PRODUCT, REGISTERS
from warplens.emulator.state.structs import BlockState, WarpState, WorkerEnv


class RaceDetector:
    """Race detector: the routines of one module for shared memory."""

    def __init__(self, module: llvm.IRModule, asynchronous: bool) -> None:
        """asynchronous: whether the kernel has operations through the async proxy."""
        self.module, self.asynchronous = module, asynchronous

    # Accesses

    def touch(self, how: How, ordering: Ordering, mbarrier: MbarrierUse = "") -> llvm.Function:
        """touch(env, block, warp, instruction, lane, unit, value, byte): one thread's access to one unit."""
        proxy = "" if ordering.proxy is None else f"_{ordering.proxy.name.lower()}"
        name = f"touch_{'copy' if ordering.copies else how}{proxy}{mbarrier and '_mbarrier_'}{mbarrier}"
        if found := self.module.globals.get(name):
            return found
        made, code = function(self.module, name, VOID, [PTR, PTR, PTR, *[I32] * 5])
        SharedAccess(code, how, made.args, ordering, self.asynchronous, mbarrier).build()
        return made

    # WarpClocks

    @cached_property
    def join_lanes(self) -> llvm.Function:
        """join_lanes(warp, lanes): joins the clocks of these lanes."""
        made, code = function(self.module, "join_lanes", VOID, [PTR, I32])
        warp, lanes = made.args
        b = code.b
        order = code.load(WarpState, warp, "order")
        code.bump(code.field(WarpClocks, order, "step"), 1, I32)
        step = LlvmEmitter(b).splat(code.load(WarpClocks, order, "step"))
        rows = code.field(WarpClocks, order, "seen")
        together = code.variable(V32, llvm.IRConstant(V32, None))

        def gather(lane: llvm.Value) -> None:
            row = b.load(row_at(code, rows, lane), typ=V32, align=4)
            known = b.load(together, typ=V32)
            b.store(b.select(b.icmp_unsigned(">", row, known), row, known), together)

        code.each_bit(lanes, gather)
        here = b.bitcast(lanes, vector(llvm.IntType(1)))
        b.store(b.select(here, step, b.load(together, typ=V32)), together)

        def share(lane: llvm.Value) -> None:
            b.store(b.load(together, typ=V32), row_at(code, rows, lane), align=4)

        code.each_bit(lanes, share)
        b.ret_void()
        return made

    @cached_property
    def arrive(self) -> llvm.Function:
        """arrive(env, block, warp, barrier): publishes the clocks of the warp at a barrier."""
        made, code = function(self.module, "arrive_in_order", VOID, [PTR, PTR, PTR, I32])
        env, block, warp, barrier = made.args
        self._publish(code, block, warp, barrier)
        tick(code, env, warp)
        code.b.ret_void()
        return made

    @cached_property
    def arrive_at_mbarriers(self) -> llvm.Function:
        """arrive_at_mbarriers(env, block, warp, addresses, lanes): the same at the mbarrier of each lane."""
        made, code = function(self.module, "arrive_at_mbarriers", VOID, [PTR, PTR, PTR, V32, I32])
        env, block, warp, addresses, lanes = made.args

        def at(lane: llvm.Value) -> None:
            self._publish(code, block, warp, mbarrier_row(code, code.b.extract_element(addresses, lane)))

        code.each_bit(lanes, at)
        tick(code, env, warp)
        code.b.ret_void()
        return made

    @cached_property
    def complete(self) -> llvm.Function:
        """complete(env, block, warp, address): the bulk copies of the warp so far arrive at an mbarrier; whoever waits
        there knows, the warp itself does not yet."""
        made, code = function(self.module, "complete_at_mbarrier", VOID, [PTR, PTR, PTR, I32])
        env, block, warp, address = made.args
        b, row = code.b, mbarrier_row(code, address)
        self._publish(code, block, warp, row)
        rows = code.at(code.load(BlockState, block, "published"), ROWS["copied"])
        place = code.at(row_at(code, rows, row), b.shl(code.load(WarpState, warp, "index"), i32(2)))
        raise_to(code, place, own_clock(code, warp))
        tick(code, env, warp)
        b.ret_void()
        return made

    @cached_property
    def observe(self) -> llvm.Function:
        """observe(block, warp, addresses, lanes): lanes that waited, each at an mbarrier, acquire its clocks."""
        made, code = function(self.module, "observe_in_order", VOID, [PTR, PTR, V32, I32])
        block, warp, addresses, lanes = made.args

        def at(lane: llvm.Value) -> None:
            self._take(code, block, warp, mbarrier_row(code, code.b.extract_element(addresses, lane)))

        code.each_bit(lanes, at)
        code.b.call(self.join_lanes, [warp, lanes])
        code.b.ret_void()
        return made

    def _publish(self, code: StructuredBuilder, block: llvm.Value, warp: llvm.Value, barrier: llvm.Value) -> None:
        order, rows = code.load(WarpState, warp, "order"), code.load(BlockState, block, "published")
        for name, first in ROWS.items():
            known = code.b.load(code.field(WarpClocks, order, name), typ=V32, align=4)
            raise_to(code, row_at(code, code.at(rows, first), barrier), known)
        raise_to(code, known_at(code, block, barrier), code.load(WarpClocks, order, "known"))

    def _take(self, code: StructuredBuilder, block: llvm.Value, warp: llvm.Value, barrier: llvm.Value) -> None:
        """The warp acquires the clocks published there."""
        order, rows = code.load(WarpState, warp, "order"), code.load(BlockState, block, "published")
        for name, first in ROWS.items():
            published = code.b.load(row_at(code, code.at(rows, first), barrier), typ=V32, align=4)
            raise_to(code, code.field(WarpClocks, order, name), published)
        known = code.b.load(known_at(code, block, barrier), typ=I32)
        raise_to(code, code.field(WarpClocks, order, "known"), known)

    @cached_property
    def fence(self) -> llvm.Function:
        """fence(env, warp): a proxy fence: the async proxy sees what the warp has written, and what it knows of."""
        made, code = function(self.module, "fence_proxy", VOID, [PTR, PTR])
        env, warp = made.args
        order = code.load(WarpState, warp, "order")
        clocks = code.b.load(code.field(WarpClocks, order, "clocks"), typ=V32, align=4)
        raise_to(code, code.field(WarpClocks, order, "fenced"), clocks)
        tick(code, env, warp)
        code.b.ret_void()
        return made

    @cached_property
    def end_mbarriers(self) -> llvm.Function:
        """end_mbarriers(env, block, units, lanes): no mbarrier begins at these units any more."""
        made, code = function(self.module, "end_mbarriers", VOID, [PTR, PTR, V32, I32])
        env, block, units, lanes = made.args

        def at(lane: llvm.Value) -> None:
            row = shadow_row(code, env, block, code.b.extract_element(units, lane), warp_bytes(self.asynchronous))
            code.store(int(Layout.UNKNOWN), LastStore, row, "layout")

        code.each_bit(lanes, at)
        code.b.ret_void()
        return made

    # Asynchronous operations

    def commit(self, code: StructuredBuilder, warp: llvm.Value, kind: GroupKind) -> None:
        """The operations so far are one group."""
        order = code.load(WarpState, warp, "order")
        code.bump(code.field(GroupClocks, groups_of(code, order, kind), "committed"), 1, I32)

    def wait(self, kind: GroupKind) -> llvm.Function:
        """wait(warp, groups): all groups but the last so many are complete.

        Lanes that part count the groups of all: then some pending copies are taken for complete.
        """
        name = f"wait_for_{kind.name.lower()}"
        if found := self.module.globals.get(name):
            return found
        made, code = function(self.module, name, VOID, [PTR, I32])
        warp, groups = made.args
        b = code.b
        order = code.load(WarpState, warp, "order")
        record = groups_of(code, order, kind)
        done = code.load(GroupClocks, record, "completed")
        more = b.sub(b.sub(code.load(GroupClocks, record, "committed"), groups), done)
        clock, step = own_clock(code, warp), code.load(WarpClocks, order, "step")

        def complete(n: llvm.Value) -> None:
            number = b.and_(b.add(b.add(done, n), i32(1)), i32(GROUPS - 1))
            code.store(clock, GroupClocks, record, "done_clock", number)
            code.store(step, GroupClocks, record, "done_step", number)
            code.bump(code.field(GroupClocks, record, "completed"), 1, I32)

        code.each(more, complete)
        b.ret_void()
        return made

    @cached_property
    def opened(self) -> llvm.Function:
        """opened(env, block, barrier): before the waiting warps are released."""
        made, code = function(self.module, "opened_in_order", VOID, [PTR, PTR, I32])
        env, block, barrier = made.args
        b = code.b
        rows = code.load(BlockState, block, "published")

        def of(warp: llvm.Value) -> None:
            lanes = code.variable(I32, i32(0))

            def waits(n: llvm.Value) -> None:
                there = b.icmp_signed("==", code.load(WarpState, warp, "parked_at", n), barrier)
                mask = b.select(there, code.load(WarpState, warp, "parked_mask", n), i32(0))
                b.store(b.or_(b.load(lanes, typ=I32), mask), lanes)

            code.each(code.load(WarpState, warp, "parked"), waits)
            with code.when(code.nonzero(b.load(lanes, typ=I32))):
                self._take(code, block, warp, barrier)
                b.call(self.join_lanes, [warp, b.load(lanes, typ=I32)])

        each_warp(code, env, block, of)
        for first in ROWS.values():
            b.store(llvm.IRConstant(V32, None), row_at(code, code.at(rows, first), barrier), align=4)
        b.store(i32(0), known_at(code, block, barrier))
        b.ret_void()
        return made

    def start(self, code: StructuredBuilder, env: llvm.Value, block: llvm.Value) -> None:
        """Starts a new block, ordered after everything before it."""
        b = code.b
        shared = code.load(WorkerEnv, env, "races")
        base = code.load(GlobalShadow, shared, "ticks")
        code.bump(code.field(GlobalShadow, shared, "ticks"), 1, I32)

        def begin(warp: llvm.Value) -> None:
            order = code.load(WarpState, warp, "order")
            for name in ROWS:
                b.store(LlvmEmitter(b).splat(base), code.field(WarpClocks, order, name), align=4)
            own = code.field(WarpClocks, order, "clocks", code.load(WarpState, warp, "index"))
            b.store(b.add(base, i32(1)), own)
            code.store(base, WarpClocks, order, "begun")
            code.store(0, WarpClocks, order, "known")
            for field in (PRODUCT, REGISTERS):
                code.store(NO_PARTY, WarpClocks, order, field)
            for kind in GroupKind:  # what the block before has not waited for does not matter any more
                self.commit(code, warp, kind)
                record = groups_of(code, order, kind)
                code.store(code.load(GroupClocks, record, "committed"), GroupClocks, record, "completed")
            b.call(self.join_lanes, [warp, i32(-1)])

        each_warp(code, env, block, begin)
        code.clear(code.load(BlockState, block, "published"), i64(PUBLISHED_BYTES))

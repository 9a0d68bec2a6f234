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

import ctypes as c
from functools import cached_property

from warplens import llvm
from warplens.emulator.codegen.emitter import LlvmEmitter
from warplens.emulator.codegen.structured_builder import StructuredBuilder, function, i32, i64
from warplens.emulator.codegen.vector_types import I32, PTR, vector
from warplens.emulator.instrument.findings import EmittedFinding, FindingKind, emit_finding
from warplens.emulator.instrument.race_state import (
    ATOMICS,
    CONFLICTS,
    GROUPS,
    LOADS,
    MBARRIERS,
    PUBLISHED,
    V32,
    VOID,
    GlobalShadow,
    How,
    LastAccesses,
    LastStore,
    WarpClocks,
    each_warp,
    known_at,
    own_clock,
    raise_to,
    row_at,
    tick,
)
from warplens.emulator.state.structs import BlockState, WarpState, WorkerEnv


class RaceDetector:
    """Race detector: the routines of one module for shared memory."""

    def __init__(self, module: llvm.IRModule) -> None:
        self.module = module

    # Accesses

    def touch(self, how: How, copies: bool = False) -> llvm.Function:
        """touch(env, block, warp, instruction, lane, unit, value, byte): one thread's access to one unit.

        copies: a store that is an asynchronous copy
        """
        name = f"touch_{'copy' if copies else how}"
        if found := self.module.globals.get(name):
            return found
        made, code = function(self.module, name, VOID, [PTR, PTR, PTR, *[I32] * 5])
        _Touch(code, how, made.args, copies).build()
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
        """arrive(env, block, warp, place): publishes the clocks of the warp at a barrier, or MBARRIERS."""
        made, code = function(self.module, "arrive_in_order", VOID, [PTR, PTR, PTR, I32])
        env, block, warp, barrier = made.args
        b = code.b
        order = code.load(WarpState, warp, "order")
        place = row_at(code, code.load(BlockState, block, "published"), barrier)
        known = b.load(code.field(WarpClocks, order, "clocks"), typ=V32, align=4)
        raise_to(code, place, known)
        raise_to(code, known_at(code, block, barrier), code.load(WarpClocks, order, "known"))
        tick(code, env, warp)
        b.ret_void()
        return made

    @cached_property
    def observe(self) -> llvm.Function:
        """observe(block, warp, lanes): lanes that waited at an mbarrier acquire all mbarrier clocks."""
        made, code = function(self.module, "observe_in_order", VOID, [PTR, PTR, I32])
        block, warp, lanes = made.args
        self._take(code, block, warp, i32(MBARRIERS))
        code.b.call(self.join_lanes, [warp, lanes])
        code.b.ret_void()
        return made

    def _take(self, code: StructuredBuilder, block: llvm.Value, warp: llvm.Value, barrier: llvm.Value) -> None:
        """The warp acquires the clocks published there."""
        order = code.load(WarpState, warp, "order")
        published = code.b.load(row_at(code, code.load(BlockState, block, "published"), barrier), typ=V32, align=4)
        raise_to(code, code.field(WarpClocks, order, "clocks"), published)
        known = code.b.load(known_at(code, block, barrier), typ=I32)
        raise_to(code, code.field(WarpClocks, order, "known"), known)

    # Asynchronous copies

    def commit(self, code: StructuredBuilder, warp: llvm.Value) -> None:
        """The copies so far are one group."""
        code.bump(code.field(WarpClocks, code.load(WarpState, warp, "order"), "committed"), 1, I32)

    @cached_property
    def wait(self) -> llvm.Function:
        """wait(warp, groups): all groups but the last so many are complete.

        Lanes that part count the groups of all: then some pending copies are taken for complete.
        """
        made, code = function(self.module, "wait_for_copies", VOID, [PTR, I32])
        warp, groups = made.args
        b = code.b
        order = code.load(WarpState, warp, "order")
        done = code.load(WarpClocks, order, "completed")
        more = b.sub(b.sub(code.load(WarpClocks, order, "committed"), groups), done)
        clock, step = own_clock(code, warp), code.load(WarpClocks, order, "step")

        def complete(n: llvm.Value) -> None:
            number = b.and_(b.add(b.add(done, n), i32(1)), i32(GROUPS - 1))
            code.store(clock, WarpClocks, order, "done_clock", number)
            code.store(step, WarpClocks, order, "done_step", number)
            code.bump(code.field(WarpClocks, order, "completed"), 1, I32)

        code.each(more, complete)
        b.ret_void()
        return made

    @cached_property
    def opened(self) -> llvm.Function:
        """opened(env, block, barrier): before the waiting warps are released."""
        made, code = function(self.module, "opened_in_order", VOID, [PTR, PTR, I32])
        env, block, barrier = made.args
        b = code.b
        place = row_at(code, code.load(BlockState, block, "published"), barrier)

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
        b.store(llvm.IRConstant(V32, None), place, align=4)
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
            b.store(LlvmEmitter(b).splat(base), code.field(WarpClocks, order, "clocks"), align=4)
            own = code.field(WarpClocks, order, "clocks", code.load(WarpState, warp, "index"))
            b.store(b.add(base, i32(1)), own)
            code.store(0, WarpClocks, order, "known")
            self.commit(code, warp)  # what the block before has not waited for does not matter any more
            code.store(code.load(WarpClocks, order, "committed"), WarpClocks, order, "completed")
            b.call(self.join_lanes, [warp, i32(-1)])

        each_warp(code, env, block, begin)
        place = code.load(BlockState, block, "published")
        for row in range(PUBLISHED):
            b.store(llvm.IRConstant(V32, None), code.at(place, 128 * row), align=4)


class _Touch:
    """Emits the body of touch()."""

    def __init__(self, code: StructuredBuilder, how: How, given: tuple[llvm.Value, ...], copies: bool) -> None:
        self.copies = copies
        self.code, self.how, self.b = code, how, code.b
        self.env, self.block, warp, self.at, self.lane, unit, self.value, self.byte = given
        self.warp = code.load(WarpState, warp, "index")
        self.order = code.load(WarpState, warp, "order")
        self.clock = code.load(WarpClocks, self.order, "clocks", self.warp)
        self.step = code.load(WarpClocks, self.order, "step")
        self.me = self.b.or_(self.b.shl(self.warp, i32(5)), self.lane)
        warps = code.load(WorkerEnv, self.env, "warps")
        size = self.b.add(i32(c.sizeof(LastStore)), self.b.mul(warps, i32(2 * c.sizeof(LastAccesses))))
        offset = self.b.mul(code.widened(unit), code.widened(size))
        self.row = code.at(code.load(BlockState, self.block, "shadow"), offset)

    def build(self) -> None:
        self._against_store()
        self.code.each(self.code.load(WorkerEnv, self.env, "warps"), self._against_uses)
        if self.how == "store":
            self._remember_store()
        else:
            self._remember_use(LOADS if self.how == "load" else ATOMICS)
        self.b.ret_void()

    def _against_store(self) -> None:
        code, b = self.code, self.b
        thread = code.load(LastStore, self.row, "thread")
        other, lane = b.lshr(thread, i32(5)), b.and_(thread, i32(31))
        seen = code.load(WarpClocks, self.order, "seen", b.or_(b.shl(self.lane, i32(5)), lane))
        clock, step, pending = self._done(other)
        near = b.icmp_unsigned(">", seen, step)
        near = b.or_(near, b.icmp_signed("==", thread, self.me))
        far = b.icmp_unsigned(">=", self._known(other), clock)
        fine = b.and_(b.select(b.icmp_signed("==", other, self.warp), near, far), b.not_(pending))
        if self.how == "store":
            # Racecheck's convention: stores of the same value do no harm.
            fine = b.or_(fine, b.icmp_signed("==", code.load(LastStore, self.row, "value"), self.value))
        with code.when(b.not_(fine), likely=False):
            kind = b.select(pending, i32(FindingKind.COPY_PENDING), i32(FindingKind.RACE))
            self._report(code.load(LastStore, self.row, "at"), thread, kind)

    def _done(self, warp: llvm.Value) -> tuple[llvm.Value, llvm.Value, llvm.Value]:
        """(clock, step) of the last store, and whether it is an asynchronous copy that has not been waited for."""
        code, b = self.code, self.b
        clock, step, group = (code.load(LastStore, self.row, name) for name in ("clock", "step", "group"))
        away = b.mul(code.widened(b.sub(warp, self.warp)), i64(c.sizeof(WarpClocks)))
        theirs = code.at(self.order, away)
        copied = code.nonzero(group)
        lag = b.sub(code.load(WarpClocks, theirs, "completed"), group)
        pending = b.and_(copied, b.icmp_signed("<", lag, i32(0)))
        recent = b.and_(copied, b.icmp_unsigned("<", lag, i32(GROUPS)))
        place = b.and_(group, i32(GROUPS - 1))
        clock = b.select(recent, code.load(WarpClocks, theirs, "done_clock", place), clock)
        return clock, b.select(recent, code.load(WarpClocks, theirs, "done_step", place), step), pending

    def _known(self, warp: llvm.Value) -> llvm.Value:
        return self.code.load(WarpClocks, self.order, "clocks", warp)

    def _against_uses(self, warp: llvm.Value) -> None:
        code, b = self.code, self.b
        for table in CONFLICTS[self.how]:
            uses = code.at(self._uses(warp), table)
            lanes = code.load(LastAccesses, uses, "lanes")
            far = b.icmp_unsigned(">=", self._known(warp), code.load(LastAccesses, uses, "clock"))
            open_far = b.select(far, i32(0), lanes)
            seen = b.load(row_at(code, code.field(WarpClocks, self.order, "seen"), self.lane), typ=V32, align=4)
            step = LlvmEmitter(b).splat(code.load(LastAccesses, uses, "step"))
            near = b.or_(b.bitcast(b.icmp_unsigned(">", seen, step), I32), code.bit(self.lane))
            open_near = b.and_(lanes, b.not_(near))
            bad = b.select(b.icmp_signed("==", warp, self.warp), open_near, open_far)
            with code.when(code.nonzero(bad), likely=False):
                thread = b.or_(b.shl(warp, i32(5)), code.lowest(bad))
                self._report(code.load(LastAccesses, uses, "at"), thread)

    def _uses(self, warp: llvm.Value) -> llvm.Value:
        step = self.code.b.mul(self.code.widened(warp), i64(2 * c.sizeof(LastAccesses)))
        return self.code.at(self.code.at(self.row, c.sizeof(LastStore)), step)

    def _report(self, first: llvm.Value, thread: llvm.Value, kind: llvm.Value | None = None) -> None:
        b = self.b
        between_warps = b.zext(b.icmp_signed("!=", b.lshr(thread, i32(5)), self.warp), I32)
        found = i32(FindingKind.RACE) if kind is None else kind
        finding = EmittedFinding(found, first, self.at, thread, self.me, self.byte, between_warps)
        emit_finding(self.code, self.env, self.block, finding)

    def _remember_store(self) -> None:
        now = {"clock": self.clock, "step": self.step, "at": self.at, "thread": self.me, "value": self.value}
        group = self.b.add(self.code.load(WarpClocks, self.order, "committed"), i32(1)) if self.copies else i32(0)
        now["group"] = group
        for name, value in now.items():
            self.code.store(value, LastStore, self.row, name)

    def _remember_use(self, table: int) -> None:
        code, b = self.code, self.b
        uses = code.at(self._uses(self.warp), table)
        same = b.and_(
            b.icmp_signed("==", code.load(LastAccesses, uses, "clock"), self.clock),
            b.icmp_signed("==", code.load(LastAccesses, uses, "step"), self.step),
        )
        lanes = b.or_(b.select(same, code.load(LastAccesses, uses, "lanes"), i32(0)), code.bit(self.lane))
        for name, value in {"clock": self.clock, "step": self.step, "at": self.at, "lanes": lanes}.items():
            code.store(value, LastAccesses, uses, name)

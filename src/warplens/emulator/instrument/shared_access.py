"""Shared-memory access: checks one thread's access to one unit against those before it, and remembers it.

Beside races: what the async proxy reads must have been fenced after ordinary stores, nothing may write where it still
reads, and reads through a tensor map or a matrix descriptor must have the swizzle of the write.  Mbarriers are units
that mbarrier.init has written.
"""

from __future__ import annotations

import ctypes as c
from functools import reduce

from warplens import llvm
from warplens.emulator.codegen.emitter import LlvmEmitter
from warplens.emulator.codegen.structured_builder import StructuredBuilder, i32, i64
from warplens.emulator.codegen.vector_types import I32, I64
from warplens.emulator.instrument.findings import NO_PARTY, EmittedFinding, FindingKind, emit_finding
from warplens.emulator.instrument.race_state import (
    ATOMICS,
    CONFLICTS,
    GROUPS,
    LOADS,
    V32,
    GroupClocks,
    GroupKind,
    How,
    LastAccesses,
    LastRead,
    LastStore,
    Layout,
    MbarrierUse,
    Ordering,
    WarpClocks,
    groups_of,
    row_at,
    shadow_row,
    warp_bytes,
)
from warplens.emulator.state.structs import WARPGROUP_WARPS, WarpState, WorkerEnv

READS = 2 * c.sizeof(LastAccesses)  # where a warp's LastRead lies
WRITTEN, READ = 32, 40  # bits of a finding's value: the layouts of the write and of the read, above the byte


class SharedAccess:
    """Shared-memory access: emits the body of RaceDetector.touch()."""

    def __init__(
        self, code: StructuredBuilder, how: How, given: tuple[llvm.Value, ...], ordering: Ordering, asynchronous: bool,
        mbarrier: MbarrierUse,
    ) -> None:  # fmt: skip
        self.ordering, self.asynchronous, self.mbarrier = ordering, asynchronous, mbarrier
        self.code, self.how, self.b = code, how, code.b
        self.env, self.block, warp, self.at, self.lane, unit, self.value, self.byte = given
        self.warp = code.load(WarpState, warp, "index")
        self.order = code.load(WarpState, warp, "order")
        self.clock = code.load(WarpClocks, self.order, "clocks", self.warp)
        self.step = code.load(WarpClocks, self.order, "step")
        self.me = self.b.or_(self.b.shl(self.warp, i32(5)), self.lane)
        self.stride = warp_bytes(asynchronous)
        self.row = shadow_row(code, self.env, self.block, unit, self.stride)

    def build(self) -> None:
        if self.asynchronous:
            self._against_layout()
        self._against_store()
        self.code.each(self.code.load(WorkerEnv, self.env, "warps"), self._against_uses)
        if self.how == "store":
            self._remember_store()
        elif self.ordering.proxy is not None:
            self._remember_read(self.ordering.proxy)
        else:
            self._remember_use(LOADS if self.how == "load" else ATOMICS)
        self.b.ret_void()

    # What was written

    def _stored(self, name: str) -> llvm.Value:
        return self.code.load(LastStore, self.row, name)

    def _against_store(self) -> None:
        code, b = self.code, self.b
        thread = self._stored("thread")
        other, lane = b.lshr(thread, i32(5)), b.and_(thread, i32(31))
        seen = code.load(WarpClocks, self.order, "seen", b.or_(b.shl(self.lane, i32(5)), lane))
        clock, step, pending = self._done(other)
        near = b.icmp_unsigned(">", seen, step)
        near = b.or_(near, b.icmp_signed("==", thread, self.me))
        far = b.icmp_unsigned(">=", self._known(other), clock)
        fine = b.and_(b.select(b.icmp_signed("==", other, self.warp), near, far), b.not_(pending))
        if self.asynchronous:
            self._against_copy(other, fine)
        if self.how == "load" and self.ordering.proxy is not None:
            self._against_unfenced(other, fine)
        if self.how == "store":
            # Racecheck's convention: stores of the same value do no harm.
            fine = b.or_(fine, b.icmp_signed("==", self._stored("value"), self.value))
        with code.when(b.not_(fine), likely=False):
            kind = b.select(pending, i32(FindingKind.COPY_PENDING), i32(FindingKind.RACE))
            self._report(self._stored("at"), thread, kind)

    def _done(self, warp: llvm.Value) -> tuple[llvm.Value, llvm.Value, llvm.Value]:
        """(clock, step) of the last store, and whether it is an asynchronous copy that has not been waited for."""
        code, b = self.code, self.b
        clock, step, group = (self._stored(name) for name in ("clock", "step", "group"))
        copies = groups_of(code, self._order_of(warp), GroupKind.COPIES)
        copied = code.nonzero(group)
        lag = b.sub(code.load(GroupClocks, copies, "completed"), group)
        pending = b.and_(copied, b.icmp_signed("<", lag, i32(0)))
        recent = b.and_(copied, b.icmp_unsigned("<", lag, i32(GROUPS)))
        place = b.and_(group, i32(GROUPS - 1))
        clock = b.select(recent, code.load(GroupClocks, copies, "done_clock", place), clock)
        return clock, b.select(recent, code.load(GroupClocks, copies, "done_step", place), step), pending

    def _order_of(self, warp: llvm.Value) -> llvm.Value:
        away = self.b.mul(self.code.widened(self.b.sub(warp, self.warp)), i64(c.sizeof(WarpClocks)))
        return self.code.at(self.order, away)

    def _known(self, warp: llvm.Value) -> llvm.Value:
        return self.code.load(WarpClocks, self.order, "clocks", warp)

    def _against_copy(self, other: llvm.Value, ordered: llvm.Value) -> None:
        """A bulk copy of this warp or of `other`, for which nobody has waited at its mbarrier."""
        b = self.b
        arrived = self.code.load(WarpClocks, self.order, "copied", other)
        copied = b.icmp_signed("!=", self._stored("proxy"), i32(0))
        bad = b.and_(copied, b.icmp_unsigned(">", self._stored("clock"), arrived))
        with self.code.when(b.and_(ordered, bad), likely=False):
            self._report(self._stored("at"), self._stored("thread"), i32(FindingKind.BULK_PENDING))

    def _against_unfenced(self, other: llvm.Value, ordered: llvm.Value) -> None:
        """An ordinary store of this warp or of `other` that no proxy fence has followed; not of cp.async, after which
        CUTLASS and Triton have none."""
        b = self.b
        fenced = self.code.load(WarpClocks, self.order, "fenced", other)
        ordinary = b.icmp_signed("==", b.or_(self._stored("proxy"), self._stored("group")), i32(0))
        bad = b.and_(ordinary, b.icmp_unsigned(">", self._stored("clock"), fenced))
        with self.code.when(b.and_(ordered, bad), likely=False):
            self._report(self._stored("at"), self._stored("thread"), i32(FindingKind.UNFENCED))

    def _against_layout(self) -> None:
        """The unit is, or is not, an mbarrier; or it was written with another swizzle than it is read with."""
        b, code = self.b, self.code
        layout, first, thread = (self._stored(name) for name in ("layout", "at", "thread"))
        begun = b.icmp_unsigned(">", self._stored("clock"), code.load(WarpClocks, self.order, "begun"))
        is_mbarrier = b.and_(begun, b.icmp_signed("==", layout, i32(Layout.MBARRIER)))
        if self.mbarrier == "use":
            with code.when(b.not_(is_mbarrier), likely=False):
                earlier = [b.select(begun, party, i32(NO_PARTY)) for party in (first, thread)]
                self._report(earlier[0], earlier[1], i32(FindingKind.NO_MBARRIER))
        elif self.how == "store":
            kind = FindingKind.TWO_INITS if self.mbarrier else FindingKind.MBARRIER_STORED
            with code.when(b.and_(is_mbarrier, b.not_(self._at_once())), likely=False):
                self._report(first, thread, i32(kind))
        if self.how == "load" and self.ordering.proxy is not None:
            mine = code.load(WarpClocks, self.order, "layout")
            known = b.and_(code.nonzero(layout), code.nonzero(mine))
            other = b.and_(known, b.icmp_signed("!=", layout, mine))
            with code.when(b.and_(b.and_(begun, b.not_(is_mbarrier)), other), likely=False):
                parts = [b.shl(b.zext(x, I64), i64(n)) for x, n in ((self.byte, 0), (layout, WRITTEN), (mine, READ))]
                value = b.or_(b.or_(parts[0], parts[1]), parts[2])
                self._report(first, thread, i32(FindingKind.OTHER_SWIZZLE), value)

    def _at_once(self) -> llvm.Value:
        """Whether the last store is one of this instruction by another lane."""
        b = self.b
        alike = b.icmp_signed("==", self._stored("at"), self.at)
        for name, mine in (("clock", self.clock), ("step", self.step)):
            alike = b.and_(alike, b.icmp_signed("==", self._stored(name), mine))
        return b.and_(alike, b.icmp_signed("==", b.lshr(self._stored("thread"), i32(5)), self.warp))

    # What was read, or changed by atomics

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
        if self.asynchronous and self.how != "load":
            self._against_reads(warp)

    def _against_reads(self, warp: llvm.Value) -> None:
        """A bulk copy or product of a warp that still reads, or has been waited for where this thread does not know.

        The warps of a warpgroup multiply together: a wait by one of them is one for the reads of all.
        """
        code, b = self.code, self.b
        read = code.at(self._uses(warp), READS)
        group, kind = code.load(LastRead, read, "group"), code.load(LastRead, read, "kind")
        with code.when(code.nonzero(group)):
            warps = [self._of_warpgroup(warp, k) for k in range(WARPGROUP_WARPS)]
            done = {one: self._waited(warp, group, one) for one in (GroupKind.BULK_COPIES, GroupKind.TENSOR_PRODUCTS)}
            of_group = (self._waited(one, group, GroupKind.PRODUCTS) for one in warps)
            done[GroupKind.PRODUCTS] = reduce(b.or_, of_group)
            waited = done.pop(GroupKind.BULK_COPIES)
            for one, value in done.items():
                waited = b.select(b.icmp_signed("==", kind, i32(one)), value, waited)
            with code.when(b.not_(waited), likely=False):
                found = i32(FindingKind.READ_PENDING)
                self._report(code.load(LastRead, read, "at"), code.load(LastRead, read, "thread"), found)

    def _of_warpgroup(self, warp: llvm.Value, k: int) -> llvm.Value:
        """The k-th warp of a warp's warpgroup, or that warp if there is none."""
        b = self.b
        other = b.or_(b.and_(warp, i32(-WARPGROUP_WARPS)), i32(k))
        return b.select(b.icmp_signed("<", other, self.code.load(WorkerEnv, self.env, "warps")), other, warp)

    def _waited(self, warp: llvm.Value, group: llvm.Value, kind: GroupKind) -> llvm.Value:
        """Whether a warp has waited for a group, and this thread knows; of groups long ago nothing is remembered."""
        code, b = self.code, self.b
        groups = groups_of(code, self._order_of(warp), kind)
        lag = b.sub(code.load(GroupClocks, groups, "completed"), group)
        done = code.load(GroupClocks, groups, "done_clock", b.and_(group, i32(GROUPS - 1)))
        known = b.or_(b.icmp_signed(">=", lag, i32(GROUPS)), b.icmp_unsigned(">=", self._known(warp), done))
        return b.and_(b.icmp_signed(">=", lag, i32(0)), known)

    def _uses(self, warp: llvm.Value) -> llvm.Value:
        step = self.code.b.mul(self.code.widened(warp), i64(self.stride))
        return self.code.at(self.code.at(self.row, c.sizeof(LastStore)), step)

    def _report(
        self, first: llvm.Value, thread: llvm.Value, kind: llvm.Value | None = None, value: llvm.Value | None = None
    ) -> None:
        b = self.b
        between_warps = b.zext(b.icmp_signed("!=", b.lshr(thread, i32(5)), self.warp), I32)
        found = i32(FindingKind.RACE) if kind is None else kind
        given = self.byte if value is None else value
        finding = EmittedFinding(found, first, self.at, thread, self.me, given, between_warps)
        emit_finding(self.code, self.env, self.block, finding)

    # Remembering it

    def _remember_store(self) -> None:
        code, proxy = self.code, self.ordering.proxy is not None
        now = {"clock": self.clock, "step": self.step, "at": self.at, "thread": self.me, "value": self.value}
        now["group"] = i32(0)
        if self.ordering.copies:
            copies = groups_of(code, self.order, GroupKind.COPIES)
            now["group"] = self.b.add(code.load(GroupClocks, copies, "committed"), i32(1))
        if self.asynchronous:
            layout = i32(Layout.MBARRIER if self.mbarrier else Layout.UNKNOWN)
            now["proxy"] = i32(proxy)
            now["layout"] = code.load(WarpClocks, self.order, "layout") if proxy else layout
        for name, value in now.items():
            code.store(value, LastStore, self.row, name)

    def _remember_read(self, kind: GroupKind) -> None:
        code, b = self.code, self.b
        groups = groups_of(code, self.order, kind)
        now = {
            "group": b.add(code.load(GroupClocks, groups, "committed"), i32(1)), "kind": i32(kind), "at": self.at,
            "thread": self.me,
        }  # fmt: skip
        read = code.at(self._uses(self.warp), READS)
        for name, value in now.items():
            code.store(value, LastRead, read, name)

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

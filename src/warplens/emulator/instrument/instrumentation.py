"""Instrumentation: hooks of `--check` and tracing in generated code; they emit nothing when off.

Whether the code counts more than the executions of its basic blocks is decided here, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

from warplens import llvm
from warplens.core.program import Program
from warplens.emulator.access.site import AccessSite
from warplens.emulator.codegen.structured_builder import StructuredBuilder, function, i32, i64
from warplens.emulator.codegen.vector_types import I32, I64, PTR, vector
from warplens.emulator.instrument import warpgroup_check
from warplens.emulator.instrument.findings import NO_PARTY, EmittedFinding, FindingKind, emit_finding
from warplens.emulator.instrument.footprint_recorder import FootprintRecorder
from warplens.emulator.instrument.global_race_detector import GlobalRaceDetector, part_of
from warplens.emulator.instrument.lane_recorder import LaneRecorder
from warplens.emulator.instrument.race_detector import RaceDetector
from warplens.emulator.instrument.race_state import (
    PLAIN,
    GroupKind,
    How,
    Layout,
    MbarrierUse,
    Ordering,
    Swap,
    WarpClocks,
    each_warp,
)
from warplens.emulator.instrument.shared_access import WRITTEN
from warplens.emulator.instrument.warp_recorder import WarpRecorder
from warplens.emulator.state.check_set import LANES, RECORD, STILL, Checks, ordered
from warplens.emulator.state.structs import ALL_THREADS, INSTRUCTION, BlockState, WarpState, WorkerEnv
from warplens.isa.dsl.warp_interface import Space

VOID = llvm.VoidType()
V32 = vector(I32)
SWIZZLED_ROWS = 8  # after which a swizzle repeats
ACCESSES = {"LDS", "STS", "LD", "ST", "LDG", "STG", "ATOMG", "ATOM", "RED", "REDG"}


def unit(program: Program) -> int:
    """Bytes of shared and global memory that are watched as one: the smallest access, at most a word."""
    sizes = {"U8": 1, "S8": 1, "8": 1, "U16": 2, "S16": 2, "16": 2}
    accesses = (i for i in program.instructions if i.base in ACCESSES)
    return min((sizes[m] for i in accesses for m in i.modifiers if m in sizes), default=4)


class BarrierArrival(NamedTuple):
    """Barrier arrival: lanes that arrive at a block barrier: `mask` of the warp's `live` lanes, at an instruction."""

    barrier: llvm.Value
    mask: llvm.Value
    live: llvm.Value
    instruction: llvm.Value


class Instrumentation:
    """Instrumentation of one kernel; `unit` is how many bytes of memory are watched as one, `counts`: whether
    accesses, lanes and replays are counted."""

    def __init__(self, module: llvm.IRModule, unit: int, checks: Checks) -> None:
        self.module, self.checks = module, checks
        self.races, self.init, self.barriers = (name in checks for name in ("races", "init", "barriers"))
        self.ordered, self.asynchronous = ordered(checks), "asynchronous" in checks
        self.unit = unit
        self.counts = "uncounted" not in checks
        self.shadow = RaceDetector(module, self.asynchronous)
        self.global_races = GlobalRaceDetector(module, unit)
        self.still = {space for space, name in STILL.items() if name in checks}
        self.footprint = FootprintRecorder(module) if "footprint" in checks else None
        self.recorder: WarpRecorder | None = None
        if checks & (RECORD | LANES):
            self.recorder = LaneRecorder(module) if "lanes" in checks else WarpRecorder(module)

    def enter(
        self,
        code: StructuredBuilder,
        env: llvm.Value,
        block: llvm.Value,
        warp: llvm.Value,
        number: llvm.Value,
        mask: llvm.Value,
    ) -> None:
        """Lanes of mask begin a basic block of the code."""
        if self.recorder:
            self.recorder.enter(code, env, block, warp, number, mask)

    def table(
        self, code: StructuredBuilder, env: llvm.Value, number: llvm.Value, offsets: llvm.Value, mask: llvm.Value
    ) -> None:
        """Lanes of mask read words of a constant bank at offsets of their own."""
        if self.recorder:
            self.recorder.table(code, env, number, offsets, mask)

    # Memory

    def moves(self, space: Space) -> bool:
        """Whether accesses to a space do anything but be recorded (slicing.py)."""
        return space not in self.still

    def access(
        self, site: AccessSite, space: Space, address: Any, size: int, how: How,
        words: Sequence[llvm.Value] = (), ordering: Ordering = PLAIN, swap: Swap | None = None,
    ) -> None:  # fmt: skip
        """Checks and records the active lanes' access before it is made; the access itself reports bad addresses.

        swap    which kind of compare-and-swap it is, if it is one
        """
        if self.recorder:
            self.recorder.access(site, space, address, size, swap if swap and space == "shared" else how)
        if space == "global" and self.footprint:
            self.footprint.access(site, address, size, how)
        if space == "global" and self.races:
            kept = words if how == "store" else ()
            routine = self.global_races.access(how, size, len(kept), ordering)
            thread = [site.env, site.block, site.warp, site.index]
            site.b.call(routine, [*thread, site.e.splat(address), site.mask, *kept])
        shared = space == "shared"
        if not (shared or space == "local") or not (self.init or (self.ordered and shared)):
            return
        b = site.b
        offset = site.offset(space, site.e.splat(address))
        where = [site.env, site.block, site.warp, site.index, offset, site.mask]
        if self.init:
            b.call(self._written(space, size, how), where)
        if self.ordered and shared:
            kept = words if how == "store" else ()
            b.call(self._ordered(size, how, len(kept), ordering), [*where, *kept])

    def mbarrier(self, site: AccessSite, address: Any, use: MbarrierUse) -> None:
        """Lanes initialize mbarriers, or arrive or wait at them."""
        if not self.asynchronous:
            self.access(site, "shared", address, 8, "store" if use == "init" else "atomic")
            return
        if self.recorder:
            self.recorder.access(site, "shared", address, 8, "atomic")
        how: How = "store" if use == "init" else "atomic"
        offset = site.offset("shared", site.e.splat(address))
        where = [site.env, site.block, site.warp, site.index, offset, site.mask]
        if self.init and use == "init":  # whether it was is found below
            site.b.call(self._written("shared", 8, how), where)
        site.b.call(self._ordered(self.unit, how, 0, PLAIN, use), where)  # its first unit stands for all

    def end_mbarrier(self, site: AccessSite, address: Any) -> None:
        """The memory of mbarriers may be used for something else."""
        offset = site.offset("shared", site.e.splat(address))
        units = site.b.lshr(offset, site.e.splat(i32(self.unit.bit_length() - 1)))
        site.b.call(self.shadow.end_mbarriers, [site.env, site.block, units, site.mask])

    def _ordered(
        self, size: int, how: How, words: int, ordering: Ordering, mbarrier: MbarrierUse = ""
    ) -> llvm.Function:
        """(env, block, warp, instruction, offsets, mask, words): checks the units that each lane accesses."""
        proxy = "" if ordering.proxy is None else f"_{ordering.proxy.name.lower()}"
        name = f"ordered_{'copy' if ordering.copies else how}{proxy}{mbarrier and '_mbarrier_'}{mbarrier}_{size}"
        if found := self.module.globals.get(name):
            return found
        touch = self.shadow.touch(how, ordering, mbarrier)
        made, code = function(self.module, name, VOID, [PTR, PTR, PTR, I32, V32, I32, *[V32] * words])
        env, block, warp, index, offsets, mask, *data = made.args
        b, step = code.b, self.unit
        values = [code.variable(V32, word) for word in data]
        shift = step.bit_length() - 1

        def lane_of(lane: llvm.Value) -> None:
            offset = b.extract_element(offsets, lane)
            thread = lane
            if ordering.proxy is not None:
                thread = code.load(WarpClocks, code.load(WarpState, warp, "order"), "issuer")
            inside = _inside(code, offset, size, code.load(WorkerEnv, env, "shared_bytes"))
            drivers = b.icmp_unsigned("<", b.zext(offset, I64), code.load(WorkerEnv, env, "reserved_bytes"))
            with code.when(b.and_(inside, b.not_(drivers))):
                first = b.lshr(offset, i32(shift))
                for k in range(max(size // step, 1)):
                    value = part_of(code, values, lane, k * step, step) if values else i32(0)
                    byte = b.add(offset, i32(k * step))
                    b.call(touch, [env, block, warp, index, thread, b.add(first, i32(k)), value, byte])

        code.each_bit(mask, lane_of)
        b.ret_void()
        return made

    def _written(self, space: Space, size: int, how: How) -> llvm.Function:
        """(env, block, warp, instruction, offsets, mask): reads check whether a byte was written, stores mark it."""
        name = f"written_{space}_{how}_{size}"
        if found := self.module.globals.get(name):
            return found
        made, code = function(self.module, name, VOID, [PTR, PTR, PTR, I32, V32, I32])
        env, block, warp, index, offsets, mask = made.args
        b = code.b
        space_bytes = code.load(WorkerEnv, env, f"{space}_bytes")
        warp_number = code.load(WarpState, warp, "index")
        kind = FindingKind.SHARED_UNWRITTEN if space == "shared" else FindingKind.LOCAL_UNWRITTEN
        first_lane = b.shl(warp_number, i32(5))

        def lane_of(lane: llvm.Value) -> None:
            offset = b.extract_element(offsets, lane)
            thread = b.or_(first_lane, lane)
            written = code.load(BlockState, block, f"written_{space}")
            if space == "local":
                written = code.at(written, b.mul(code.widened(thread), space_bytes))
            with code.when(_inside(code, offset, size, space_bytes)):
                place = code.at(written, b.zext(offset, I64))
                if how != "store":
                    for start in range(0, size, 4):
                        # Of a word some bytes are enough: padding is copied along with its structure.
                        chunk = llvm.IntType(8 * min(size, 4))
                        some = b.load(code.at(place, start), typ=chunk, align=1)
                        with code.when(b.not_(code.nonzero(some)), likely=False):
                            unwritten = EmittedFinding.of_one(kind, index, thread, b.add(offset, i32(start)))
                            emit_finding(code, env, block, unwritten)
                if how != "load":
                    ones = llvm.IntType(8 * size)
                    b.store(llvm.IRConstant(ones, (1 << 8 * size) // 255), place, align=1)

        code.each_bit(mask, lane_of)
        b.ret_void()
        return made

    # Blocks, barriers, reconvergence

    def start_block(self, code: StructuredBuilder, env: llvm.Value, block: llvm.Value) -> None:
        if self.ordered:
            self.shadow.start(code, env, block)
        if self.init:
            shared, local = (code.load(WorkerEnv, env, f"{space}_bytes") for space in ("shared", "local"))
            lanes = code.b.shl(code.b.zext(code.load(WorkerEnv, env, "warps"), I64), i64(5))
            for name, size in (("shared", shared), ("local", code.b.mul(local, lanes))):
                code.clear(code.load(BlockState, block, f"written_{name}"), size)
            first, ones = code.load(BlockState, block, "written_shared"), llvm.IRConstant(I64, 0x0101_0101_0101_0101)
            words = code.b.lshr(code.load(WorkerEnv, env, "reserved_bytes"), i64(3))
            code.each(words, lambda k: code.b.store(ones, code.at(first, code.b.shl(k, i64(3)))))

    def arrive(
        self,
        code: StructuredBuilder,
        env: llvm.Value,
        block: llvm.Value,
        warp: llvm.Value,
        arrival: BarrierArrival,
    ) -> None:
        """Lanes of a warp arrive at a block barrier."""
        b = code.b
        if self.barriers:
            with code.when(b.icmp_signed("!=", arrival.mask, arrival.live), likely=False):
                first = b.shl(code.load(WarpState, warp, "index"), i32(5))
                thread, arrived = b.or_(first, code.lowest(arrival.mask)), code.popcount(arrival.mask)
                found = EmittedFinding.of_one(FindingKind.PART_OF_A_WARP, arrival.instruction, thread, arrived)
                emit_finding(code, env, block, found)
        if self.ordered:
            b.call(self.shadow.arrive, [env, block, warp, arrival.barrier])

    def opened(
        self, code: StructuredBuilder, env: llvm.Value, block: llvm.Value, barrier: llvm.Value, need: llvm.Value
    ) -> None:
        """A barrier is complete; the waiting warps are still parked.  `need` is the count of the barrier."""
        b = code.b
        if self.barriers:
            with code.when(b.icmp_signed("==", need, i32(ALL_THREADS))):
                b.call(self._places, [env, block, barrier])
        if self.ordered:
            b.call(self.shadow.opened, [env, block, barrier])

    @cached_property
    def _places(self) -> llvm.Function:
        """(env, block, barrier): reports threads at a barrier of all threads that wait elsewhere or have exited."""
        made, code = function(self.module, "places_at_barrier", VOID, [PTR, PTR, I32])
        env, block, barrier = made.args
        b = code.b
        first, first_thread = code.variable(I32, i32(NO_PARTY)), code.variable(I32, i32(NO_PARTY))

        def of(warp: llvm.Value) -> None:
            def waits(n: llvm.Value) -> None:
                at = b.sub(b.and_(code.load(WarpState, warp, "parked_pc", n), i32(INSTRUCTION)), i32(1))
                start = b.shl(code.load(WarpState, warp, "index"), i32(5))
                thread = b.or_(start, code.lowest(code.load(WarpState, warp, "parked_mask", n)))
                here = b.icmp_signed("==", code.load(WarpState, warp, "parked_at", n), barrier)
                known = b.load(first, typ=I32)
                new = b.icmp_signed("==", known, i32(NO_PARTY))
                with code.when(b.and_(here, new)):
                    b.store(at, first)
                    b.store(thread, first_thread)
                with code.when(b.and_(here, b.and_(b.not_(new), b.icmp_signed("!=", at, known)))):
                    kind, earlier = i32(FindingKind.TWO_PLACES), b.load(first_thread, typ=I32)
                    emit_finding(code, env, block, EmittedFinding(kind, known, at, earlier, thread, i32(0)))

            code.each(code.load(WarpState, warp, "parked"), waits)

        each_warp(code, env, block, of)
        live = code.load(BlockState, block, "live")
        at, thread = b.load(first, typ=I32), b.load(first_thread, typ=I32)
        missing = b.icmp_signed("<", live, code.load(WorkerEnv, env, "threads"))
        with code.when(b.and_(missing, b.icmp_signed("!=", at, i32(NO_PARTY)))):
            emit_finding(code, env, block, EmittedFinding.of_one(FindingKind.OTHERS_HAVE_LEFT, at, thread, live))
        b.ret_void()
        return made

    def arrive_at_mbarrier(self, site: AccessSite, addresses: llvm.Value) -> None:
        """Lanes arrive at barriers in shared memory."""
        if self.ordered:
            site.b.call(self.shadow.arrive_at_mbarriers, [site.env, site.block, site.warp, addresses, site.mask])

    def complete_at_mbarrier(self, site: AccessSite, address: llvm.Value) -> None:
        """The bytes of a bulk copy arrive at a barrier in shared memory."""
        if self.ordered:
            site.b.call(self.shadow.complete, [site.env, site.block, site.warp, address])

    def wait_at_mbarrier(self, site: AccessSite, addresses: llvm.Value) -> None:
        """Lanes test whether a phase of an mbarrier is complete, and continue if it is."""
        if self.ordered:
            site.b.call(self.shadow.observe, [site.block, site.warp, addresses, site.mask])

    # Order between blocks, between proxies, asynchronous operations

    def fence(self, code: StructuredBuilder, env: llvm.Value, block: llvm.Value, warp: llvm.Value) -> None:
        """Memory accesses of the warp are visible to others before its later ones."""
        if self.races:
            code.b.call(self.global_races.release, [env, block, warp])

    def fence_proxy(self, code: StructuredBuilder, env: llvm.Value, warp: llvm.Value) -> None:
        """What the warp has written, and knows of, is visible to the async proxy."""
        if self.asynchronous:
            code.b.call(self.shadow.fence, [env, warp])

    def issue(
        self, code: StructuredBuilder, warp: llvm.Value, *, lane: llvm.Value | None = None,
        layout: llvm.Value | None = None,
    ) -> None:  # fmt: skip
        """The lane that issues the next accesses through the async proxy; their layout (a Layout)."""
        if self.asynchronous:
            order = code.load(WarpState, warp, "order")
            for name, value in (("issuer", lane), ("layout", layout)):
                if value is not None:
                    code.store(value, WarpClocks, order, name)

    def box(self, site: AccessSite, address: llvm.Value, swizzle: llvm.Value) -> None:
        """A box with a swizzle (0 to 3) lies at a shared address; its accesses follow."""
        if not self.asynchronous:
            return
        b, code = site.b, site.code
        self.issue(code, site.warp, layout=b.add(swizzle, i32(Layout.PLAIN)))
        within = b.and_(address, b.sub(b.shl(i32(SWIZZLED_ROWS * 16), swizzle), i32(1)))
        with code.when(code.nonzero(within), likely=False):
            order = code.load(WarpState, site.warp, "order")
            first = b.shl(code.load(WarpState, site.warp, "index"), i32(5))
            thread = b.or_(first, code.load(WarpClocks, order, "issuer"))
            offset = b.zext(b.extract_element(site.offset("shared", site.e.splat(address)), i32(0)), I64)
            value = b.or_(offset, b.shl(b.zext(b.add(swizzle, i32(Layout.PLAIN)), I64), i64(WRITTEN)))
            found = EmittedFinding.of_one(FindingKind.SWIZZLE_PLACE, site.index, thread, value)
            emit_finding(code, site.env, site.block, found)

    def commit(self, code: StructuredBuilder, warp: llvm.Value, kind: GroupKind) -> None:
        """The asynchronous operations of a kind so far are one group."""
        if self.ordered:
            self.shadow.commit(code, warp, kind)

    def wait_for(self, code: StructuredBuilder, warp: llvm.Value, kind: GroupKind, groups: int) -> None:
        """At most so many groups are pending."""
        if self.ordered:
            code.b.call(self.shadow.wait(kind), [warp, i32(groups)])

    def note_instruction(self, code: StructuredBuilder, warp: llvm.Value, kind: str, instruction: llvm.Value) -> None:
        """A warp executes an instruction that all of its warpgroup must (warpgroup_check.py)."""
        if self.asynchronous:
            warpgroup_check.note_instruction(code, warp, kind, instruction)

    def end_warp(self, code: StructuredBuilder, env: llvm.Value, block: llvm.Value, warp: llvm.Value) -> None:
        """A warp has ended."""
        if self.asynchronous:
            code.b.call(warpgroup_check.ended_routine(self.module), [env, block, warp])

    def reconverge(self, code: StructuredBuilder, warp: llvm.Value, lanes: llvm.Value) -> None:
        """Lanes of a warp have reconverged."""
        if self.ordered:
            code.b.call(self.shadow.join_lanes, [warp, lanes])


def _inside(code: StructuredBuilder, offset: llvm.Value, size: int, space_bytes: llvm.Value) -> llvm.Value:
    b = code.b
    return b.icmp_signed("<=", b.add(b.zext(offset, I64), i64(size)), space_bytes)

"""Race detector for global memory (--check races): finds accesses of a launch that nothing orders.

Every warp-wide access is an event: its block, warp, instruction, and the warp's clock and step (race_detector.py).
Every unit of global memory (a word; less where the kernel accesses less) records the event and lane of its last plain
write, its last strong write (atomic, volatile, release), and the last plain reads of two warps, of two blocks where it
can.

Clocks are readings of one counter of the launch.  Within a block the clocks that warps know of each other are those of
shared memory.  Between blocks, and for warps that meet only in global memory, a fence publishes what its warp knows of
its block (`released`), a strong write carries the reading of the counter, and its readers have `known` all that was
released until then, by any block: a scalar clock, where a vector clock of all warps of a grid would be too large.
So there are no false positives, while a race with a block that had released to a third one can be missed.
"""

from __future__ import annotations

import ctypes as c
from collections.abc import Sequence
from functools import cached_property

from warplens import llvm
from warplens.core.launch import Launch
from warplens.emulator.access.bounds_check import each_buffer_with
from warplens.emulator.codegen.structured_builder import StructuredBuilder, function, i32, i64
from warplens.emulator.codegen.vector_types import I8, I32, I64, PTR, vector
from warplens.emulator.instrument.findings import EmittedFinding, FindingKind, emit_finding
from warplens.emulator.instrument.race_state import (
    VOID,
    GlobalShadow,
    How,
    Ordering,
    WarpClocks,
    block_number,
    raise_to,
    tick,
)
from warplens.emulator.memory.buffer_pool import address, aligned, in_own_cache_lines
from warplens.emulator.memory.device_memory import DeviceMemory
from warplens.emulator.state.structs import INSTRUCTION, BufferRange, WarpState, WorkerEnv

V32, V64 = vector(I32), vector(I64)
EVENTS = 1 << 24  # the latest that are remembered, 16 bytes each; what was done earlier counts as in order
MOST_UNITS = 1 << 27  # that are watched, UNIT_BYTES each
MOST_BLOCKS = 1 << 20  # with a row of their own in `released`; further ones share them
WARP = 20  # bit of an event's tag; below it the instruction
PLAIN, STRONG, READ, READ_BEFORE = range(4)
UNIT_BYTES = 20  # four events and the lane of each


class GlobalAccessEvent(c.Structure):
    _fields_ = [("block", c.c_uint32), ("tag", c.c_uint32), ("clock", c.c_uint32), ("step", c.c_uint32)]


class GlobalMemory:
    """Global shadow memory of one launch; untouched pages take none."""

    def __init__(self, memory: DeviceMemory, launch: Launch, unit: int, heap: int | None) -> None:
        """heap: the number of the allocation from which malloc() serves; it is not watched, freed memory comes back."""
        buffers = [a for number, a in enumerate(memory.allocations) if number != heap and memory.watched_for_races(a)]
        self.record = in_own_cache_lines(GlobalShadow)
        base = buffers[0].address if buffers else 0
        size = buffers[-1].address + buffers[-1].size - base if buffers else 0
        units = min(-(-size // unit), MOST_UNITS)
        self.kept = [aligned(UNIT_BYTES * units + 64), aligned(c.sizeof(GlobalAccessEvent) * EVENTS)]
        self.kept.append(aligned(128 * min(launch.blocks, MOST_BLOCKS)))
        self.record.units, self.record.events, self.record.released = map(address, self.kept)
        self.record.base, self.record.bytes = base, units * unit
        end = base + units * unit
        self.unwatched = sum(min(a.size, max(a.address + a.size - end, 0)) for a in buffers)


class GlobalRaceDetector:
    """Global race detector: the routines of one module for global memory."""

    def __init__(self, module: llvm.IRModule, unit: int) -> None:
        self.module, self.unit = module, unit

    def access(self, how: How, size: int, words: int, ordering: Ordering) -> llvm.Function:
        """(env, block, warp, instruction, addresses, mask, words): before the accesses of these lanes."""
        name = f"global_{how}_{size}_{words}_{int(ordering.strong)}{int(ordering.acquires)}"
        if found := self.module.globals.get(name):
            return found
        made, code = function(self.module, name, VOID, [PTR, PTR, PTR, I32, V64, I32, *[V32] * words])
        _Access(self, code, made.args, how, size, ordering).build()
        return made

    @cached_property
    def release(self) -> llvm.Function:
        """release(env, block, warp): a fence publishes the clocks of the warp to later acquires."""
        made, code = function(self.module, "release_global", VOID, [PTR, PTR, PTR])
        env, block, warp = made.args
        order, shared = code.load(WarpState, warp, "order"), code.load(WorkerEnv, env, "races")
        clocks = code.field(WarpClocks, order, "clocks")
        raise_to(code, _released(code, shared, block_number(code, env, block)), code.b.load(clocks, typ=V32, align=4))
        tick(code, env, warp)
        code.b.ret_void()
        return made

    @cached_property
    def acquire(self) -> llvm.Function:
        """acquire(env, warp, event): what was released until this strong write is known; one so long ago that its event
        is overwritten acquires everything."""
        made, code = function(self.module, "acquire_global", VOID, [PTR, PTR, I32])
        env, warp, event = made.args
        b = code.b
        shared = code.load(WorkerEnv, env, "races")
        then = code.load(GlobalAccessEvent, _row(code, shared, event), "clock")
        clock = b.select(_remembered(code, shared, event), then, code.load(GlobalShadow, shared, "ticks"))
        place = code.field(WarpClocks, code.load(WarpState, warp, "order"), "known")
        known = b.load(place, typ=I32)
        b.store(b.select(b.icmp_unsigned(">", clock, known), clock, known), place)
        b.ret_void()
        return made

    def against(self, slot: int) -> llvm.Function:
        """against(env, block, warp, instruction, lane, unit, address, event, value, other_value, stores): a race with
        the event in this slot?  The values are those of the two where both store in one instruction."""
        name = f"against_{slot}"
        if found := self.module.globals.get(name):
            return found
        made, code = function(self.module, name, VOID, [PTR, PTR, PTR, I32, I32, PTR, I64, *[I32] * 4])
        env, block, warp, index, lane, unit, place, now, value, other_value, stores = made.args
        b = code.b
        shared, order = code.load(WorkerEnv, env, "races"), code.load(WarpState, warp, "order")
        event = _slot(code, unit, slot)
        with code.when(b.not_(_remembered(code, shared, event))):
            b.ret_void()
        row, other_lane = _row(code, shared, event), _lane(code, unit, slot)
        number, own = block_number(code, env, block), code.load(WarpState, warp, "index")
        other_block, tag, clock, step = (
            code.load(GlobalAccessEvent, row, name) for name in ("block", "tag", "clock", "step")
        )
        other = b.lshr(tag, i32(WARP))
        same_block = b.icmp_signed("==", other_block, number)
        same_warp = b.and_(same_block, b.icmp_signed("==", other, own))
        at_once = b.icmp_signed("==", event, now)
        seen = code.load(WarpClocks, order, "seen", b.or_(b.shl(lane, i32(5)), other_lane))
        near = b.or_(b.icmp_unsigned(">", seen, step), b.icmp_signed("==", lane, other_lane))
        far = b.and_(same_block, b.icmp_unsigned(">=", code.load(WarpClocks, order, "clocks", other), clock))
        known = b.icmp_unsigned("<=", clock, code.load(WarpClocks, order, "known"))
        if slot != STRONG:
            table = code.at(_released(code, shared, other_block), b.shl(other, i32(2)))
            known = b.and_(known, b.icmp_unsigned(">=", b.load(table, typ=I32), clock))
        with code.when(b.or_(b.select(same_warp, near, far), b.and_(known, b.not_(at_once)))):
            b.ret_void()
        between = b.select(same_block, i32(3), i32(4))
        rank = b.select(same_warp, b.select(at_once, i32(2), i32(1)), between)
        if slot == PLAIN:
            held = b.select(at_once, other_value, b.call(self._held, [env, place]))
            same = b.and_(code.nonzero(stores), b.icmp_signed("==", held, value))
            rank = b.select(same, i32(0), rank)
        first_thread, thread = (b.or_(b.shl(w, i32(5)), n) for w, n in ((other, other_lane), (own, lane)))
        first = b.and_(tag, i32(INSTRUCTION))
        kind = i32(FindingKind.GLOBAL_RACE)
        race = EmittedFinding(kind, first, index, first_thread, thread, place, rank, other_block)
        emit_finding(code, env, block, race)
        b.ret_void()
        return made

    @cached_property
    def _held(self) -> llvm.Function:
        """_held(env, address): the value of a unit of memory; 0 outside of the buffers, where the access will fault."""
        made, code = function(self.module, "held_global", I32, [PTR, I64])
        env, place = made.args
        b = code.b

        def visit(entry: llvm.Value, _: llvm.Value) -> None:
            host = b.inttoptr(b.add(place, code.load(BufferRange, entry, "delta")), PTR)
            content = b.load(host, typ=llvm.IntType(8 * self.unit), align=1)
            b.ret(content if self.unit == 4 else b.zext(content, I32))
            b.position_at_end(b.append_basic_block("further"))

        each_buffer_with(code, env, place, i64(self.unit), visit)
        b.ret(i32(0))
        return made

    @cached_property
    def read_by(self) -> llvm.Function:
        """read_by(env, block, warp, unit, event, lane): updates the reads that a unit records."""
        made, code = function(self.module, "read_global", VOID, [PTR, PTR, PTR, PTR, I32, I32])
        env, block, warp, unit, event, lane = made.args
        b = code.b
        shared, number = code.load(WorkerEnv, env, "races"), block_number(code, env, block)
        latest, before = (_slot(code, unit, slot) for slot in (READ, READ_BEFORE))
        row, older = (_row(code, shared, e) for e in (latest, before))
        same_block = b.icmp_signed("==", code.load(GlobalAccessEvent, row, "block"), number)
        own_warp = b.icmp_signed(
            "==", b.lshr(code.load(GlobalAccessEvent, row, "tag"), i32(WARP)), code.load(WarpState, warp, "index")
        )
        with code.when(b.not_(b.and_(same_block, own_warp))):
            elsewhere = b.icmp_signed("!=", code.load(GlobalAccessEvent, older, "block"), number)
            keeps = b.and_(b.and_(same_block, elsewhere), code.nonzero(before))
            with code.when(b.not_(keeps)):
                _remember(code, unit, READ_BEFORE, latest, _lane(code, unit, READ))
        _remember(code, unit, READ, event, lane)
        b.ret_void()
        return made


class _Access:
    """Emits the body of access()."""

    def __init__(
        self,
        races: GlobalRaceDetector,
        code: StructuredBuilder,
        given: Sequence[llvm.Value],
        how: How,
        size: int,
        ordering: Ordering,
    ) -> None:
        self.races, self.code, self.b = races, code, code.b
        self.how, self.size, self.strong, self.acquires = how, size, ordering.strong, ordering.acquires
        self.env, self.block, self.warp, self.index, self.addresses, self.mask, *data = given
        self.words = [code.variable(V32, word) for word in data]

    def build(self) -> None:
        code, b = self.code, self.b
        shared = code.load(WorkerEnv, self.env, "races")
        with code.when(b.icmp_signed("==", code.load(GlobalShadow, shared, "event"), i32(-1)), likely=False):
            b.ret_void()
        if self.strong and self.how != "load":
            tick(code, self.env, self.warp)
        order = code.load(WarpState, self.warp, "order")
        own = code.load(WarpState, self.warp, "index")
        code.bump(code.field(GlobalShadow, shared, "event"), 1, I32)
        self.event = code.load(GlobalShadow, shared, "event")
        row = _row(code, shared, self.event)
        now = {
            "block": block_number(code, self.env, self.block),
            "tag": b.or_(b.shl(own, i32(WARP)), self.index),
            "clock": code.load(WarpClocks, order, "clocks", own),
            "step": code.load(WarpClocks, order, "step"),
        }
        for name, value in now.items():
            code.store(value, GlobalAccessEvent, row, name)
        units, base, extent = (code.load(GlobalShadow, shared, name) for name in ("units", "base", "bytes"))
        shift, step = self.races.unit.bit_length() - 1, self.races.unit

        def lane_of(lane: llvm.Value) -> None:
            place = b.extract_element(self.addresses, lane)
            offset = b.sub(place, base)
            with code.when(b.icmp_unsigned("<", offset, extent)):
                first = code.at(units, b.mul(b.lshr(offset, i64(shift)), i64(UNIT_BYTES)))
                for k in range(max(self.size // step, 1)):
                    self._touch(lane, code.at(first, UNIT_BYTES * k), b.add(place, i64(k * step)), k * step)

        code.each_bit(self.mask, lane_of)
        b.ret_void()

    def _touch(self, lane: llvm.Value, unit: llvm.Value, place: llvm.Value, byte: int) -> None:
        code, b, stores = self.code, self.b, self.how == "store"
        slots = [PLAIN]
        if not self.strong:
            slots.append(STRONG)
        if self.how != "load":
            slots += [READ, READ_BEFORE]
        for slot in slots:
            with code.when(code.nonzero(_slot(code, unit, slot))):
                value: llvm.Value = i32(0)
                other: llvm.Value = i32(0)
                if stores and self.words and slot == PLAIN:
                    width = min(self.races.unit, self.size)
                    value = part_of(code, self.words, lane, byte, width)
                    other = part_of(code, self.words, _lane(code, unit, slot), byte, width)
                arguments = [self.env, self.block, self.warp, self.index, lane, unit, place, self.event]
                known = stores and bool(self.words)
                b.call(self.races.against(slot), [*arguments, value, other, i32(known)])
        if self.acquires:
            strong = _slot(code, unit, STRONG)
            with code.when(code.nonzero(strong)):
                b.call(self.races.acquire, [self.env, self.warp, strong])
        if self.how != "load":
            _remember(code, unit, STRONG if self.strong else PLAIN, self.event, lane)
        elif not self.strong:
            with b.if_else(code.nonzero(_slot(code, unit, READ))) as (again, first):
                with again:
                    b.call(self.races.read_by, [self.env, self.block, self.warp, unit, self.event, lane])
                with first:
                    _remember(code, unit, READ, self.event, lane)


def part_of(code: StructuredBuilder, words: Sequence[llvm.Value], lane: llvm.Value, byte: int, size: int) -> llvm.Value:
    """`size` bytes of what a lane stores, from a byte on."""
    b = code.b
    word = b.load(b.gep(words[byte // 4], [b.zext(lane, I64)], source_etype=I32), typ=I32)
    mask = (1 << 8 * size) - 1
    return b.and_(b.lshr(word, i32(8 * (byte % 4))), i32(mask))


def _row(code: StructuredBuilder, shared: llvm.Value, event: llvm.Value) -> llvm.Value:
    number = code.b.zext(code.b.and_(event, i32(EVENTS - 1)), I64)
    return code.at(code.load(GlobalShadow, shared, "events"), code.b.mul(number, i64(c.sizeof(GlobalAccessEvent))))


def _remembered(code: StructuredBuilder, shared: llvm.Value, event: llvm.Value) -> llvm.Value:
    age = code.b.sub(code.load(GlobalShadow, shared, "event"), event)
    return code.b.icmp_unsigned("<", age, i32(EVENTS))


def _released(code: StructuredBuilder, shared: llvm.Value, block: llvm.Value) -> llvm.Value:
    row = code.b.shl(code.b.zext(code.b.and_(block, i32(MOST_BLOCKS - 1)), I64), i64(7))
    return code.at(code.load(GlobalShadow, shared, "released"), row)


def _slot(code: StructuredBuilder, unit: llvm.Value, slot: int) -> llvm.Value:
    return code.b.load(code.at(unit, 4 * slot), typ=I32)


def _lane(code: StructuredBuilder, unit: llvm.Value, slot: int) -> llvm.Value:
    return code.b.zext(code.b.load(code.at(unit, 16 + slot), typ=I8), I32)


def _remember(code: StructuredBuilder, unit: llvm.Value, slot: int, event: llvm.Value, lane: llvm.Value) -> None:
    code.b.store(event, code.at(unit, 4 * slot))
    code.b.store(code.b.trunc(lane, I8), code.at(unit, 16 + slot))

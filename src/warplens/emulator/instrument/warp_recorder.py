"""Warp recorder: emits the recording of what each warp issues, in the format of trace_format.py."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from warplens import llvm
from warplens.emulator.access.coalescing import Access, CoalescingClassifier
from warplens.emulator.access.site import V32, V64, AccessSite
from warplens.emulator.codegen.emitter import LlvmEmitter
from warplens.emulator.codegen.structured_builder import StructuredBuilder, function, i32, i64
from warplens.emulator.codegen.vector_types import I32, I64, PTR
from warplens.emulator.instrument.race_state import How, Swap, block_number
from warplens.emulator.state import trace_format
from warplens.emulator.state.structs import WarpState, WorkerEnv
from warplens.isa.dsl.warp_interface import Space

VOID = llvm.VoidType()
SPACES: dict[Space, int] = {"global": trace_format.GLOBAL, "shared": trace_format.SHARED, "local": trace_format.LOCAL}
Recorded = How | Swap
SWAP_PASSES = 2  # wavefronts of each turn of a compare-and-swap (access/bounds_check.py)
LONGEST = 160  # words that one entry can take: an access of 16 bytes to local memory has 128 sectors


class Log(ctypes.Structure):
    """Log of a worker; words beyond its capacity are dropped, and counted in `used` all the same."""

    _fields_ = [("words", ctypes.c_void_p), ("used", ctypes.c_int64), ("room", ctypes.c_int64)]


class WarpRecorder:
    """Warp recorder: the recording routines of one module."""

    def __init__(self, module: llvm.IRModule) -> None:
        self.module = module
        self.count = CoalescingClassifier(module)

    def enter(
        self,
        code: StructuredBuilder,
        env: llvm.Value,
        block: llvm.Value,
        warp: llvm.Value,
        number: llvm.Value,
        mask: llvm.Value,
    ) -> None:
        """Lanes of mask begin a basic block."""
        code.b.call(self._enter, [env, block, warp, number, mask])

    @cached_property
    def _enter(self) -> llvm.Function:
        made, code = function(self.module, "record_enter", VOID, [PTR, PTR, PTR, I32, I32])
        env, block, warp, number, mask = made.args
        b = code.b
        of_warp = b.shl(code.load(WarpState, warp, "index"), i32(trace_format.WARP))
        place = block_number(code, env, block)
        log, words = self._open(code, env)
        for n, word in enumerate((b.or_(b.or_(number, of_warp), i32(trace_format.ENTER)), place, mask)):
            b.store(word, code.at(words, 4 * n))
        code.bump(code.field(Log, log, "used"), trace_format.ENTERED)
        b.ret_void()
        return made

    def _open(self, code: StructuredBuilder, env: llvm.Value) -> tuple[llvm.Value, llvm.Value]:
        """The log and the place of its next word; returns from the routine where it may be full."""
        b = code.b
        log = code.load(WorkerEnv, env, "log")
        used = code.load(Log, log, "used")
        full = b.icmp_signed(">", b.add(used, i64(LONGEST)), code.load(Log, log, "room"))
        with code.when(full, likely=False):
            code.bump(code.field(Log, log, "used"), LONGEST)
            b.ret_void()
        return log, code.at(code.load(Log, log, "words"), b.shl(used, i64(2)))

    def access(self, site: AccessSite, space: Space, address: Any, size: int, how: Recorded) -> None:
        """The active lanes of a memory instruction, before they are moved."""
        numbers = site.e.splat(address)
        if space != "global":
            numbers = site.offset(space, numbers)
        site.b.call(self._access(space, size, how), [site.env, site.index, numbers, site.mask])

    def table(
        self, code: StructuredBuilder, env: llvm.Value, number: llvm.Value, offsets: llvm.Value, mask: llvm.Value
    ) -> None:
        """Lanes of mask read words of a constant bank at offsets of their own."""
        code.b.call(self._table, [env, number, offsets, mask])

    @cached_property
    def _table(self) -> llvm.Function:
        made, code = function(self.module, "record_table", VOID, [PTR, I32, V32, I32])
        env, index, offsets, mask = made.args
        b = code.b
        log, words = self._open(code, env)
        places = b.lshr(offsets, LlvmEmitter(b).number(offsets, 2))
        different = b.shl(b.call(self.count.distinct, [places, mask]), i32(trace_format.DISTINCT))
        length = code.variable(I64, i64(trace_format.ACCESSED))

        def line(value: llvm.Value, _: llvm.Value) -> None:
            b.store(value, code.at(words, b.shl(b.load(length, typ=I64), i64(2))))
            code.bump(length)

        self.count.each_distinct(code, b.lshr(offsets, LlvmEmitter(b).number(offsets, 6)), mask, line)
        total = b.load(length, typ=I64)
        lines = b.shl(b.sub(b.trunc(total, I32), i32(trace_format.ACCESSED)), i32(trace_format.SECTORS))
        b.store(b.or_(b.or_(index, lines), i32(trace_format.TABLE << trace_format.SPACE)), words)
        b.store(b.or_(b.shl(code.popcount(mask), i32(trace_format.LANES)), different), code.at(words, 4))
        code.bump(code.field(Log, log, "used"), total)
        b.ret_void()
        return made

    def mbarrier(self, site: AccessSite, place: llvm.Value, number: llvm.Value, blocks: llvm.Value) -> None:
        """The active lanes change the mbarrier at an offset of shared memory, or wait for it (trace_format.py)."""
        site.b.call(self._mbarrier, [site.env, site.index, place, number, blocks, site.mask])

    @cached_property
    def _mbarrier(self) -> llvm.Function:
        return self._synchronization("record_mbarrier", trace_format.MBARRIER, trace_format.MBARRIER_WORDS)

    def barrier(
        self, code: StructuredBuilder, env: llvm.Value, index: llvm.Value, given: Sequence[llvm.Value], mask: llvm.Value
    ) -> None:
        """Lanes of mask arrive at a block barrier; given: its number, and the threads that it waits for or 0."""
        code.b.call(self._barrier, [env, index, *given, mask])

    @cached_property
    def _barrier(self) -> llvm.Function:
        return self._synchronization("record_barrier", trace_format.BARRIER, trace_format.BARRIER_WORDS)

    def _synchronization(self, name: str, space: int, count: int) -> llvm.Function:
        """(env, instruction, `count` numbers, mask): an entry with these numbers in place of sectors."""
        made, code = function(self.module, name, VOID, [PTR, *[I32] * (count + 2)])
        env, index, *numbers, mask = made.args
        log, words = self._open(code, env)
        head = code.b.or_(index, i32(space << trace_format.SPACE | count << trace_format.SECTORS))
        lanes = code.b.shl(code.popcount(mask), i32(trace_format.LANES))
        for n, word in enumerate((head, lanes, *numbers)):
            code.b.store(word, code.at(words, 4 * n))
        code.bump(code.field(Log, log, "used"), trace_format.ACCESSED + count)
        code.b.ret_void()
        return made

    def _begin(
        self, name: str, space: Space
    ) -> tuple[llvm.Function, StructuredBuilder, list[llvm.Value], tuple[llvm.Value, llvm.Value]]:
        """A routine for accesses: its code, [instruction, addresses or offsets, mask], and the log as of _open()."""
        made, code = function(self.module, name, VOID, [PTR, I32, V64 if space == "global" else V32, I32])
        env, *arguments = made.args
        return made, code, arguments, self._open(code, env)

    def _access(self, space: Space, size: int, how: Recorded) -> llvm.Function:
        """(env, instruction, addresses or offsets, mask)."""
        name = f"record_{space}_{size}_{how}"
        if found := self.module.globals.get(name):
            return found
        made, code, (index, places, mask), (log, words) = self._begin(name, space)
        b = code.b
        length = code.variable(I64, i64(trace_format.ACCESSED))

        near = self._slots(b, places) if space == "local" else b.trunc(places, V32) if space == "global" else places
        units = b.lshr(near, LlvmEmitter(b).number(near, max(size, 4).bit_length() - 1))
        passes, fullest, alike = (code.variable(I32, i32(0)) for _ in range(3))

        def sector(value: llvm.Value, lanes: llvm.Value) -> None:
            at = b.load(length, typ=I64)
            b.store(value, code.at(words, b.shl(at, i64(2))))
            code.bump(length)
            if how == "atomic":
                self._most_on_word(code, units, lanes, alike)
                now = b.load(alike, typ=I32)
                code.bump(passes, now, I32)
                b.store(code.intrinsic("umax", now, b.load(fullest, typ=I32)), fullest)

        if space == "global":
            sectors = b.trunc(b.lshr(places, LlvmEmitter(b).number(places, 5)), V32)
            self.count.each_distinct(code, sectors, mask, sector)
        elif space == "local":
            for word in range(max(size // 4, 1)):
                rows = b.add(b.lshr(near, LlvmEmitter(b).number(near, 5)), LlvmEmitter(b).splat(i32(4 * word)))
                self.count.each_distinct(code, rows, mask, sector)
        elif how in ("compare", "spin"):
            self.count.each_distinct(code, units, mask, sector)
        ways: Access = how
        waves = b.call(self.count.shared(4 if space == "local" else size, ways), [near, mask])
        if space == "local":
            waves = b.mul(waves, i32(max(size // 4, 1)))
        if how in ("compare", "spin"):
            waves = b.mul(waves, i32(SWAP_PASSES))
        different = b.call(self.count.distinct, [units, mask])
        lanes = b.shl(code.popcount(mask), i32(trace_format.LANES))
        second = b.or_(b.or_(waves, lanes), b.shl(different, i32(trace_format.DISTINCT)))
        for field, shift in ((passes, trace_format.PASSES), (fullest, trace_format.FULLEST)):
            second = b.or_(second, b.shl(b.load(field, typ=I32), i32(shift)))
        b.store(second, code.at(words, 4))
        total = b.load(length, typ=I64)
        head = b.or_(index, b.shl(b.sub(b.trunc(total, I32), i32(trace_format.ACCESSED)), i32(trace_format.SECTORS)))
        b.store(b.or_(head, i32(SPACES[space] << trace_format.SPACE)), words)
        code.bump(code.field(Log, log, "used"), total)
        b.ret_void()
        return made

    def _most_on_word(self, code: StructuredBuilder, units: llvm.Value, lanes: llvm.Value, most: llvm.Value) -> None:
        """Stores to `most` how many of these lanes access the same word, at most."""

        def word(_: llvm.Value, same: llvm.Value) -> None:
            code.b.store(code.intrinsic("umax", code.b.load(most, typ=I32), code.popcount(same)), most)

        code.b.store(i32(0), most)
        self.count.each_distinct(code, units, lanes, word)

    def _slots(self, b: llvm.IRBuilder, offset: llvm.Value) -> llvm.Value:
        """Byte offsets in the warp's local memory as the hardware lays it out: word w of lane l at (32 w + l) 4."""
        from warplens.emulator.access.site import iota

        word = b.lshr(offset, LlvmEmitter(b).number(offset, 2))
        slot = b.add(b.shl(word, LlvmEmitter(b).number(word, 5)), iota(1, I32))
        return b.shl(slot, LlvmEmitter(b).number(slot, 2))

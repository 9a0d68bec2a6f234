"""Memory operations: lowers loads, stores, atomics and asynchronous copies."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from types import ModuleType
from typing import Any

from warplens import llvm
from warplens.core.program import Address, Register
from warplens.emulator.access import access_emission, outlined
from warplens.emulator.access.async_copy import copy_routine
from warplens.emulator.access.atomic_access import (
    atomic_routine,
    compare_and_store_routine,
    note_mbarrier,
    update_routine,
)
from warplens.emulator.access.site import V32, AccessSite
from warplens.emulator.analysis.affine import AffineValue, HighWord
from warplens.emulator.codegen.structured_builder import i32, i64
from warplens.emulator.codegen.vector_types import I32, I64, is_vector
from warplens.emulator.instrument.race_state import Ordering, Swap
from warplens.emulator.lowering.instruction_context import InstructionPart
from warplens.emulator.state import abi
from warplens.emulator.state.counter_layout import COLUMNS, GENERIC_BYTES
from warplens.emulator.state.structs import BlockState, MbarrierChange, WarpState
from warplens.isa.barrier import after_bytes, replaced, unchanged
from warplens.isa.dsl.lanes import U32, U64, Pred
from warplens.isa.dsl.warp_interface import AtomicOperation, Data, Space, Update

CHANGES: dict[Update, MbarrierChange] = {replaced: MbarrierChange.INITIALIZED, after_bytes: MbarrierChange.COPIED}


class MemoryOps(InstructionPart):
    """Memory operations of the active lanes."""

    @property
    def _access(self) -> ModuleType:
        """Module that emits accesses: inline or outlined."""
        return outlined if self.f.t.large else access_emission

    def _site(self, mask: llvm.Value | None = None, space: Space = "global", counted: bool = True) -> AccessSite:
        """space: of a generic access, which one the lanes reach."""
        counters = self.f.row(self.at.index, space) if counted else self.code.variable(llvm.VectorType(I64, COLUMNS))
        active = self.c.active_mask if mask is None else mask
        windows = self.f.t.routines.windows
        index = self.f.number(self.at.index)
        together = mask is None and (self.condition is None or not is_vector(self.condition))
        return AccessSite(
            self.code, windows, self.f.env, self.f.block, self.f.warp, index, counters, active,
            tile=self.f.t.tile,
            hits=self.f.hit(self.at.index),
            usual=partial(self.f.t.usual, self.at.index),
            guarded=self.condition is not None,
            together=together,
            counted=self.f.t.watch.counts,
        )  # fmt: skip

    @property
    def _strong(self) -> bool:
        """Whether the instruction may poll other blocks."""
        modifiers = self.at.modifiers
        return "STRONG" in modifiers and "SM" not in modifiers

    def _register(self, register: Register | None) -> Any:
        return i32(0) if register is None else self.f.registers.word(register.file, register.index)

    def address(self, space: Space, at: Address) -> llvm.Value:
        """One address a lane: 64 bits in global and generic space, 32 in shared and local."""
        address: llvm.Value = self.e.splat(self.formed(space, at))
        return address

    def formed(self, space: Space, at: Address) -> Any:
        """The same, as a uniform or affine value where it is one."""
        wide = space in ("global", "generic")
        total = (self._wide_address(at) if wide else self._narrow_address(at)).node
        if isinstance(total, AffineValue):
            self.f.registers.trust(total)
            base, *steps = total.parts
            known = (self.e.scalar(U64 if wide else U32, base).node, *steps)
            return AffineValue(total.bits, known)
        return self.e.splat(total) if isinstance(total, HighWord) else total

    def _wide_address(self, at: Address) -> U64:
        total = U64(self.e, self.f.registers.number(I64, at.offset))
        if at.base is not None:
            low, high = self.f.registers.run(at.base, 2)
            total = total + (low.join(high) if at.wide else low.wide())
        if at.uniform is not None:
            low, high = self.f.registers.run(at.uniform, 2)
            total = total + low.join(high)
        return total

    def _narrow_address(self, at: Address) -> U32:
        total = self.c.u32(self.f.registers.number(I32, at.offset))
        if at.base is not None:
            total = total + self.c.u32(self._register(at.base)) * at.scale
        if at.uniform is not None:
            total = total + self.c.u32(self._register(at.uniform))
        return total

    def _windows(self, address: llvm.Value) -> list[tuple[Space, llvm.Value, bool]]:
        """Lanes of a generic access by space, and whether they count there: in the shared memory of another block of
        the cluster only as bytes (H200, ncu 2025.3.1, 2026-11-21)."""
        b = self.b
        high = b.trunc(b.lshr(address, self.e.number(address, 32)), V32)
        shared = b.bitcast(b.icmp_signed("==", high, self.e.splat(i32(abi.SHARED_WINDOW))), I32)
        local = b.bitcast(b.icmp_signed("==", high, self.e.splat(i32(abi.LOCAL_WINDOW))), I32)
        active = self.c.active_mask
        shared, local = b.and_(active, shared), b.and_(active, local)
        found: list[tuple[Space, llvm.Value, bool]] = [
            ("shared", shared, True),
            ("local", local, True),
            ("global", b.and_(active, b.not_(b.or_(shared, local))), True),
        ]
        if self.runtime.clustered:
            own = b.bitcast(self._of_this_block(address), I32)
            found[0] = "shared", b.and_(shared, own), True
            found.append(("shared", b.and_(shared, b.not_(own)), False))
        return found

    def _of_this_block(self, address: llvm.Value) -> llvm.Value:
        """Of generic addresses in the cluster's shared memory, those in this block's."""
        rank = self.b.lshr(self.b.trunc(address, V32), self.e.splat(i32(24)))
        return self.b.icmp_signed("==", rank, self.e.splat(self.code.load(BlockState, self.f.block, "rank")))

    def _near(self, address: llvm.Value, space: Space, mask: llvm.Value, size: int) -> llvm.Value:
        """Converts generic addresses to one space, and counts the distinct ones of the lanes that reach it."""
        b = self.b
        if self.f.t.watch.counts:
            low = b.trunc(b.lshr(address, self.e.number(address, size.bit_length() - 1)), V32)
            different = b.call(self.f.t.routines.count.distinct, [low, mask])
            self._site().add(GENERIC_BYTES, b.mul(b.zext(different, I64), i64(size)))
        return address if space == "global" else b.trunc(address, V32)

    def load(self, space: Space, at: Address, bytes: int, signed: bool = False, volatile: bool = False) -> Data:
        address = self.address(space, at) if space == "generic" else self.formed(space, at)
        routines, fault = self.f.t.routines, self.f.fault
        watch, ordering = self.f.t.watch, Ordering(self._strong, self._strong)
        if space != "generic":
            watch.access(self._site(), space, address, bytes, "load", ordering=ordering)
            if not watch.moves(space):
                one = self._site().together and space != "local" and self.e.is_scalar(address)
                return Data([self.c.u32(llvm.IRConstant(I32 if one else V32, None))] * max(bytes // 4, 1))
            words = self._access.load(routines, self._site(), space, address, bytes, signed, fault)
            return Data([self.c.u32(w) for w in words])
        total = [self.code.variable(V32, llvm.IRConstant(V32, None)) for _ in range(max(bytes // 4, 1))]
        for where, mask, counted in self._windows(address):
            with self.code.when(self.code.nonzero(mask)):
                near = self._near(address, where, mask, bytes)
                watch.access(self._site(mask), where, near, bytes, "load", ordering=ordering)
                if not watch.moves(where):
                    continue
                site = self._site(mask, where, counted)
                words = self._access.load(routines, site, where, near, bytes, signed, fault)
                for place, word in zip(total, words, strict=True):
                    old = self.b.load(place, typ=V32)
                    self.b.store(self.b.select(self.code.lanes(mask), word, old), place)
        return Data([self.c.u32(self.b.load(place, typ=V32)) for place in total])

    def store(self, space: Space, at: Address, data: Data, bytes: int) -> None:
        address = self.address(space, at) if space == "generic" else self.formed(space, at)
        routines, fault = self.f.t.routines, self.f.fault
        words = [self.e.splat(w.node) for w in data.words]
        watch = self.f.t.watch
        if space != "generic":
            watch.access(self._site(), space, address, bytes, "store", words, Ordering(self._strong))
            if watch.moves(space):
                self._access.store(routines, self._site(), space, address, words, bytes, fault)
            return
        for where, mask, counted in self._windows(address):
            with self.code.when(self.code.nonzero(mask)):
                near = self._near(address, where, mask, bytes)
                watch.access(self._site(mask), where, near, bytes, "store", words, Ordering(self._strong))
                if watch.moves(where):
                    site = self._site(mask, where, counted)
                    self._access.store(routines, site, where, near, words, bytes, fault)

    def _call_access(
        self, routine: llvm.Function, site: AccessSite, address: llvm.Value, words: Sequence[U32]
    ) -> llvm.Value:
        made = self.b.call(routine, [*site.common(), address, site.mask, *(self.e.splat(w.node) for w in words)])
        access_emission.return_on_fault(site, self.f.fault, self.b.append_basic_block("after"))
        return made

    def atomic(
        self, space: Space, at: Address, value: Data, operation: AtomicOperation, compare: Data | None = None
    ) -> Data:
        address = self.address(space, at)
        words = [*value.words, *(compare.words if compare else ())]
        count = len(value.words)
        total = [self.code.variable(V32, llvm.IRConstant(V32, None)) for _ in range(count)]
        windows = [(space, self.c.active_mask, True)] if space != "generic" else self._windows(address)
        for where, mask, counted in windows:
            if where == "local" or where != (operation.only or where):
                continue
            routine = atomic_routine(self.f.t.routines, where, operation, compare is not None)
            with self.code.when(self.code.nonzero(mask)):
                near = self._near(address, where, mask, 4 * count) if space == "generic" else address
                ordering = Ordering(strong=True, acquires=operation.returns)
                swap: Swap | None = "compare" if compare else None
                self.f.t.watch.access(
                    self._site(mask), where, near, 4 * count, "atomic", ordering=ordering, swap=swap
                )
                if self.f.t.watch.moves(where):
                    site = self._site(mask, where, counted)
                    self._keep(self._call_access(routine, site, near, words), mask, total)
        return Data([self.c.u32(self.b.load(place, typ=V32)) for place in total])

    def _nothing(self) -> U32:
        """Result of a load when no data is moved (trace recording)."""
        return self.c.u32(llvm.IRConstant(V32, None))

    def _keep(self, old: llvm.Value, mask: llvm.Value, total: Sequence[llvm.Value]) -> None:
        """Writes the words of a routine's result, in the lanes of a mask."""
        parts = [old] if len(total) == 1 else [self.b.extract_value(old, k) for k in range(len(total))]
        for place, part in zip(total, parts, strict=True):
            before = self.b.load(place, typ=V32)
            self.b.store(self.b.select(self.code.lanes(mask), part, before), place)

    def update(self, at: Address, value: U64, becomes: Update) -> U64:
        address = self.address("shared", at)
        watch = self.f.t.watch
        watch.mbarrier(self._site(), address, "init" if becomes is replaced else "use")
        first = self.b.extract_element(address, self.c.first_lane())
        if becomes is unchanged:
            self.code.store(first, WarpState, self.f.warp, "mbarrier")
        else:
            change = CHANGES.get(becomes, MbarrierChange.ARRIVED)
            note_mbarrier(self.code, self.f.block, first, self.f.number(self.at.index), change)
        if watch.recorder:
            number = self.b.extract_element(self.e.splat(value.low().node), self.c.first_lane())
            watch.recorder.mbarrier(self._site(), self.b.and_(first, i32(0xFF_FFFF)), number, i32(1))
        if becomes is unchanged:
            watch.wait_at_mbarrier(self._site(), address)
        elif becomes is not replaced:
            watch.arrive_at_mbarrier(self._site(), address)
        if not self.f.t.watch.moves("shared"):
            return self._nothing().join(self._nothing())
        routine = update_routine(self.f.t.routines, becomes)
        old = self._call_access(routine, self._site(), address, [value.low(), value.high()])
        low, high = (self.c.u32(self.b.extract_value(old, k)) for k in (0, 1))
        return low.join(high)

    def end_mbarrier(self, at: Address) -> None:
        if self.f.t.watch.asynchronous:
            self.f.t.watch.end_mbarrier(self._site(), self.address("shared", at))

    def compare_and_store(self, at: Address, compare: Data, value: Data, bytes: int) -> Pred:
        address = self.address("shared", at)
        self.f.t.watch.access(self._site(), "shared", address, bytes, "atomic", swap="spin")
        if not self.f.t.watch.moves("shared"):
            return self._nothing().ne(0)
        routine = compare_and_store_routine(self.f.t.routines, bytes)
        stored = self._call_access(routine, self._site(), address, [*compare.words, *value.words])
        return self.c.u32(stored).ne(0)

    def copy(self, to: Address, source: Address, bytes: int, *, reads: Pred, fills: bool, bypasses: bool) -> None:
        routine = copy_routine(self.f.t.routines, bytes, fills, bypasses)
        site, lanes = self._site(), self.b.bitcast(self.e.splat(reads.node), I32)
        places, start = self.address("shared", to), self.address("global", source)
        # Copied data is identified by its source address: two copies from one address write equal data.
        whence = [self.b.trunc(start, V32)] * (bytes // 4)
        self.f.t.watch.access(site, "shared", places, bytes, "store", whence, Ordering(copies=True))
        self.f.t.watch.access(self._site(self.b.and_(site.mask, lanes)), "global", start, bytes, "load")
        if not self.f.t.watch.moves("shared"):
            return
        sectors = self.b.call(routine, [*site.common(), start, site.mask, places, lanes])
        site.hit(sectors)
        access_emission.return_on_fault(site, self.f.fault, self.b.append_basic_block("after"))

    def _rows(self, matrices: int) -> AccessSite:
        return self._site(self.b.and_(self.c.active_mask, i32((1 << 8 * matrices) - 1)))

    def load_rows(self, at: Address, matrices: int) -> Data:
        routine = self.f.t.routines.gather("shared", 16, False, "matrix load")
        address = self.address("shared", at)
        self.f.t.watch.access(self._rows(matrices), "shared", address, 16, "load")
        if not self.f.t.watch.moves("shared"):
            return Data([self._nothing()] * 4)
        rows = self._call_access(routine, self._rows(matrices), address, [])
        return Data([self.c.u32(self.b.extract_value(rows, k)) for k in range(4)])

    def store_rows(self, at: Address, data: Data, matrices: int) -> None:
        routine = self.f.t.routines.scatter("shared", 16, "matrix store")
        address, words = self.address("shared", at), [self.e.splat(w.node) for w in data.words]
        self.f.t.watch.access(self._rows(matrices), "shared", address, 16, "store", words)
        if not self.f.t.watch.moves("shared"):
            return
        self._call_access(routine, self._rows(matrices), address, data.words)

    def is_in(self, space: Space, at: Address, own: bool = False) -> Pred:
        address = self.address("generic", at)
        high = self.c.u32(self.b.trunc(self.b.lshr(address, self.e.number(address, 32)), V32))
        shared, local = high.eq(abi.SHARED_WINDOW), high.eq(abi.LOCAL_WINDOW)
        if own and self.runtime.clustered:
            shared = shared & Pred(self.e, self._of_this_block(address))
        return {"shared": shared, "local": local}.get(space, ~(shared | local))

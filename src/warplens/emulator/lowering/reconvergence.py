"""Reconvergence: lowers BSSY, BSYNC, BREAK and WARPSYNC."""

from __future__ import annotations

from warplens import llvm
from warplens.core.program import Label, Register
from warplens.emulator.access.site import V32
from warplens.emulator.codegen.structured_builder import i32
from warplens.emulator.codegen.vector_types import I1, I32, I64, LANES, is_vector
from warplens.emulator.lowering.instruction_context import InstructionPart
from warplens.emulator.state.counter_layout import ON, REPLAYED, REPLAYS
from warplens.emulator.state.structs import COLLECTIVE, EARLIER, FULL_WARP, WARPSYNC, FaultKind
from warplens.isa.dsl.lanes import U32, Pred


class Reconvergence(InstructionPart):
    """Reconvergence of the active lanes."""

    # Convergence barriers.  A barrier register holds, in every lane, the mask of the lanes that it waits for.

    def set_barrier(self, barrier: Register) -> None:
        self._set_barrier(barrier, self.c.u32(self.c.mask), restored=False)

    def set_barrier_mask(self, barrier: Register, mask: U32) -> None:
        self._set_barrier(barrier, mask, restored=True)

    def _set_barrier(self, barrier: Register, mask: U32, restored: bool) -> None:
        code, warp, barriers, slot = self.code, self.f.warp, self.runtime.barriers, barrier.index
        if self.f.t.may_yield:
            lanes = self.c.first(mask).node
            if not restored:
                others = barriers.lanes(code, warp, slot)
                barriers.note_extended(code, warp, slot, code.nonzero(others))
                lanes = self.b.or_(others, lanes)
            barriers.set_lanes(code, warp, slot, lanes)
            barriers.set_skipped(code, warp, slot, 0)
        elif self.f.t.restores:
            self.f.registers.take_from(barrier, self.c.first(mask))
        else:
            self.f.registers.write(barrier, mask, self.c.active_lanes, self.condition)
        if self.f.t.restores:
            barriers.note_restored(code, warp, slot, llvm.IRConstant(I1, int(restored)))

    def barrier_mask(self, barrier: Register) -> U32:
        if self.f.t.may_yield:
            return self.c.u32(self.runtime.barriers.lanes(self.code, self.f.warp, barrier.index))
        return self.c.u32(self.f.registers.word("B", barrier.index))

    def reconverge(self, barrier: Register) -> None:
        if self.f.t.may_yield:
            self._reconverge_yielding(barrier)
            return
        masks = self.barrier_mask(barrier).node
        need = self.c.first(self.c.u32(masks)).node
        if self.f.place.whole:
            self._wait(barrier.index, need, barrier)
            return
        b, code, warp = self.b, self.code, self.f.warp
        if not self.f.t.restores:
            with code.when(self.runtime.stack.merged(code, warp), likely=False):
                self._keep_to(barrier, masks, need)
        self.c.mask = b.load(self.f.exec, typ=I32)
        with code.when(self._popped_stale(), likely=False):
            self.runtime.stack.clear_popped_stale(code, warp)
            self._rejoin(barrier, need)
        self._wait(barrier.index, need, barrier)

    def _popped_stale(self) -> llvm.Value:
        """Whether the split that issues this was popped from a stale slot, at this pc."""
        return self.runtime.stack.popped_stale(self.code, self.f.warp, self.f.number(self.c.next_index()))

    def _joined(self, barrier: Register, need: llvm.Value, place: llvm.Value) -> llvm.Value:
        """Lanes already waiting here, which join the split."""
        b, code = self.b, self.code
        joined = b.call(self.runtime.barriers.rejoin, [self.f.warp, i32(barrier.index), need, place])
        self.c.count(REPLAYED, b.zext(code.popcount(joined), I64))
        b.store(b.or_(b.load(self.f.exec, typ=I32), joined), self.f.exec)
        return joined

    def _rejoin(self, barrier: Register, need: llvm.Value) -> None:
        """Waiting lanes join a split popped from a stale slot, which issues the BSYNC with them."""
        b, code = self.b, self.code
        place = self.f.later(self.c.next_index(), self.c.mask)
        joined = self._joined(barrier, need, place)
        with code.when(code.nonzero(joined)):
            lanes = b.load(self.f.exec, typ=I32)
            on, wait = (b.append_basic_block(n) for n in ("on", "wait"))
            b.cbranch(self._are_all(lanes, need), on, wait)
            b.position_at_end(on)
            with code.when(code.nonzero(b.and_(self.c.mask, b.not_(need)))):
                self._issue_again(barrier.index, need, lanes)
            self.f.go_on_converted(self.c.next_index())
            b.position_at_end(wait)
            self._arrive(barrier.index, need, lanes, place)

    def _keep_to(self, barrier: Register, masks: llvm.Value, need: llvm.Value) -> None:
        """Lanes of a merged split that set the barrier at another time wait for their own mask."""
        b = self.b
        masks = self.e.splat(masks)
        lanes = b.bitcast(b.icmp_signed("==", masks, self.e.splat(need)), I32)
        rest = b.and_(self.c.mask, b.not_(lanes))
        with self.code.when(self.code.nonzero(rest)):
            needs = self.code.variable(V32, masks)
            place = self.f.later(self.c.next_index(), rest)
            arguments = [self.f.env, self.f.warp, i32(barrier.index), needs, rest, place]
            b.call(self.runtime.barriers.arrive_each, arguments)
            b.store(b.and_(self.c.mask, lanes), self.f.exec)

    def _reconverge_yielding(self, barrier: Register) -> None:
        """BSYNC in a kernel whose lanes may yield."""
        b, code, warp = self.b, self.code, self.f.warp
        if self.f.place.whole:
            self.runtime.barriers.set_lanes(code, warp, barrier.index, 0)
            self.f.go_on(self.c.next_index(), self.at.index)
            return
        place = self.f.later(self.c.next_index(), self.c.mask)
        need = self.runtime.barriers.lanes(code, warp, barrier.index)
        with code.when(self._popped_stale(), likely=False):
            self.runtime.stack.clear_popped_stale(code, warp)
            with code.when(code.nonzero(self._joined(barrier, need, place))):
                self.runtime.yields.mark_all_bypassable(code, warp)
        lanes = b.load(self.f.exec, typ=I32)
        left = b.call(self.runtime.bsync.arrive, [self.f.env, warp, i32(barrier.index), lanes, place])
        on, wait = (b.append_basic_block(n) for n in ("on", "wait"))
        b.cbranch(code.nonzero(left), on, wait)
        b.position_at_end(wait)
        b.branch(self.f.dispatch)
        b.position_at_end(on)
        b.store(left, self.f.exec)
        self._issue_again(barrier.index, need, left)
        self.f.go_on_converted(self.c.next_index())

    def _are_all(self, lanes: llvm.Value, need: llvm.Value) -> llvm.Value:
        """Whether these are all needed lanes that have not exited."""
        wanted = self.b.and_(need, self.b.not_(self.c.exited()))
        return self.b.icmp_signed("==", self.b.and_(lanes, wanted), wanted)

    def _arrive(self, slot: int, need: llvm.Value, lanes: llvm.Value, place: llvm.Value) -> None:
        """Suspends lanes at a slot; the warp's next split runs."""
        self.b.call(self.runtime.barriers.arrive, [self.f.env, self.f.warp, i32(slot), need, lanes, place])
        self.b.branch(self.f.dispatch)

    def _wait(self, slot: int, need: llvm.Value, barrier: Register | None = None) -> None:
        """The split continues if it has all needed lanes, else its lanes wait.

        barrier: of a BSYNC; lanes that restored it from a register reissue the BSYNC.
        """
        b = self.b
        on, wait = (b.append_basic_block(n) for n in ("on", "wait"))
        b.cbranch(self._are_all(self.c.mask, need), on, wait)
        b.position_at_end(wait)
        self._arrive(slot, need, self.c.mask, self.f.later(self.c.next_index(), self.c.mask))
        b.position_at_end(on)
        if slot in (WARPSYNC, FULL_WARP):
            self.f.t.watch.reconverge(self.code, self.f.warp, self.c.mask)
        if barrier is not None:
            self._issue_again(slot, need, self.c.mask)
        self.f.go_on(self.c.next_index(), self.at.index)

    def _issue_again(self, slot: int, need: llvm.Value, lanes: llvm.Value) -> None:
        """Lanes that restored a barrier from a register reissue its BSYNC, unless it is empty."""
        if not self.f.t.restores:
            return
        restored = self.runtime.barriers.restored(self.code, self.f.warp, i32(slot))
        with self.code.when(self.b.and_(restored, self.code.nonzero(need)), likely=False):
            self.runtime.barriers.replay(self.code, self.f.env, self.f.number(self.at.index), lanes)

    def leave(self, barrier: Register, when: Pred | None = None) -> None:
        b = self.b
        lanes = self.c.active_mask
        if when is not None:
            lanes = b.and_(lanes, b.bitcast(self.e.splat(when.node), I32))
            self.c.count(ON, b.zext(self.code.popcount(lanes), I64))
        staying = self.barrier_mask(barrier) & self.c.u32(b.not_(lanes))
        if self.f.t.may_yield:
            self.runtime.barriers.set_lanes(self.code, self.f.warp, barrier.index, staying.node)
        else:
            self.f.registers.take_from(barrier, staying)
        if not self.f.place.whole:
            before = self.runtime.stack.count(self.code, self.f.warp)
            b.call(self.runtime.splits.leave, [self.f.env, self.f.warp, i32(barrier.index), lanes])
            released = b.icmp_signed(">", self.runtime.stack.count(self.code, self.f.warp), before)
            with self.code.when(released, likely=False):
                self._after_released(before)
        self.f.go_on(self.c.next_index(), self.at.index)

    def _after_released(self, before: llvm.Value) -> None:
        """Released lanes diverge from the split that released them, as at a branch: the slot below becomes stale, and
        the smaller split runs first.

        Without the stale slot, lanes of `jumps` and `sudoku_rows` that reach one place in succession merged: 2 BSYNC
        of 161,006 and 651,969 issues more than on an H200 (tests/validation: odd, strangers).
        """
        b, code, warp, stack = self.b, self.code, self.f.warp, self.runtime.stack
        stack.mark_stale(code, warp, b.lshr(code.bit(before), i32(1)))
        pc, mask = stack.top(code, warp)
        with code.when(b.icmp_signed("<", code.popcount(mask), code.popcount(self.c.mask))):
            stack.replace_top(code, warp, self.f.later(self.c.next_index(), self.c.mask), self.c.mask)
            b.call(stack.push, [warp, pc, mask])
            b.branch(self.f.dispatch)

    def converge(self, mask: U32 | None) -> None:
        self._diverge_guarded()
        if mask is not None:
            self._in_own_mask(mask)
            self._wait(WARPSYNC, self.c.first(mask).node)
        else:
            self._wait(FULL_WARP, self.f.first_mask())

    def converge_by_mask(self, mask: U32) -> None:
        self._diverge_guarded()
        self._in_own_mask(mask)
        self._wait_by_mask(WARPSYNC, mask)

    def _wait_by_mask(self, slot: int, mask: U32) -> None:
        """Each lane waits for the lanes of its own mask; every distinct mask takes an issue."""
        self.f.diverged = True
        needs = self.code.variable(V32, self.e.splat(mask.node))
        place = self.f.later(self.c.next_index(), self.c.mask)
        self.c.count_targets(self.e.splat(mask.node))
        arguments = [self.f.env, self.f.warp, i32(slot), needs, self.c.mask, place]
        self.c.count(REPLAYED, self.b.call(self.runtime.barriers.arrive_each, arguments))
        self.b.branch(self.f.dispatch)

    def _in_own_mask(self, mask: U32) -> None:
        """Lanes must be in their own mask: an H200 raises "illegal instruction" for others."""
        own_bit = llvm.IRConstant(V32, [1 << lane for lane in range(LANES)])
        missing = self.c.u32(self.e.splat(mask.node)) & self.c.u32(own_bit)
        outside = self.b.bitcast(missing.eq(0).node, I32)
        self.f.fault_if(self.b.and_(outside, self.c.mask), FaultKind.WRONG_LANES, self.at)

    def collect(self, mask: U32, target: Label) -> None:
        place = self.runtime.barriers.collective_pc(self.code, self.f.warp)
        old = self.b.load(place, typ=V32, align=4)
        back = self.f.later(target.offset // 16, self.c.mask)
        if self.f.t.may_yield:
            old = self.b.or_(old, self.e.splat(i32(EARLIER)))
        there = self.e.splat(back)
        self.b.store(self.b.select(self.c.active_lanes, there, old), place, align=4)
        if is_vector(mask.node):
            self._wait_by_mask(COLLECTIVE, mask)
        else:
            self._wait(COLLECTIVE, self.c.first(mask).node)

    def end_collective(self) -> None:
        b = self.b
        place = self.runtime.barriers.collective_pc(self.code, self.f.warp)
        places = b.load(place, typ=V32, align=4)
        if self.f.t.may_yield:
            self._end_yielding(places, place)
            return
        away = b.bitcast(b.icmp_signed("!=", places, self.e.splat(self.f.number(self.c.next_index()))), I32)
        different = b.call(self.f.t.routines.count.distinct, [places, self.c.mask])
        self.c.count(REPLAYS, b.zext(b.sub(different, i32(1)), I64))
        self.c.count(REPLAYED, b.zext(self.code.popcount(b.and_(away, self.c.mask)), I64))
        b.call(self.runtime.stack.push_groups, [self.f.warp, self.c.mask, place])
        b.branch(self.f.dispatch)

    def _end_yielding(self, places: llvm.Value, place: llvm.Value) -> None:
        """The lanes that arrived last continue alone; those that waited take another issue."""
        b = self.b
        earlier = b.and_(b.bitcast(b.icmp_signed(">=", places, self.e.splat(i32(EARLIER))), I32), self.c.mask)
        different = b.call(self.f.t.routines.count.distinct, [places, self.c.mask])
        self.c.count(REPLAYS, b.zext(b.sub(different, i32(1)), I64))
        self.c.count(REPLAYED, b.zext(self.code.popcount(earlier), I64))
        b.call(self.runtime.stack.push_groups, [self.f.warp, self.c.mask, place])
        b.branch(self.f.dispatch)

    def _diverge_guarded(self) -> None:
        """Lanes whose guard is false diverge; the rest waits."""
        if self.condition is None:
            return
        if not is_vector(self.condition):
            self.c.skip_unless(self.condition)
            return
        self.f.diverged = True
        b = self.b
        lanes = self.c.active_mask
        rest = b.and_(self.c.mask, b.not_(lanes))
        with self.code.when(self.code.nonzero(rest)):
            b.call(self.runtime.stack.push_and_stale, [self.f.warp, self.f.later(self.c.next_index(), rest), rest])
        b.store(lanes, self.f.exec)
        self.c.mask = lanes
        some, none = (b.append_basic_block(n) for n in ("some", "none"))
        b.cbranch(self.code.nonzero(lanes), some, none)
        b.position_at_end(none)
        b.branch(self.f.dispatch)
        b.position_at_end(some)

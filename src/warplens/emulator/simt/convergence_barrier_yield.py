"""BSYNC with yields or crossed lanes (waiting for each other at two barriers): which lanes pass, and which are skipped.

Measured with two to eight groups of lanes in 28 kernels (H200, measurements/h200/turns.csv and yielding.csv):

- A barrier is one register of the warp.  BSSY adds its lanes; passing a BSYNC empties it.  Lanes without which it was
  passed are skipped: it still waits for them until they run again, or another BSSY names the barrier.
- At a BSYNC lanes outside the barrier pass.  Those in it pass if the others wait, at any instruction; or without the
  bypassable ones, if all that could run are bypassable and all lanes of the split are in the barrier.
- A BSYNC passed without some lanes resumes the lane that has the turn after them.  If it yielded it is no longer
  bypassable, so the next BSYNC waits for it.  If it waits at another BSYNC and was skipped, all that wait with it
  reissue that BSYNC, and wait for the lane that has the turn then; if it was not skipped, or waits at a WARPSYNC, no
  BSYNC elsewhere is passed without lanes until it has run (`turn_pending`).
- The turn's lane also stops being bypassable when a waiting split is replaced by one that yielded; when several
  pass and one of them had the turn; and when lanes outside the barrier pass while others are missing and lanes yielded
  at more than one pc.  If then none is missing, all yielded lanes are bypassable again; also when lanes of a stale
  split resume together with others that wait.
- Lanes that pass a BSYNC reissue it if several BSSY have added to its barrier and all that waited for it did so there;
  or if others are missing and the turn's lane waits there and was resumed (stopped being bypassable) since it arrived;
  so do released lanes.  That gives the counts of 669 of 684 warps of 19 kernels (yielding_counts.csv).
"""

from __future__ import annotations

from functools import cached_property

from warplens import llvm
from warplens.emulator.codegen.structured_builder import StructuredBuilder, function, i32
from warplens.emulator.codegen.vector_types import I1, I32, PTR
from warplens.emulator.simt.convergence_barrier import ConvergenceBarriers
from warplens.emulator.simt.lane_arrays import suspended_at
from warplens.emulator.simt.simt_stack import SimtStack
from warplens.emulator.simt.yielded_lanes import YieldedLanes
from warplens.emulator.state.structs import INSTRUCTION, ISSUES_AGAIN, WAIT_SLOTS, WARPSYNC, WarpState


class YieldingBsync:
    """BSYNC with yields: stateless; emits each of its functions on first use."""

    def __init__(self, stack: SimtStack, yields: YieldedLanes, barriers: ConvergenceBarriers) -> None:
        self.module = stack.module
        self.stack = stack
        self.yields = yields
        self.barriers = barriers

    @cached_property
    def arrive(self) -> llvm.Function:
        """bsync(env, warp, slot, mask, pc) -> those of mask that pass at once, to `pc`; the others wait, or are ready
        with those that they waited for."""
        made, code = function(self.module, "bsync", I32, [PTR, PTR, I32, I32, I32])
        env, warp, slot, mask, pc = made.args
        b, yields, barriers = code.b, self.yields, self.barriers
        need = barriers.needed(code, warp, slot)
        barriers.suspend(code, warp, mask, pc, need)
        inside, outside = b.and_(mask, need), b.and_(mask, b.not_(need))
        missing = self._missing(code, warp, need, mask)
        any_missing = code.nonzero(missing)
        with code.when(b.icmp_signed("==", inside, i32(0))):
            with code.when(yields.several_pcs(code, warp)), b.if_else(any_missing) as (some, none):
                with some:
                    yields.mark_resumed(code, warp)
                with none:
                    yields.mark_all_bypassable(code, warp)
            b.ret(mask)
        waiting = barriers.waiting_at(code, warp, slot)
        could_run = b.or_(self.stack.lanes(code, warp), yields.yielded(code, warp))
        present = b.and_(b.or_(missing, could_run), b.not_(yields.bypassable(code, warp)))
        elsewhere = b.and_(barriers.waiting(code, warp, WAIT_SLOTS), b.not_(waiting))
        pending = b.and_(yields.turn_pending(code, warp), elsewhere)
        passes = b.icmp_signed("==", b.or_(outside, b.or_(present, pending)), i32(0))
        with code.when(b.and_(any_missing, b.not_(passes))):
            barriers.wait(code, warp, slot, inside)
            b.ret(outside)
        first = b.and_(waiting, code.bit(yields.turn(code, warp)))
        turn_waits, resumed = code.nonzero(first), code.nonzero(b.and_(first, yields.resumed(code, warp)))
        released = b.and_(waiting, need)
        one_pc = b.icmp_signed("==", b.and_(released, b.not_(suspended_at(code, warp, pc))), i32(0))
        extended = barriers.extended(code, warp, slot)
        lanes = b.or_(mask, released)
        several = b.icmp_signed("!=", lanes, mask)
        self._passed(code, warp, slot, need, lanes)
        with code.when(b.or_(b.and_(any_missing, resumed), b.and_(extended, one_pc))):
            barriers.replay(code, env, b.sub(b.and_(pc, i32(INSTRUCTION)), i32(1)), lanes)
        with code.when(several):
            yields.pass_turn(code, warp, lanes)
        with code.when(any_missing):
            self._resume_turn(code, warp, need)
        with code.when(b.and_(turn_waits, b.not_(any_missing))):
            yields.mark_resumed(code, warp)
        with code.when(several):
            barriers.push_resumed(code, warp, lanes)
        b.ret(b.select(several, i32(0), mask))
        return made

    def _resume_turn(self, code: StructuredBuilder, warp: llvm.Value, need: llvm.Value) -> None:
        """A barrier was passed without some of its lanes: the turn's lane is no longer bypassable; if it waits at
        another BSYNC and is one of them, all that wait there reissue that BSYNC."""
        b, barriers = code.b, self.barriers
        turn = self.yields.turn(code, warp)
        now = code.bit(turn)
        waits = b.and_(now, barriers.waiting(code, warp))
        with b.if_else(code.nonzero(b.and_(waits, need))) as (again, back):
            with again:
                pc = code.load(WarpState, warp, "resume_pc", turn)

                def at(slot: llvm.Value) -> None:
                    waiting = barriers.waiting_at(code, warp, slot)
                    with code.when(code.nonzero(b.and_(waiting, now))):
                        same = suspended_at(code, warp, pc)
                        barriers.wait_no_longer(code, warp, slot, same)
                        number = b.add(b.mul(slot, i32(2 * ISSUES_AGAIN)), i32(ISSUES_AGAIN))
                        b.call(self.stack.push, [warp, b.add(pc, number), b.and_(waiting, same)])

                code.each(i32(WARPSYNC), at)
            with back:
                self.yields.mark_pending(code, warp, barriers.waiting(code, warp, WAIT_SLOTS))

    @cached_property
    def issue_again(self) -> llvm.Function:
        """issue_again(env, warp, pc): the popped split reissues the BSYNC before its pc; it waits there for the turn's
        lane, or passes.  Returns the lanes that pass."""
        made, code = function(self.module, "issue_again", I32, [PTR, PTR, I32])
        env, warp, pc = made.args
        b = code.b
        lanes = code.load(WarpState, warp, "exec")
        place = b.and_(pc, i32(ISSUES_AGAIN - 1))
        self.yields.mark_pending(code, warp, self.barriers.waiting(code, warp, WAIT_SLOTS))
        self.barriers.replay(code, env, b.sub(b.and_(place, i32(INSTRUCTION)), i32(1)), lanes)
        slot = b.udiv(pc, i32(2 * ISSUES_AGAIN))
        b.ret(b.call(self.arrive, [env, warp, slot, lanes, place]))
        return made

    def _missing(self, code: StructuredBuilder, warp: llvm.Value, need: llvm.Value, here: llvm.Value) -> llvm.Value:
        """Needed lanes that are not here, not waiting at any instruction, and not exited."""
        b = code.b
        waiting = self.barriers.waiting(code, warp, WAIT_SLOTS)
        return b.and_(need, b.not_(b.or_(b.or_(waiting, code.load(WarpState, warp, "exited")), here)))

    def _passed(
        self, code: StructuredBuilder, warp: llvm.Value, slot: llvm.Value, need: llvm.Value, lanes: llvm.Value
    ) -> None:
        """Releases these lanes and empties the barrier; its other lanes are skipped until they run again."""
        self.barriers.set_lanes(code, warp, slot, 0)
        self.barriers.set_skipped(code, warp, slot, code.b.and_(need, code.b.not_(lanes)))
        self.barriers.wait_no_longer(code, warp, slot, lanes)

    @cached_property
    def release(self) -> llvm.Function:
        """release(env, warp, slot, bypassable) -> whether lanes waiting at this BSYNC resume: if all others in it wait
        or are bypassable; they then reissue it."""
        made, code = function(self.module, "release", I1, [PTR, PTR, I32, I32])
        env, warp, slot, bypassable = made.args
        b, barriers = code.b, self.barriers
        need = barriers.needed(code, warp, slot)
        lanes = b.and_(barriers.waiting_at(code, warp, slot), b.select(code.nonzero(need), need, i32(-1)))
        missing = self._missing(code, warp, need, bypassable)
        over = b.and_(code.nonzero(lanes), b.icmp_signed("==", missing, i32(0)))
        with code.when(over):
            self._passed(code, warp, slot, need, lanes)
            pc = b.and_(code.load(WarpState, warp, "resume_pc", code.lowest(lanes)), i32(INSTRUCTION))
            barriers.replay(code, env, b.sub(pc, i32(1)), lanes)
            barriers.push_resumed(code, warp, lanes)
        b.ret(over)
        return made

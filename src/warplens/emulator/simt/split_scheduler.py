"""Split scheduler: selects the split of a warp that runs next; effects of YIELD, EXIT and BREAK.

The top of the SIMT stack runs next.  If the stack is empty, lanes are searched round robin from the turn's lane: all
that yielded at one pc together, or those that wait at a BSYNC for bypassable lanes only.  The turn advances with every
popped split, to the next lane that does not run.  docs/reconvergence.md has all rules.
"""

from __future__ import annotations

from functools import cached_property

from warplens import llvm
from warplens.emulator.codegen.structured_builder import StructuredBuilder, function, i32
from warplens.emulator.codegen.vector_types import I1, I32, PTR
from warplens.emulator.simt.convergence_barrier import ConvergenceBarriers
from warplens.emulator.simt.convergence_barrier_yield import YieldingBsync
from warplens.emulator.simt.lane_arrays import suspended_at
from warplens.emulator.simt.simt_stack import VOID, SimtStack
from warplens.emulator.simt.yielded_lanes import YieldedLanes
from warplens.emulator.state.structs import INSTRUCTION, ISSUES_AGAIN, WAIT_SLOTS, WARPSYNC, WarpState

TRUE, FALSE = llvm.IRConstant(I1, 1), llvm.IRConstant(I1, 0)


class SplitScheduler:
    """Split scheduler: stateless; emits each of its functions on first use.

    may_yield  whether lanes may yield: else yields and bsync are not used
    """

    def __init__(
        self, stack: SimtStack, yields: YieldedLanes, barriers: ConvergenceBarriers, bsync: YieldingBsync,
        may_yield: bool,
    ) -> None:  # fmt: skip
        self.module = stack.module
        self.stack = stack
        self.yields = yields
        self.barriers = barriers
        self.bsync = bsync
        self.may_yield = may_yield

    # The next split

    @cached_property
    def next_split(self) -> llvm.Function:
        """next_split(env, warp): pops the split that runs next, mask to warp.exec; its pc, or -1 if there is none."""
        made, code = function(self.module, "next_split", I32, [PTR, PTR], inline=True)
        env, warp = made.args
        if self.may_yield:
            code.loop(lambda: TRUE, lambda: self._pop_or_reissue(code, env, warp))
            code.b.ret(i32(-1))
        else:
            self._return_if_empty(code, warp)
            code.b.ret(self._pop(code, warp))
        return made

    def _return_if_empty(self, code: StructuredBuilder, warp: llvm.Value) -> None:
        with code.when(code.b.icmp_signed("==", self.stack.count(code, warp), i32(0)), likely=False):
            code.b.ret(i32(-1))

    def _pop(self, code: StructuredBuilder, warp: llvm.Value) -> llvm.Value:
        """Pops the stack; a split from a stale slot runs with all lanes that are ready at its pc."""
        pc, stale = self.stack.pop(code, warp)
        with code.when(stale, likely=False):
            self.stack.gather_stale(code, warp, pc)
            if self.may_yield:
                self.yields.gather(code, warp, pc)
        return pc

    def _pop_or_reissue(self, code: StructuredBuilder, env: llvm.Value, warp: llvm.Value) -> None:
        """Returns the popped split; one that reissues its BSYNC may wait there instead."""
        b = code.b
        before = code.load(WarpState, warp, "exec")
        turned = self._take_turn_if_empty(code, env, warp)
        self._return_if_empty(code, warp)
        pc = self._pop(code, warp)
        lanes = code.load(WarpState, warp, "exec")
        self.yields.taken(code, warp, lanes)
        self.barriers.clear_skipped(code, warp, lanes)
        stays = code.nonzero(b.and_(before, b.not_(code.load(WarpState, warp, "exited"))))
        with code.when(b.and_(turned, stays)):
            self.yields.mark_resumed(code, warp)
        with code.when(b.not_(code.nonzero(b.and_(pc, i32(ISSUES_AGAIN)))), likely=True):
            b.ret(pc)  # also of a system call, whose pc lies after all code
        lanes = b.call(self.bsync.issue_again, [env, warp, pc])
        with code.when(code.nonzero(lanes)):
            code.store(lanes, WarpState, warp, "exec")
            b.ret(b.and_(pc, i32(ISSUES_AGAIN - 1)))

    def _take_turn_if_empty(self, code: StructuredBuilder, env: llvm.Value, warp: llvm.Value) -> llvm.Value:
        """If the stack is empty, tries lanes that yielded or wait at a BSYNC; whether any became ready."""
        b = code.b
        lanes = self.yields.yielded(code, warp)
        empty = b.icmp_signed("==", self.stack.count(code, warp), i32(0))
        turned = b.and_(empty, code.nonzero(b.or_(lanes, self.barriers.waiting(code, warp))))
        with code.when(turned):
            b.call(self._take_turn, [env, warp, lanes, i32(0)])
        return turned

    @cached_property
    def _take_turn(self) -> llvm.Function:
        """take_turn(env, warp, resting, coming) -> whether lanes were made ready: from the turn on, lanes that yielded
        and are in `resting`, or that wait at a BSYNC and may be released.

        Lanes that wait at a WARPSYNC and have the turn reissue it, in vain; the lanes now yielding (`coming`) may
        be next.
        """
        made, code = function(self.module, "take_turn", I1, [PTR, PTR, I32, I32])
        env, warp, resting, coming = made.args
        b, stack, yields, barriers = code.b, self.stack, self.yields, self.barriers
        bypassable = yields.bypassable(code, warp)
        rest = code.variable(I32, resting)
        left = code.variable(I32, b.or_(resting, barriers.waiting(code, warp, WAIT_SLOTS)))

        def look() -> None:
            lanes = b.load(left, typ=I32)
            lane = yields.first_from(code, yields.turn(code, warp), lanes)
            with code.when(code.nonzero(b.and_(b.load(rest, typ=I32), code.bit(lane)))):
                slot = code.bit(stack.count(code, warp))
                b.call(stack.push, [warp, code.load(WarpState, warp, "resume_pc", lane), code.bit(lane)])
                stack.mark_stale(code, warp, slot)  # all lanes at its pc run with it
                yields.set_turn(code, warp, lane)
                b.ret(TRUE)

            def at(slot: llvm.Value) -> None:
                waiting = barriers.waiting_at(code, warp, slot)
                with code.when(code.nonzero(b.and_(waiting, code.bit(lane)))):
                    with code.when(b.call(self.bsync.release, [env, warp, slot, bypassable])):
                        b.ret(TRUE)
                    b.store(b.and_(b.load(left, typ=I32), b.not_(waiting)), left)

            code.each(i32(WARPSYNC), at)
            for sync in range(WARPSYNC, WAIT_SLOTS):
                waiting = barriers.waiting_at(code, warp, sync)
                with code.when(code.nonzero(b.and_(waiting, code.bit(lane)))):
                    pc = code.load(WarpState, warp, "resume_pc", lane)
                    group = b.and_(waiting, suspended_at(code, warp, pc))
                    barriers.replay(code, env, b.sub(b.and_(pc, i32(INSTRUCTION)), i32(1)), group)
                    yields.pass_turn(code, warp, group)
                    b.store(b.or_(b.load(rest, typ=I32), coming), rest)
                    b.store(b.or_(b.and_(b.load(left, typ=I32), b.not_(group)), coming), left)

        code.loop(lambda: code.nonzero(b.load(left, typ=I32)), look)
        b.ret(FALSE)
        return made

    # YIELD

    @cached_property
    def has_others(self) -> llvm.Function:
        """has_others(warp): whether a split is on the stack, or lanes yielded or wait at a convergence barrier."""
        made, code = function(self.module, "has_others", I1, [PTR], inline=True)
        (warp,) = made.args
        b = code.b
        others = b.or_(self.stack.count(code, warp), self.yields.yielded(code, warp))
        b.ret(code.nonzero(b.or_(others, self.barriers.waiting(code, warp, WAIT_SLOTS))))
        return made

    @cached_property
    def yield_lanes(self) -> llvm.Function:
        """yield_lanes(env, warp, pc, mask) -> whether others run now; if so, lanes of mask resume at `pc` later."""
        made, code = function(self.module, "yield_lanes", I1, [PTR, PTR, I32, I32])
        env, warp, pc, mask = made.args
        b, yields = code.b, self.yields
        bypassable, resting = yields.bypassable(code, warp), yields.yielded(code, warp)
        yields.suspend(code, warp, mask, pc)
        yields.set_bypassable(code, warp, b.or_(bypassable, mask))
        with code.when(b.not_(code.nonzero(self.stack.count(code, warp)))):
            yields.set_bypassable(code, warp, b.or_(resting, mask))
            yields.clear_pending(code, warp)
            with code.when(b.not_(b.call(self._take_turn, [env, warp, resting, mask]))):
                yields.set_bypassable(code, warp, resting)
                b.ret(FALSE)
        yields.add(code, warp, mask)
        b.ret(TRUE)
        return made

    # EXIT and BREAK

    @cached_property
    def recheck(self) -> llvm.Function:
        """recheck(env, warp): lanes have exited; those that waited only for them are released and reissue their
        BSYNC."""
        made, code = function(self.module, "recheck", VOID, [PTR, PTR])
        env, warp = made.args
        if self.may_yield:
            code.each(i32(WARPSYNC), lambda slot: code.b.call(self.bsync.release, [env, warp, slot, i32(0)]))
        self.barriers.release_complete(code, env, warp, from_slot=WARPSYNC if self.may_yield else 0)
        code.b.ret_void()
        return made

    @cached_property
    def leave(self) -> llvm.Function:
        """leave(env, warp, slot, mask): BREAK: no lane waits at slot for the lanes of mask any longer."""
        made, code = function(self.module, "leave", VOID, [PTR, PTR, I32, I32])
        env, warp, slot, mask = made.args
        self.barriers.drop_needed(code, warp, slot, mask)
        code.b.call(self.recheck, [env, warp])
        code.b.ret_void()
        return made

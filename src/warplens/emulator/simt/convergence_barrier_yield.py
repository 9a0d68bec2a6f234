"""Convergence barriers in a kernel whose lanes give way (YIELD, NANOSLEEP), or wait for each other in two places: who
goes on, and without whom.

Read off two to eight groups of lanes in 28 kernels (H200, measurements/h200/turns.csv and yielding.csv):

- A barrier is one register of the warp.  BSSY adds its lanes; who passes its BSYNC empties it.  Lanes without which it
  was passed are missed there until they run again, or another BSSY names the barrier.
- At a BSYNC lanes that are not in the barrier pass.  Those in it pass if the others wait, wherever; or without those
  that are away, if all that could run are away and all of the split are in it.
- Who passes without others calls up the lane that has the turn behind them.  If it gave way it counts as back, so the
  next BSYNC waits for it.  If it waits at another BSYNC and was one of those missed, all who wait with it issue that
  one again, and wait for the lane whose turn it is then; if it was not, nobody passes a BSYNC elsewhere without others
  until it has run (`due`); nor if it waits at a WARPSYNC.
- The turn's lane counts as back, too, when a split that waited makes room for one that gave way; when several pass
  and one of them had the turn; and when lanes pass from outside that find others missing while lanes gave way at more
  than one place.  If those find nobody missing, nobody counts as back any more, nor if lanes of a split that was
  buried go on together with others that wait.
- Who passes a BSYNC issues it once more if several BSSY have added to its barrier and all that waited for it did so
  there; or if others are missing and the lane whose turn it is waits there and has been called (counted as back) since
  it came; so does who is let go.  That gives the counts of 669 of 684 warps of 19 kernels (yielding_counts.csv).
"""

from __future__ import annotations

from functools import cached_property

from warplens import llvm
from warplens.emulator.codegen.emitter import LlvmEmitter
from warplens.emulator.codegen.structured_builder import StructuredBuilder, function, i32
from warplens.emulator.codegen.vector_types import I1, I32, PTR, vector
from warplens.emulator.simt.convergence_barrier import ConvergenceBarriers
from warplens.emulator.state.structs import INSTRUCTION, ISSUES_AGAIN, WAIT_SLOTS, WARPSYNC, WarpState


class YieldedBarriers(ConvergenceBarriers):
    """Routines of one module, each made when it is first asked for."""

    @cached_property
    def meet(self) -> llvm.Function:
        """meet(env, warp, slot, mask, place) -> those of mask who go on at once, from `place`; the others wait, or are
        ready with those whom they waited for."""
        made, code = function(self.module, "meet", I32, [PTR, PTR, I32, I32, I32])
        env, warp, slot, mask, place = made.args
        b = code.b
        need = self._need(code, warp, slot)
        for name, value in (("lane_pc", place), ("lane_need", need)):
            where = code.field(WarpState, warp, name)
            new = LlvmEmitter(b).splat(value)
            b.store(b.select(b.bitcast(mask, vector(I1)), new, b.load(where, typ=vector(I32), align=4)), where, align=4)
        inside, outside = b.and_(mask, need), b.and_(mask, b.not_(need))
        missing = self._missing(code, warp, need, mask)
        someone = code.nonzero(missing)
        with code.when(b.icmp_signed("==", inside, i32(0))):
            with code.when(self._crowd(code, warp)), b.if_else(someone) as (some, none):
                with some:
                    self._back(code, warp)
                with none:
                    self.all_away(code, warp)
            b.ret(mask)
        waiting = code.load(WarpState, warp, "waiting", slot)
        present = b.and_(b.or_(missing, self._ready(code, warp)), b.not_(code.load(WarpState, warp, "away")))
        elsewhere = b.and_(self._waiting(code, warp, WAIT_SLOTS), b.not_(waiting))
        due = b.and_(code.load(WarpState, warp, "due"), elsewhere)
        without = b.icmp_signed("==", b.or_(outside, b.or_(present, due)), i32(0))
        with code.when(b.and_(someone, b.not_(without))):
            code.store(b.or_(waiting, inside), WarpState, warp, "waiting", slot)
            b.ret(outside)
        first = b.and_(waiting, code.bit(code.load(WarpState, warp, "turn")))
        turn_waits, called = code.nonzero(first), code.nonzero(b.and_(first, code.load(WarpState, warp, "called")))
        let_go = b.and_(waiting, need)
        one_place = b.icmp_signed("==", b.and_(let_go, b.not_(self._at(code, warp, place))), i32(0))
        joined = code.nonzero(b.and_(code.load(WarpState, warp, "joined"), code.bit(slot)))
        lanes = b.or_(mask, let_go)
        several = b.icmp_signed("!=", lanes, mask)
        self._passed(code, warp, slot, need, lanes)
        with code.when(b.or_(b.and_(someone, called), b.and_(joined, one_place))):
            self.replay(code, env, b.sub(b.and_(place, i32(INSTRUCTION)), i32(1)), lanes)
        with code.when(several):
            self._pass_turn(code, warp, lanes)
        with code.when(someone):
            self._call_up(code, warp, need)
        with code.when(b.and_(turn_waits, b.not_(someone))):
            self._back(code, warp)
        with code.when(several):
            b.call(self.push_groups, [warp, lanes, code.field(WarpState, warp, "lane_pc")])
        b.ret(b.select(several, i32(0), mask))
        return made

    def _call_up(self, code: StructuredBuilder, warp: llvm.Value, need: llvm.Value) -> None:
        """A barrier was passed without some of its lanes: the lane whose turn it is counts as back; if it waits at
        another BSYNC and is one of them, all who wait there issue that one again."""
        b = code.b
        turn = code.load(WarpState, warp, "turn")
        now = code.bit(turn)
        waits = b.and_(now, self._waiting(code, warp))
        with b.if_else(code.nonzero(b.and_(waits, need))) as (again, back):
            with again:
                place = code.load(WarpState, warp, "lane_pc", turn)

                def at(slot: llvm.Value) -> None:
                    waiting = code.load(WarpState, warp, "waiting", slot)
                    with code.when(code.nonzero(b.and_(waiting, now))):
                        same = self._at(code, warp, place)
                        group = b.and_(waiting, same)
                        code.store(b.and_(waiting, b.not_(same)), WarpState, warp, "waiting", slot)
                        number = b.add(b.mul(slot, i32(2 * ISSUES_AGAIN)), i32(ISSUES_AGAIN))
                        b.call(self.put, [warp, b.add(place, number), group])

                code.each(i32(WARPSYNC), at)
            with back:
                self._due(code, warp)

    def _due(self, code: StructuredBuilder, warp: llvm.Value) -> None:
        """The lane whose turn it is counts as back, or holds the others up if it waits."""
        b = code.b
        self._back(code, warp)
        waits = b.and_(self._waiting(code, warp, WAIT_SLOTS), code.bit(code.load(WarpState, warp, "turn")))
        code.store(b.or_(code.load(WarpState, warp, "due"), waits), WarpState, warp, "due")

    @cached_property
    def issue_again(self) -> llvm.Function:
        """issue_again(env, warp, pc): the split that was taken issues the BSYNC before its place once more; it waits
        there for the lane whose turn it is now, or goes on."""
        made, code = function(self.module, "issue_again", I32, [PTR, PTR, I32])
        env, warp, pc = made.args
        b = code.b
        lanes = code.load(WarpState, warp, "exec")
        place = b.and_(pc, i32(ISSUES_AGAIN - 1))
        self._due(code, warp)
        self.replay(code, env, b.sub(b.and_(place, i32(INSTRUCTION)), i32(1)), lanes)
        slot = b.udiv(pc, i32(2 * ISSUES_AGAIN))
        b.ret(b.call(self.meet, [env, warp, slot, lanes, place]))
        return made

    def _need(self, code: StructuredBuilder, warp: llvm.Value, slot: llvm.Value) -> llvm.Value:
        return code.b.or_(*(code.load(WarpState, warp, name, slot) for name in ("barrier", "missed")))

    def _missing(self, code: StructuredBuilder, warp: llvm.Value, need: llvm.Value, here: llvm.Value) -> llvm.Value:
        """Who of those needed is neither here nor waits, at whatever, nor has exited."""
        b = code.b
        there = b.or_(self._waiting(code, warp, WAIT_SLOTS), code.load(WarpState, warp, "exited"))
        return b.and_(need, b.not_(b.or_(there, here)))

    def _passed(
        self, code: StructuredBuilder, warp: llvm.Value, slot: llvm.Value, need: llvm.Value, lanes: llvm.Value
    ) -> None:
        """These lanes wait no longer and the barrier is empty; others of it are missed until they run again."""
        b = code.b
        rest = b.not_(lanes)
        code.store(0, WarpState, warp, "barrier", slot)
        code.store(b.and_(need, rest), WarpState, warp, "missed", slot)
        code.store(b.and_(code.load(WarpState, warp, "waiting", slot), rest), WarpState, warp, "waiting", slot)

    def _crowd(self, code: StructuredBuilder, warp: llvm.Value) -> llvm.Value:
        """Whether lanes gave way at more than one place."""
        place = code.load(WarpState, warp, "lane_pc", code.load(WarpState, warp, "turn"))
        rest = code.b.and_(code.load(WarpState, warp, "gave_way"), code.b.not_(self._gave_way_at(code, warp, place)))
        return code.nonzero(rest)

    @cached_property
    def let_go(self) -> llvm.Function:
        """let_go(env, warp, slot, away) -> whether: who waits at this BSYNC goes on if all others in it wait or are
        away, and issues it once more."""
        made, code = function(self.module, "let_go", I1, [PTR, PTR, I32, I32])
        env, warp, slot, away = made.args
        b = code.b
        need = self._need(code, warp, slot)
        lanes = b.and_(code.load(WarpState, warp, "waiting", slot), b.select(code.nonzero(need), need, i32(-1)))
        missing = self._missing(code, warp, need, away)
        over = b.and_(code.nonzero(lanes), b.icmp_signed("==", missing, i32(0)))
        with code.when(over):
            self._passed(code, warp, slot, need, lanes)
            place = b.and_(code.load(WarpState, warp, "lane_pc", code.lowest(lanes)), i32(INSTRUCTION))
            self.replay(code, env, b.sub(place, i32(1)), lanes)
            b.call(self.push_groups, [warp, lanes, code.field(WarpState, warp, "lane_pc")])
        b.ret(over)
        return made

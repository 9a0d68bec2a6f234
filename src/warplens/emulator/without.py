"""Convergence barriers in a kernel whose lanes give way (YIELD, NANOSLEEP): who goes on, and without whom.

Read off two to eight groups of lanes in 28 kernels (H200, measurements/h200/turns.csv and yielding.csv):

- A barrier is one register of the warp.  BSSY adds its lanes; who passes its BSYNC empties it.  Lanes without which it
  was passed are missed there until they run again, or another BSSY names the barrier.
- At a BSYNC lanes that are not in the barrier pass.  Those in it pass if the others wait, wherever; or without those
  that are away, if all that could run are away and all of the split are in it.
- After that, and if who passes from outside finds lanes missing, the lane whose turn it is counts as back, even if it
  has not run yet: the next BSYNC waits for it.  If several go on from a BSYNC at which somebody is missing, so does
  the lane that has the turn behind them.
- Who passes a BSYNC issues it once more if several BSSY have added to its barrier, or if others are missing and the
  lane whose turn it is waits there; so does who is let go.  That gives the counts of 457 of 468 warps of 13 kernels.
"""

from __future__ import annotations

from functools import cached_property

from warplens.emulator import ir
from warplens.emulator.code import Code, function, i32
from warplens.emulator.emit import LlvmEmitter
from warplens.emulator.layout import INSTRUCTION, WAIT_SLOTS, Warp
from warplens.emulator.meetings import Meetings
from warplens.emulator.vectors import I1, I32, PTR, vector


class Without(Meetings):
    """Routines of one module, each made when it is first asked for."""

    @cached_property
    def meet(self) -> ir.Function:
        """meet(env, warp, slot, mask, place) -> those of mask who go on at once, from `place`; the others wait, or are
        ready with those whom they waited for."""
        made, code = function(self.module, "meet", I32, [PTR, PTR, I32, I32, I32])
        env, warp, slot, mask, place = made.args
        b = code.b
        need = self._need(code, warp, slot)
        for name, value in (("lane_pc", place), ("lane_need", need)):
            where = code.field(Warp, warp, name)
            new = LlvmEmitter(b).splat(value)
            b.store(b.select(b.bitcast(mask, vector(I1)), new, b.load(where, typ=vector(I32), align=4)), where, align=4)
        inside, outside = b.and_(mask, need), b.and_(mask, b.not_(need))
        missing = self._missing(code, warp, need, mask)
        someone = code.nonzero(missing)
        alone = self._only_one_place(code, warp)
        with code.when(b.icmp_signed("==", inside, i32(0))):
            with code.when(b.and_(someone, b.not_(alone))):
                self._back(code, warp)
            b.ret(mask)
        present = b.and_(b.or_(missing, self._ready(code, warp)), b.not_(code.load(Warp, warp, "away")))
        without = b.icmp_signed("==", b.or_(outside, present), i32(0))
        waiting = code.load(Warp, warp, "waiting", slot)
        turn_waits = b.and_(waiting, code.bit(code.load(Warp, warp, "turn")))
        joined = b.and_(code.load(Warp, warp, "joined"), code.bit(slot))
        again = b.or_(b.and_(someone, code.nonzero(turn_waits)), code.nonzero(joined))
        with code.when(b.and_(someone, b.not_(without))):
            code.store(b.or_(waiting, inside), Warp, warp, "waiting", slot)
            b.ret(outside)
        with code.when(someone):
            self._back(code, warp)
        lanes = b.or_(mask, b.and_(waiting, need))
        self._passed(code, warp, slot, need, lanes)
        with code.when(again):
            self.replay(code, env, b.sub(b.and_(place, i32(INSTRUCTION)), i32(1)), lanes)
        with code.when(b.icmp_signed("==", lanes, mask)):
            b.ret(mask)
        b.call(self.push_groups, [warp, lanes, code.field(Warp, warp, "lane_pc")])
        with code.when(someone):
            top = b.sub(code.load(Warp, warp, "ready"), i32(1))
            self._pass_turn(code, warp, code.load(Warp, warp, "ready_mask", top))
            self._back(code, warp)
        b.ret(i32(0))
        return made

    def _need(self, code: Code, warp: ir.Value, slot: ir.Value) -> ir.Value:
        return code.b.or_(*(code.load(Warp, warp, name, slot) for name in ("barrier", "missed")))

    def _missing(self, code: Code, warp: ir.Value, need: ir.Value, here: ir.Value) -> ir.Value:
        """Who of those needed is neither here nor waits, at whatever, nor has exited."""
        b = code.b
        there = b.or_(self._waiting(code, warp, WAIT_SLOTS), code.load(Warp, warp, "exited"))
        return b.and_(need, b.not_(b.or_(there, here)))

    def _passed(self, code: Code, warp: ir.Value, slot: ir.Value, need: ir.Value, lanes: ir.Value) -> None:
        """These lanes wait no longer and the barrier is empty; others of it are missed until they run again."""
        b = code.b
        rest = b.not_(lanes)
        code.store(0, Warp, warp, "barrier", slot)
        code.store(b.and_(need, rest), Warp, warp, "missed", slot)
        code.store(b.and_(code.load(Warp, warp, "waiting", slot), rest), Warp, warp, "waiting", slot)

    def _only_one_place(self, code: Code, warp: ir.Value) -> ir.Value:
        """Whether all others that could run gave way at one place."""
        b = code.b
        place = code.load(Warp, warp, "lane_pc", code.load(Warp, warp, "turn"))
        rest = b.and_(self._ready(code, warp), b.not_(self._gave_way_at(code, warp, place)))
        return b.icmp_signed("==", rest, i32(0))

    @cached_property
    def let_go(self) -> ir.Function:
        """let_go(env, warp, slot, away) -> whether: who waits at this BSYNC goes on if all others in it wait or are
        away, and issues it once more."""
        made, code = function(self.module, "let_go", I1, [PTR, PTR, I32, I32])
        env, warp, slot, away = made.args
        b = code.b
        need = self._need(code, warp, slot)
        lanes = b.and_(code.load(Warp, warp, "waiting", slot), b.select(code.nonzero(need), need, i32(-1)))
        missing = self._missing(code, warp, need, away)
        over = b.and_(code.nonzero(lanes), b.icmp_signed("==", missing, i32(0)))
        with code.when(over):
            self._passed(code, warp, slot, need, lanes)
            place = b.and_(code.load(Warp, warp, "lane_pc", code.lowest(lanes)), i32(INSTRUCTION))
            self.replay(code, env, b.sub(place, i32(1)), lanes)
            b.call(self.push_groups, [warp, lanes, code.field(Warp, warp, "lane_pc")])
        b.ret(over)
        return made

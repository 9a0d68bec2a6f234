"""Convergence barriers in a kernel whose lanes give way (YIELD, NANOSLEEP): who goes on, and without whom.

Read off two to eight groups of lanes in 26 kernels (H200, measurements/h200/turns.csv and yielding.csv):

- A barrier is one register of the warp.  BSSY adds its lanes; who passes its BSYNC empties it.
- At a BSYNC lanes that are not in the barrier pass.  Those in it pass if the others wait, wherever, or are away; but
  where only some of the split are in it, those wait.
- After that the lane whose turn it is counts as back, even if it has not run yet: the next BSYNC waits for it.
- A YIELD lets those go that wait only for lanes that are away, if there are no others that could run.
- Who passes without others, or is let go so, issues the BSYNC once more: that gives the counts of 85 of 120 warps of
  four kernels; only at a YIELD, of 58.
"""

from __future__ import annotations

from functools import cached_property

from warplens.emulator import ir
from warplens.emulator.code import Code, function, i32
from warplens.emulator.emit import LlvmEmitter
from warplens.emulator.layout import INSTRUCTION, WAIT_SLOTS, WARPSYNC, Warp
from warplens.emulator.meetings import Meetings
from warplens.emulator.splits import VOID
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
        need = code.load(Warp, warp, "barrier", slot)
        for name, value in (("lane_pc", place), ("lane_need", need)):
            where = code.field(Warp, warp, name)
            new = LlvmEmitter(b).splat(value)
            b.store(b.select(b.bitcast(mask, vector(I1)), new, b.load(where, typ=vector(I32), align=4)), where, align=4)
        inside, outside = b.and_(mask, need), b.and_(mask, b.not_(need))
        wanted = b.and_(need, b.not_(code.load(Warp, warp, "exited")))
        missing = b.and_(wanted, b.not_(b.or_(self._waiting(code, warp, WAIT_SLOTS), mask)))
        alone = self._only_one_place(code, warp)
        with code.when(b.icmp_signed("==", inside, i32(0))):
            with code.when(b.not_(alone)):
                self._back(code, warp)
            b.ret(mask)
        all_here = b.icmp_signed("==", missing, i32(0))
        present = b.not_(code.load(Warp, warp, "away"))
        without = b.icmp_signed("==", b.or_(outside, b.and_(missing, present)), i32(0))
        waiting = code.load(Warp, warp, "waiting", slot)
        with code.when(b.not_(b.or_(all_here, without))):
            code.store(b.or_(waiting, inside), Warp, warp, "waiting", slot)
            b.ret(outside)
        with code.when(b.not_(b.and_(all_here, alone))):
            self._back(code, warp)
        code.store(0, Warp, warp, "barrier", slot)
        lanes = b.or_(mask, b.and_(waiting, need))
        code.store(b.and_(waiting, b.not_(lanes)), Warp, warp, "waiting", slot)
        elsewhere = b.and_(wanted, self._waiting(code, warp))
        with code.when(code.nonzero(elsewhere), likely=False):
            self._ready_again(code, warp, elsewhere)
        with code.when(b.not_(b.or_(all_here, alone))):
            self.replay(code, env, b.sub(b.and_(place, i32(INSTRUCTION)), i32(1)), lanes)
        with code.when(b.icmp_signed("==", lanes, mask)):
            b.ret(mask)
        b.call(self.push_groups, [warp, lanes, code.field(Warp, warp, "lane_pc")])
        b.ret(i32(0))
        return made

    def _only_one_place(self, code: Code, warp: ir.Value) -> ir.Value:
        """Whether all others that could run gave way at one place."""
        b = code.b
        place = code.load(Warp, warp, "lane_pc", code.load(Warp, warp, "turn"))
        rest = b.and_(self._ready(code, warp), b.not_(self._gave_way_at(code, warp, place)))
        return b.icmp_signed("==", rest, i32(0))

    @cached_property
    def let_go(self) -> ir.Function:
        """let_go(env, warp, away, again): who waits at a BSYNC for lanes that are away, have exited or wait themselves
        goes on; again: and issues it once more."""
        made, code = function(self.module, "let_go", VOID, [PTR, PTR, I32, I1])
        env, warp, away, again = made.args
        b = code.b

        def slot_of(slot: ir.Value) -> None:
            waiting, need = (code.load(Warp, warp, name, slot) for name in ("waiting", "barrier"))
            wanted = b.and_(need, b.not_(b.or_(code.load(Warp, warp, "exited"), away)))
            missing = b.and_(wanted, b.not_(self._waiting(code, warp, WAIT_SLOTS)))
            over = b.and_(code.nonzero(waiting), b.icmp_signed("==", missing, i32(0)))
            with code.when(over):
                lanes = b.and_(waiting, b.select(code.nonzero(need), need, i32(-1)))
                code.store(b.and_(waiting, b.not_(lanes)), Warp, warp, "waiting", slot)
                code.store(0, Warp, warp, "barrier", slot)
                with code.when(again):
                    place = b.and_(code.load(Warp, warp, "lane_pc", code.lowest(lanes)), i32(INSTRUCTION))
                    self.replay(code, env, b.sub(place, i32(1)), lanes)
                b.call(self.push_groups, [warp, lanes, code.field(Warp, warp, "lane_pc")])

        code.each(i32(WARPSYNC), slot_of)
        b.ret_void()
        return made

"""Lanes that spin give way to the others: what YIELD and NANOSLEEP do to the splits of a warp.

Splits that part stand on a stack (splits.py).  Lanes that gave way stand beside it: one after the other gets a turn
when the stack is empty, from the lane on whose turn it is, all that gave way at one place together.  The turn then goes
to the next lane that is not with those who got it.  This is the order of all of 2,520 warps of two to eight groups of
lanes in six kernels (H200; 168 of them in measurements/h200/turns.csv).

Until they go on, lanes that gave way are away: a BSYNC may be passed without them (without.py).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property

from warplens.emulator import ir
from warplens.emulator.code import Code, function, i32
from warplens.emulator.emit import LlvmEmitter
from warplens.emulator.layout import WARPSYNC, Warp
from warplens.emulator.splits import Splits
from warplens.emulator.vectors import I1, I32, PTR, vector


class GivingWay(Splits, ABC):
    """Routines of one module, each made when it is first asked for."""

    @property
    @abstractmethod
    def let_go(self) -> ir.Function:
        """let_go(env, warp, away, again): see without.py."""

    @cached_property
    def others(self) -> ir.Function:
        """others(warp): whether a split is ready, or lanes gave way or wait at a convergence barrier."""
        made, code = function(self.module, "others", I1, [PTR], inline=True)
        (warp,) = made.args
        b = code.b
        apart = b.or_(code.load(Warp, warp, "ready"), code.load(Warp, warp, "gave_way"))
        b.ret(code.nonzero(b.or_(apart, self._waiting(code, warp))))
        return made

    def _waiting(self, code: Code, warp: ir.Value, slots: int = WARPSYNC) -> ir.Value:
        """Lanes that wait at a convergence barrier: a few loads, seldom executed."""
        lanes: ir.Value = i32(0)
        for slot in range(slots):
            lanes = code.b.or_(lanes, code.load(Warp, warp, "waiting", slot))
        return lanes

    def _ready(self, code: Code, warp: ir.Value) -> ir.Value:
        """Lanes that could run: those on the stack, and those that gave way."""
        lanes = code.variable(I32, code.load(Warp, warp, "gave_way"))

        def add(i: ir.Value) -> None:
            b = code.b
            b.store(b.or_(b.load(lanes, typ=I32), code.load(Warp, warp, "ready_mask", i)), lanes)

        code.each(code.load(Warp, warp, "ready"), add)
        return code.b.load(lanes, typ=I32)

    def _gave_way_at(self, code: Code, warp: ir.Value, place: ir.Value) -> ir.Value:
        """Lanes that gave way and go on at this place."""
        places = code.b.load(code.field(Warp, warp, "lane_pc"), typ=vector(I32), align=4)
        same = code.b.bitcast(code.b.icmp_signed("==", places, LlvmEmitter(code.b).splat(place)), I32)
        return code.b.and_(code.load(Warp, warp, "gave_way"), same)

    def _next_of(self, code: Code, lane: ir.Value, lanes: ir.Value) -> ir.Value:
        """The first of these lanes from `lane` on, round the warp; `lane` itself if there are none."""
        b = code.b
        above = b.and_(lanes, b.shl(i32(-1), lane))
        found = code.lowest(b.select(code.nonzero(above), above, lanes))
        return b.select(code.nonzero(lanes), found, lane)

    def _pass_turn(self, code: Code, warp: ir.Value, lane: ir.Value) -> None:
        """From `lane` on, the next that does not run now has the turn."""
        resting = code.b.not_(code.load(Warp, warp, "exec"))
        code.store(self._next_of(code, lane, resting), Warp, warp, "turn")

    def _back(self, code: Code, warp: ir.Value) -> None:
        """The lane whose turn it is counts as back."""
        b = code.b
        now = code.bit(code.load(Warp, warp, "turn"))
        code.store(b.and_(code.load(Warp, warp, "away"), b.not_(now)), Warp, warp, "away")

    @cached_property
    def take_turn(self) -> ir.Function:
        """take_turn(warp, among) -> place: who has the turn among these lanes that gave way, in warp.exec."""
        made, code = function(self.module, "take_turn", I32, [PTR, I32])
        warp, among = made.args
        b = code.b
        lane = self._next_of(code, code.load(Warp, warp, "turn"), among)
        place = code.load(Warp, warp, "lane_pc", lane)
        lanes = self._gave_way_at(code, warp, place)
        rest = b.not_(lanes)
        for name in ("gave_way", "away"):
            code.store(b.and_(code.load(Warp, warp, name), rest), Warp, warp, name)
        code.store(lanes, Warp, warp, "exec")
        code.store(b.add(place, i32(1)), Warp, warp, "dug")
        self._pass_turn(code, warp, lane)
        b.ret(place)
        return made

    def _next_turn(self, code: Code, warp: ir.Value) -> None:
        """Where nothing is ready on the stack: who gave way goes on."""
        if not self.gives_way:
            return
        lanes = code.load(Warp, warp, "gave_way")
        with code.when(code.nonzero(lanes)):
            place = code.b.call(self.take_turn, [warp, lanes])
            self._back(code, warp)
            code.b.ret(place)

    @cached_property
    def give_way(self) -> ir.Function:
        """give_way(env, warp, place, mask) -> whether others run now; who gave way goes on from `place` later."""
        made, code = function(self.module, "give_way", I1, [PTR, PTR, I32, I32])
        env, warp, place, mask = made.args
        b = code.b
        stack = code.load(Warp, warp, "ready")
        with code.when(b.not_(code.nonzero(stack))):
            self._back(code, warp)
        away = b.or_(code.load(Warp, warp, "away"), mask)
        code.store(away, Warp, warp, "away")
        ready = self._ready(code, warp)
        with code.when(b.not_(code.nonzero(b.and_(ready, b.not_(away))))):
            b.call(self.let_go, [env, warp, away, ir.Constant(I1, 1)])
            with code.when(b.icmp_signed(">", code.load(Warp, warp, "ready"), stack)):
                self._step_aside(code, warp, place, mask)
                b.ret(ir.Constant(I1, 1))
            with code.when(b.not_(code.nonzero(ready))):
                code.store(b.and_(away, b.not_(mask)), Warp, warp, "away")
                b.ret(ir.Constant(I1, 0))
        others = code.load(Warp, warp, "gave_way")
        self._step_aside(code, warp, place, mask)
        chosen = code.variable(I32)
        with b.if_else(code.nonzero(stack)) as (parted, spun):
            with parted:
                b.store(b.call(self.next_split, [warp]), chosen)
                self._pass_turn(code, warp, code.load(Warp, warp, "turn"))
            with spun:
                b.store(b.call(self.take_turn, [warp, others]), chosen)
        dug = b.select(code.nonzero(code.load(Warp, warp, "dug")), i32(-1), i32(0))
        slot = code.bit(code.load(Warp, warp, "ready"))
        b.call(self.put, [warp, b.load(chosen, typ=I32), code.load(Warp, warp, "exec")])
        code.store(b.or_(code.load(Warp, warp, "buried"), b.and_(dug, slot)), Warp, warp, "buried")
        b.ret(ir.Constant(I1, 1))
        return made

    def _step_aside(self, code: Code, warp: ir.Value, place: ir.Value, mask: ir.Value) -> None:
        b = code.b
        places = code.field(Warp, warp, "lane_pc")
        old = b.load(places, typ=vector(I32), align=4)
        there = LlvmEmitter(b).splat(place)
        b.store(b.select(b.bitcast(mask, vector(I1)), there, old), places, align=4)
        code.store(b.or_(code.load(Warp, warp, "gave_way"), mask), Warp, warp, "gave_way")

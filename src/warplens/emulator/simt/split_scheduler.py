"""Lanes that spin give way to the others: what YIELD and NANOSLEEP do to the splits of a warp.

Splits that part stand on a stack (simt_stack.py).  Lanes that gave way stand beside it.  The turn is a lane: it
passes on
with every split that is taken, to the next lane that does not run.  Where the stack is empty it is looked for who goes
on from that lane on, round the warp: all that gave way at one place together, or who waits at a BSYNC for nobody but
lanes that are away.

Until they go on, lanes that gave way are away: a BSYNC may be passed without them (convergence_barrier_yield.py).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property

from warplens import llvm
from warplens.emulator.codegen.emitter import LlvmEmitter
from warplens.emulator.codegen.structured_builder import StructuredBuilder, function, i32
from warplens.emulator.codegen.vector_types import I1, I32, PTR, vector
from warplens.emulator.simt.simt_stack import SimtStack
from warplens.emulator.state.structs import INSTRUCTION, ISSUES_AGAIN, WAIT_SLOTS, WARPSYNC, WarpState


class YieldScheduler(SimtStack, ABC):
    """Routines of one module, each made when it is first asked for."""

    @property
    @abstractmethod
    def let_go(self) -> llvm.Function:
        """let_go(env, warp, slot, away) -> whether: see convergence_barrier_yield.py."""

    @cached_property
    def others(self) -> llvm.Function:
        """others(warp): whether a split is ready, or lanes gave way or wait at a convergence barrier."""
        made, code = function(self.module, "others", I1, [PTR], inline=True)
        (warp,) = made.args
        b = code.b
        apart = b.or_(code.load(WarpState, warp, "ready"), code.load(WarpState, warp, "gave_way"))
        b.ret(code.nonzero(b.or_(apart, self._waiting(code, warp, WAIT_SLOTS))))
        return made

    def _waiting(self, code: StructuredBuilder, warp: llvm.Value, slots: int = WARPSYNC) -> llvm.Value:
        """Lanes that wait at a convergence barrier: a few loads, seldom executed."""
        lanes: llvm.Value = i32(0)
        for slot in range(slots):
            lanes = code.b.or_(lanes, code.load(WarpState, warp, "waiting", slot))
        return lanes

    def _ready(self, code: StructuredBuilder, warp: llvm.Value) -> llvm.Value:
        """Lanes that could run: those on the stack, and those that gave way."""
        lanes = code.variable(I32, code.load(WarpState, warp, "gave_way"))

        def add(i: llvm.Value) -> None:
            b = code.b
            b.store(b.or_(b.load(lanes, typ=I32), code.load(WarpState, warp, "ready_mask", i)), lanes)

        code.each(code.load(WarpState, warp, "ready"), add)
        return code.b.load(lanes, typ=I32)

    def _gave_way_at(self, code: StructuredBuilder, warp: llvm.Value, place: llvm.Value) -> llvm.Value:
        """Lanes that gave way and go on at this place."""
        return code.b.and_(code.load(WarpState, warp, "gave_way"), self._at(code, warp, place))

    def _at(self, code: StructuredBuilder, warp: llvm.Value, place: llvm.Value) -> llvm.Value:
        """Lanes that gave way or wait and go on at this place, or did so last."""
        places = code.b.load(code.field(WarpState, warp, "lane_pc"), typ=vector(I32), align=4)
        return code.b.bitcast(code.b.icmp_signed("==", places, LlvmEmitter(code.b).splat(place)), I32)

    def _next_of(self, code: StructuredBuilder, lane: llvm.Value, lanes: llvm.Value) -> llvm.Value:
        """The first of these lanes from `lane` on, round the warp; `lane` itself if there are none."""
        b = code.b
        above = b.and_(lanes, b.shl(i32(-1), lane))
        found = code.lowest(b.select(code.nonzero(above), above, lanes))
        return b.select(code.nonzero(lanes), found, lane)

    def _pass_turn(self, code: StructuredBuilder, warp: llvm.Value, running: llvm.Value) -> None:
        """From the lane whose turn it is on, the next that neither runs now nor has exited has it."""
        b = code.b
        resting = b.not_(b.or_(running, code.load(WarpState, warp, "exited")))
        code.store(self._next_of(code, code.load(WarpState, warp, "turn"), resting), WarpState, warp, "turn")

    def _back(self, code: StructuredBuilder, warp: llvm.Value) -> None:
        """The lane whose turn it is counts as back; if it waits it has been called."""
        b = code.b
        now = code.bit(code.load(WarpState, warp, "turn"))
        code.store(b.and_(code.load(WarpState, warp, "away"), b.not_(now)), WarpState, warp, "away")
        code.store(b.or_(code.load(WarpState, warp, "called"), now), WarpState, warp, "called")

    def all_away(self, code: StructuredBuilder, warp: llvm.Value) -> None:
        """No lane that gave way counts as back."""
        for name in ("due", "called"):
            code.store(0, WarpState, warp, name)
        gave_way = code.load(WarpState, warp, "gave_way")
        code.store(code.b.or_(code.load(WarpState, warp, "away"), gave_way), WarpState, warp, "away")

    def _taken(self, code: StructuredBuilder, warp: llvm.Value) -> None:
        """A split has been taken, its lanes are in warp.exec."""
        b = code.b
        lanes = code.load(WarpState, warp, "exec")
        rest = b.not_(lanes)
        for name in ("away", "due", "called"):
            code.store(b.and_(code.load(WarpState, warp, name), rest), WarpState, warp, name)
        for slot in range(WARPSYNC):
            code.store(b.and_(code.load(WarpState, warp, "missed", slot), rest), WarpState, warp, "missed", slot)
        with code.when(b.not_(code.nonzero(code.load(WarpState, warp, "jumps")))):
            self._pass_turn(code, warp, lanes)
        code.store(0, WarpState, warp, "jumps")

    @cached_property
    def take_turn(self) -> llvm.Function:
        """take_turn(env, warp, resting, coming) -> whether somebody goes on: from the turn on, who gave way and is
        among `resting`, or who waits at a BSYNC and may be let go.  They are ready then.

        Who waits at a WARPSYNC and has the turn issues it once more, in vain; those that give way just now may be next.
        """
        made, code = function(self.module, "take_turn", I1, [PTR, PTR, I32, I32])
        env, warp, resting, coming = made.args
        b = code.b
        away = code.load(WarpState, warp, "away")
        rest = code.variable(I32, resting)
        left = code.variable(I32, b.or_(resting, self._waiting(code, warp, WAIT_SLOTS)))

        def look() -> None:
            lanes = b.load(left, typ=I32)
            lane = self._next_of(code, code.load(WarpState, warp, "turn"), lanes)
            with code.when(code.nonzero(b.and_(b.load(rest, typ=I32), code.bit(lane)))):
                slot = code.bit(code.load(WarpState, warp, "ready"))
                b.call(self.put, [warp, code.load(WarpState, warp, "lane_pc", lane), code.bit(lane)])
                code.store(
                    b.or_(code.load(WarpState, warp, "buried"), slot), WarpState, warp, "buried"
                )  # all at its place go on
                code.store(lane, WarpState, warp, "turn")
                b.ret(llvm.IRConstant(I1, 1))

            def at(slot: llvm.Value) -> None:
                waiting = code.load(WarpState, warp, "waiting", slot)
                with code.when(code.nonzero(b.and_(waiting, code.bit(lane)))):
                    with code.when(b.call(self.let_go, [env, warp, slot, away])):
                        b.ret(llvm.IRConstant(I1, 1))
                    b.store(b.and_(b.load(left, typ=I32), b.not_(waiting)), left)

            code.each(i32(WARPSYNC), at)
            for sync in range(WARPSYNC, WAIT_SLOTS):
                waiting = code.load(WarpState, warp, "waiting", sync)
                with code.when(code.nonzero(b.and_(waiting, code.bit(lane)))):
                    place = code.load(WarpState, warp, "lane_pc", lane)
                    group = b.and_(waiting, self._at(code, warp, place))
                    self.replay(code, env, b.sub(b.and_(place, i32(INSTRUCTION)), i32(1)), group)
                    self._pass_turn(code, warp, group)
                    b.store(b.or_(b.load(rest, typ=I32), coming), rest)
                    b.store(b.or_(b.and_(b.load(left, typ=I32), b.not_(group)), coming), left)

        code.loop(lambda: code.nonzero(b.load(left, typ=I32)), look)
        b.ret(llvm.IRConstant(I1, 0))
        return made

    @abstractmethod
    def replay(self, code: StructuredBuilder, env: llvm.Value, instruction: llvm.Value, lanes: llvm.Value) -> None:
        """Counts another issue of a meeting."""

    @property
    @abstractmethod
    def issue_again(self) -> llvm.Function:
        """issue_again(env, warp, pc) -> lanes that go on: see convergence_barrier_yield.py."""

    def _until_one_goes_on(
        self, code: StructuredBuilder, env: llvm.Value, warp: llvm.Value, pop: Callable[[], llvm.Value]
    ) -> None:  # fmt: skip
        b = code.b

        def one() -> None:
            pc = pop()
            with code.when(b.not_(code.nonzero(b.and_(pc, i32(ISSUES_AGAIN)))), likely=True):
                b.ret(pc)  # also of a function of the driver, whose places are behind all code
            lanes = b.call(self.issue_again, [env, warp, pc])
            with code.when(code.nonzero(lanes)):
                code.store(lanes, WarpState, warp, "exec")
                b.ret(b.and_(pc, i32(ISSUES_AGAIN - 1)))

        code.loop(lambda: llvm.IRConstant(I1, 1), one)
        b.ret(i32(-1))

    def _next_turn(self, code: StructuredBuilder, env: llvm.Value, warp: llvm.Value) -> llvm.Value:
        """Where nothing is ready on the stack, who gave way goes on, or who waits at a BSYNC for others that wait;
        whether there is anybody."""
        b = code.b
        lanes = code.load(WarpState, warp, "gave_way")
        empty = b.icmp_signed("==", code.load(WarpState, warp, "ready"), i32(0))
        turned = b.and_(empty, code.nonzero(b.or_(lanes, self._waiting(code, warp))))
        with code.when(turned):
            b.call(self.take_turn, [env, warp, lanes, i32(0)])
        return turned

    @cached_property
    def give_way(self) -> llvm.Function:
        """give_way(env, warp, place, mask) -> whether others run now; who gave way goes on from `place` later."""
        made, code = function(self.module, "give_way", I1, [PTR, PTR, I32, I32])
        env, warp, place, mask = made.args
        b = code.b
        away, resting = (code.load(WarpState, warp, name) for name in ("away", "gave_way"))
        places = code.field(WarpState, warp, "lane_pc")
        old = b.load(places, typ=vector(I32), align=4)
        there = LlvmEmitter(b).splat(place)
        b.store(b.select(b.bitcast(mask, vector(I1)), there, old), places, align=4)
        code.store(b.or_(away, mask), WarpState, warp, "away")
        with code.when(b.not_(code.nonzero(code.load(WarpState, warp, "ready")))):
            code.store(b.or_(resting, mask), WarpState, warp, "away")
            code.store(0, WarpState, warp, "due")
            with code.when(b.not_(b.call(self.take_turn, [env, warp, resting, mask]))):
                code.store(resting, WarpState, warp, "away")
                b.ret(llvm.IRConstant(I1, 0))
        code.store(b.or_(code.load(WarpState, warp, "gave_way"), mask), WarpState, warp, "gave_way")
        b.ret(llvm.IRConstant(I1, 1))
        return made

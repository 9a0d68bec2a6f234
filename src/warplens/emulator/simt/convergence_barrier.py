"""Who waits at a convergence barrier, and who goes on from it.

What a BSYNC does where functions save their barriers in registers was read off 364 warps (H200, measurements/README.md,
Recursion).  Routines built into every translated kernel.
"""

from __future__ import annotations

from functools import cached_property

from warplens import llvm
from warplens.emulator.codegen.emitter import LlvmEmitter
from warplens.emulator.codegen.structured_builder import StructuredBuilder, function, i32, i64
from warplens.emulator.codegen.vector_types import I1, I32, I64, PTR, vector
from warplens.emulator.instrument.instrumentation import Instrumentation
from warplens.emulator.simt.simt_stack import VOID
from warplens.emulator.simt.yielding import YieldScheduler
from warplens.emulator.state.counter_layout import COLUMNS, REPLAYED, REPLAYS
from warplens.emulator.state.structs import (
    COLLECTIVE,
    EVERYBODY,
    INSTRUCTION,
    WAIT_SLOTS,
    WARPSYNC,
    WarpState,
    WorkerEnv,
)


class ConvergenceBarriers(YieldScheduler):
    """Routines of one module, each made when it is first asked for."""

    watch: Instrumentation

    @cached_property
    def arrive(self) -> llvm.Function:
        """arrive(env, warp, slot, need, mask, pc): lanes of mask wait at slot for all lanes of need; together they go
        on from pc.  The caller then takes the next split."""
        made, code = function(self.module, "arrive", VOID, [PTR, PTR, I32, I32, I32, I32])
        env, warp, slot, need, mask, pc = made.args
        b = code.b
        if not self.restores:  # of a barrier that others have passed without them, nobody waits for anybody
            need = b.select(code.nonzero(need), need, mask)
        emitter = LlvmEmitter(b)
        earlier = code.load(WarpState, warp, "waiting", slot)
        # What lanes do together is done by the code of those that come last.
        together = b.select(b.icmp_signed("==", slot, i32(COLLECTIVE)), b.or_(mask, earlier), mask)
        for name, value, whose in (("lane_pc", pc, together), ("lane_need", need, mask)):
            place = code.field(WarpState, warp, name)
            old = b.load(place, typ=vector(I32), align=4)
            b.store(b.select(b.bitcast(whose, vector(I1)), emitter.splat(value), old), place, align=4)
        waits = self._needed(code, slot, need, mask)
        code.store(b.or_(earlier, waits), WarpState, warp, "waiting", slot)
        again = code.nonzero(b.and_(code.load(WarpState, warp, "restored"), code.bit(slot)))
        waited = code.nonzero(b.and_(earlier, need))
        again = b.or_(again, b.and_(waited, self._is_sync(code, slot)))
        self._release_if_all(code, env, warp, slot, self._there(code, warp, slot, pc), need, again, mask)
        b.ret_void()
        return made

    @cached_property
    def arrive_apart(self) -> llvm.Function:
        """arrive_apart(env, warp, slot, needs, mask, pc) -> lanes of the replays: each lane waits for the lanes of
        its own needs[lane], and every different need takes an issue."""
        made, code = function(self.module, "arrive_apart", I64, [PTR, PTR, I32, PTR, I32, I32])
        env, warp, slot, needs, mask, pc = made.args
        b = code.b
        left, replayed = code.variable(I32, mask), code.variable(I64, i64(0))

        def group() -> None:
            rest = b.load(left, typ=I32)
            all_needs = b.load(needs, typ=vector(I32), align=4)
            members = self.served(code, all_needs, rest)
            need = b.extract_element(all_needs, code.lowest(members))
            b.call(self.arrive, [env, warp, slot, need, members, pc])
            rest = b.and_(rest, b.not_(members))
            code.bump(replayed, b.zext(code.popcount(rest), I64))
            b.store(rest, left)

        code.loop(lambda: code.nonzero(b.load(left, typ=I32)), group)
        b.ret(b.load(replayed, typ=I64))
        return made

    def _needed(self, code: StructuredBuilder, slot: llvm.Value, need: llvm.Value, lanes: llvm.Value) -> llvm.Value:
        """Which of these lanes wait: at a convergence barrier that is saved in registers only those that are in it."""
        if not self.restores:
            return lanes
        at_meeting = code.b.icmp_signed("<", slot, i32(WARPSYNC))
        return code.b.and_(lanes, code.b.select(at_meeting, need, i32(-1)))

    def _is_sync(self, code: StructuredBuilder, slot: llvm.Value) -> llvm.Value:
        b = code.b
        return b.or_(*(b.icmp_signed("==", slot, i32(sync)) for sync in (WARPSYNC, EVERYBODY)))

    def _there(self, code: StructuredBuilder, warp: llvm.Value, slot: llvm.Value, pc: llvm.Value) -> llvm.Value:
        """Lanes that wait at slot; with WARPSYNC.ALL only those that wait in the same place.

        Halves of a warp that come to two of them hang on an H200 (measurements/README.md).
        """
        b = code.b
        places = b.load(code.field(WarpState, warp, "lane_pc"), typ=vector(I32), align=4)
        same = b.bitcast(b.icmp_signed("==", places, LlvmEmitter(b).splat(pc)), I32)
        anywhere = b.icmp_signed("!=", slot, i32(EVERYBODY))
        return b.and_(code.load(WarpState, warp, "waiting", slot), b.select(anywhere, i32(-1), same))

    def _release_if_all(
        self,
        code: StructuredBuilder,
        env: llvm.Value,
        warp: llvm.Value,
        slot: llvm.Value,
        waiting: llvm.Value,
        need: llvm.Value,
        again: llvm.Value,
        coming: llvm.Value | None = None,
    ) -> None:
        """again: whether the lanes issue the instruction at which they waited once more; coming: who has just come.

        Barriers that are saved in registers (recursion) ask only whether their lanes wait, at any BSYNC; who comes and
        is not in the barrier passes.  Who waits elsewhere is then ready to issue its own BSYNC, when it is its turn
        (read off an H200: measurements/README.md, Recursion).
        """
        b = code.b
        wanted = b.and_(need, b.not_(code.load(WarpState, warp, "exited")))
        at_meeting = b.icmp_signed("<", slot, i32(WARPSYNC))
        joining = coming if self.restores else None
        if joining is not None:
            waiting = b.select(at_meeting, self._waiting(code, warp), waiting)
        there = b.icmp_signed("==", b.and_(waiting, wanted), wanted)
        if joining is not None:
            here = self._with(code, warp, joining)
            elsewhere = b.select(at_meeting, b.and_(wanted, b.not_(here)), i32(0))
            wanted = b.select(at_meeting, b.and_(b.or_(wanted, joining), here), wanted)
            passing = b.select(at_meeting, b.and_(joining, b.not_(need)), i32(0))
            with code.when(b.and_(b.not_(there), code.nonzero(passing)), likely=False):
                place = code.load(WarpState, warp, "lane_pc", code.lowest(joining))
                b.call(self.put, [warp, place, passing])
        with code.when(b.and_(there, code.nonzero(wanted))):
            with code.when(b.icmp_signed(">=", slot, i32(WARPSYNC))):
                code.store(1, WarpState, warp, "merged")  # lanes of one BSSY, which may have run it at different times
            with code.when(self._is_sync(code, slot)):
                self.watch.meet(code, warp, wanted)
            all_waiting = code.load(WarpState, warp, "waiting", slot)
            code.store(b.and_(all_waiting, b.not_(wanted)), WarpState, warp, "waiting", slot)
            with code.when(again, likely=False):
                pc = code.load(WarpState, warp, "lane_pc", code.lowest(wanted))
                pc = b.and_(pc, i32(INSTRUCTION))
                self.replay(code, env, b.sub(pc, i32(1)), wanted)
            if joining is not None:
                with code.when(code.nonzero(elsewhere), likely=False):
                    self._ready_again(code, warp, elsewhere)
            b.call(self.push_groups, [warp, wanted, code.field(WarpState, warp, "lane_pc")])

    def _with(self, code: StructuredBuilder, warp: llvm.Value, lanes: llvm.Value) -> llvm.Value:
        """Lanes that wait in the same place as these, or did so last."""
        places = code.b.load(code.field(WarpState, warp, "lane_pc"), typ=vector(I32), align=4)
        place = code.b.extract_element(places, code.lowest(lanes))
        return code.b.bitcast(code.b.icmp_signed("==", places, LlvmEmitter(code.b).splat(place)), I32)

    def _ready_again(self, code: StructuredBuilder, warp: llvm.Value, lanes: llvm.Value) -> None:
        """Lanes that wait at another BSYNC than the one passed do not pass theirs: they are ready to issue it."""
        b = code.b
        place = code.field(WarpState, warp, "lane_pc")
        behind = b.load(place, typ=vector(I32), align=4)
        at = b.sub(behind, LlvmEmitter(b).splat(i32(1)))
        b.store(b.select(b.bitcast(lanes, vector(I1)), at, behind), place, align=4)
        for slot in range(WARPSYNC):
            waiting = code.load(WarpState, warp, "waiting", slot)
            code.store(b.and_(waiting, b.not_(lanes)), WarpState, warp, "waiting", slot)
        b.call(self.push_groups, [warp, lanes, place])

    def replay(self, code: StructuredBuilder, env: llvm.Value, instruction: llvm.Value, lanes: llvm.Value) -> None:
        """Counts another issue of a meeting."""
        b = code.b
        row = code.at(code.load(WorkerEnv, env, "rows"), b.mul(code.widened(instruction), i64(8 * COLUMNS)))
        code.bump(code.at(row, 8 * REPLAYS))
        code.bump(code.at(row, 8 * REPLAYED), b.zext(code.popcount(lanes), I64))

    @cached_property
    def recheck(self) -> llvm.Function:
        """recheck(env, warp): lanes have left; whoever waited only for them goes on, and issues its BSYNC once more."""
        made, code = function(self.module, "recheck", VOID, [PTR, PTR])
        env, warp = made.args
        b = code.b
        first = i32(0)
        if self.gives_way:
            code.each(i32(WARPSYNC), lambda slot: b.call(self.let_go, [env, warp, slot, i32(0)]))
            first = i32(WARPSYNC)

        def slot_of(slot: llvm.Value) -> None:
            left = code.variable(I32, code.load(WarpState, warp, "waiting", slot))

            def group() -> None:
                rest = b.load(left, typ=I32)
                lane = code.lowest(rest)
                need = code.load(WarpState, warp, "lane_need", lane)
                waiting = self._there(code, warp, slot, code.load(WarpState, warp, "lane_pc", lane))
                again = llvm.IRConstant(I1, 1) if self.gives_way else b.icmp_signed("<", slot, i32(WARPSYNC))
                self._release_if_all(code, env, warp, slot, waiting, need, again)
                b.store(b.and_(rest, b.not_(b.or_(need, code.bit(lane)))), left)

            code.loop(lambda: code.nonzero(b.load(left, typ=I32)), group)

        code.each(b.sub(i32(WAIT_SLOTS), first), lambda slot: slot_of(b.add(slot, first)))
        b.ret_void()
        return made

    @cached_property
    def leave(self) -> llvm.Function:
        """leave(env, warp, slot, mask): nobody waits at slot for the lanes of mask any longer."""
        made, code = function(self.module, "leave", VOID, [PTR, PTR, I32, I32])
        env, warp, slot, mask = made.args
        b = code.b
        place = code.field(WarpState, warp, "lane_need")
        old = b.load(place, typ=vector(I32), align=4)
        new = b.and_(old, LlvmEmitter(b).splat(b.not_(mask)))
        there = b.bitcast(code.load(WarpState, warp, "waiting", slot), vector(I1))
        b.store(b.select(there, new, old), place, align=4)
        b.call(self.recheck, [env, warp])
        b.ret_void()
        return made

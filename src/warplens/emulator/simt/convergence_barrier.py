"""Convergence barriers (BSSY, BSYNC) and WARPSYNC: arrival, completion, release.

BSYNC of functions that save their barriers in registers was measured on 364 warps (H200, measurements/README.md,
Recursion).  In kernels whose lanes yield, convergence_barrier_yield.py handles BSYNC.
"""

from __future__ import annotations

from functools import cached_property

from warplens import llvm
from warplens.emulator.codegen.emitter import LlvmEmitter
from warplens.emulator.codegen.structured_builder import StructuredBuilder, function, i32, i64
from warplens.emulator.codegen.vector_types import I1, I32, I64, PTR, vector
from warplens.emulator.instrument.instrumentation import Instrumentation
from warplens.emulator.simt.lane_arrays import assign, entries, equal, suspended_at
from warplens.emulator.simt.simt_stack import VOID, SimtStack
from warplens.emulator.state.counter_layout import COLUMNS, REPLAYED, REPLAYS
from warplens.emulator.state.structs import (
    COLLECTIVE,
    FULL_WARP,
    INSTRUCTION,
    WAIT_SLOTS,
    WARPSYNC,
    WarpState,
    WorkerEnv,
)


class ConvergenceBarriers:
    """Convergence barriers: owns `WarpState.barriers`; emits each of its functions on first use.

    restores   whether barriers are restored from registers, as in recursion
    may_yield  whether lanes may yield: then a barrier is one register of the warp, kept here
    """

    def __init__(
        self, module: llvm.IRModule, watch: Instrumentation, stack: SimtStack, restores: bool, may_yield: bool
    ) -> None:
        self.module = module
        self.watch = watch
        self.stack = stack
        self.restores = restores
        self.may_yield = may_yield

    # State, read and changed by other parts

    def waiting_at(self, code: StructuredBuilder, warp: llvm.Value, slot: llvm.Value | int) -> llvm.Value:
        """Lanes that wait at a slot."""
        return code.load(WarpState, warp, "barriers.waiting", slot)

    def waiting(self, code: StructuredBuilder, warp: llvm.Value, slots: int = WARPSYNC) -> llvm.Value:
        """Lanes that wait at any of the first `slots`: a few loads, seldom executed."""
        lanes: llvm.Value = i32(0)
        for slot in range(slots):
            lanes = code.b.or_(lanes, self.waiting_at(code, warp, slot))
        return lanes

    def wait_no_longer(
        self, code: StructuredBuilder, warp: llvm.Value, slot: llvm.Value | int, lanes: llvm.Value
    ) -> None:
        kept = code.b.and_(self.waiting_at(code, warp, slot), code.b.not_(lanes))
        code.store(kept, WarpState, warp, "barriers.waiting", slot)

    def suspend(
        self, code: StructuredBuilder, warp: llvm.Value, lanes: llvm.Value, pc: llvm.Value, need: llvm.Value
    ) -> None:
        """Suspends lanes: they resume at pc, and wait for `need` if they wait."""
        assign(code, warp, "resume_pc", lanes, pc)
        assign(code, warp, "barriers.need", lanes, need)

    def collective_pc(self, code: StructuredBuilder, warp: llvm.Value) -> llvm.Value:
        """The address of 32 pcs: where each lane resumes after WARPSYNC.COLLECTIVE."""
        return code.field(WarpState, warp, "barriers.collective_pc")

    def wait(self, code: StructuredBuilder, warp: llvm.Value, slot: llvm.Value, lanes: llvm.Value) -> None:
        waiting = code.b.or_(self.waiting_at(code, warp, slot), lanes)
        code.store(waiting, WarpState, warp, "barriers.waiting", slot)

    def lanes(self, code: StructuredBuilder, warp: llvm.Value, slot: llvm.Value | int) -> llvm.Value:
        """Lanes of a barrier, in a kernel whose lanes yield."""
        return code.load(WarpState, warp, "barriers.lanes", slot)

    def set_lanes(
        self, code: StructuredBuilder, warp: llvm.Value, slot: llvm.Value | int, lanes: llvm.Value | int
    ) -> None:
        code.store(lanes, WarpState, warp, "barriers.lanes", slot)

    def needed(self, code: StructuredBuilder, warp: llvm.Value, slot: llvm.Value) -> llvm.Value:
        """Lanes that a BSYNC waits for: those of the barrier, and those skipped when it was last passed."""
        return code.b.or_(self.lanes(code, warp, slot), code.load(WarpState, warp, "barriers.skipped", slot))

    def set_skipped(
        self, code: StructuredBuilder, warp: llvm.Value, slot: llvm.Value | int, lanes: llvm.Value | int
    ) -> None:
        code.store(lanes, WarpState, warp, "barriers.skipped", slot)

    def clear_skipped(self, code: StructuredBuilder, warp: llvm.Value, lanes: llvm.Value) -> None:
        """These lanes run again: they are no longer skipped at any barrier."""
        rest = code.b.not_(lanes)
        for slot in range(WARPSYNC):
            skipped = code.load(WarpState, warp, "barriers.skipped", slot)
            self.set_skipped(code, warp, slot, code.b.and_(skipped, rest))

    def note_extended(self, code: StructuredBuilder, warp: llvm.Value, slot: int, whether: llvm.Value) -> None:
        self._note(code, warp, "barriers.extended", slot, whether)

    def note_restored(self, code: StructuredBuilder, warp: llvm.Value, slot: int, whether: llvm.Value) -> None:
        self._note(code, warp, "barriers.restored", slot, whether)

    def _note(self, code: StructuredBuilder, warp: llvm.Value, field: str, slot: int, whether: llvm.Value) -> None:
        bit = i32(1 << slot)
        others = code.b.and_(code.load(WarpState, warp, field), code.b.not_(bit))
        code.store(code.b.or_(others, code.b.select(whether, bit, i32(0))), WarpState, warp, field)

    def extended(self, code: StructuredBuilder, warp: llvm.Value, slot: llvm.Value) -> llvm.Value:
        """Whether several BSSY have added lanes to a barrier."""
        return code.nonzero(code.b.and_(code.load(WarpState, warp, "barriers.extended"), code.bit(slot)))

    def restored(self, code: StructuredBuilder, warp: llvm.Value, slot: llvm.Value) -> llvm.Value:
        """Whether a barrier was last written from a register."""
        return code.nonzero(code.b.and_(code.load(WarpState, warp, "barriers.restored"), code.bit(slot)))

    def replay(self, code: StructuredBuilder, env: llvm.Value, instruction: llvm.Value, lanes: llvm.Value) -> None:
        """Counts another issue of a BSYNC or WARPSYNC."""
        if not self.watch.counts:
            return
        b = code.b
        row = code.at(code.load(WorkerEnv, env, "rows"), b.mul(code.widened(instruction), i64(8 * COLUMNS)))
        code.bump(code.at(row, 8 * REPLAYS))
        code.bump(code.at(row, 8 * REPLAYED), b.zext(code.popcount(lanes), I64))

    # Arrival

    @cached_property
    def arrive(self) -> llvm.Function:
        """arrive(env, warp, slot, need, mask, pc): lanes of mask wait at slot for all lanes of need; together they
        resume at pc.  The caller then takes the next split."""
        made, code = function(self.module, "arrive", VOID, [PTR, PTR, I32, I32, I32, I32])
        env, warp, slot, need, mask, pc = made.args
        b = code.b
        if not self.restores:  # lanes in no barrier (it was passed without them) wait only for themselves
            need = b.select(code.nonzero(need), need, mask)
        earlier = self.waiting_at(code, warp, slot)
        # The code of the lanes that arrive last handles the operation of all.
        together = b.select(b.icmp_signed("==", slot, i32(COLLECTIVE)), b.or_(mask, earlier), mask)
        assign(code, warp, "resume_pc", together, pc)
        assign(code, warp, "barriers.need", mask, need)
        self.wait(code, warp, slot, self._waiters(code, slot, need, mask))
        waited = code.nonzero(b.and_(earlier, need))
        again = b.or_(self.restored(code, warp, slot), b.and_(waited, self._is_sync(code, slot)))
        self._release_if_complete(code, env, warp, slot, self._arrived(code, warp, slot, pc), need, again, mask)
        b.ret_void()
        return made

    @cached_property
    def arrive_each(self) -> llvm.Function:
        """arrive_each(env, warp, slot, needs, mask, pc) -> lanes of the replays: each lane waits for the lanes of its
        own needs[lane], and every different need takes an issue."""
        made, code = function(self.module, "arrive_each", I64, [PTR, PTR, I32, PTR, I32, I32])
        env, warp, slot, needs, mask, pc = made.args
        b = code.b
        left, replayed = code.variable(I32, mask), code.variable(I64, i64(0))

        def group() -> None:
            rest = b.load(left, typ=I32)
            all_needs = b.load(needs, typ=vector(I32), align=4)
            members = self.stack.issue_group(code, all_needs, rest)
            need = b.extract_element(all_needs, code.lowest(members))
            b.call(self.arrive, [env, warp, slot, need, members, pc])
            rest = b.and_(rest, b.not_(members))
            code.bump(replayed, b.zext(code.popcount(rest), I64))
            b.store(rest, left)

        code.loop(lambda: code.nonzero(b.load(left, typ=I32)), group)
        b.ret(b.load(replayed, typ=I64))
        return made

    def _waiters(self, code: StructuredBuilder, slot: llvm.Value, need: llvm.Value, lanes: llvm.Value) -> llvm.Value:
        """Which of these lanes wait: at a barrier saved in registers only those in it."""
        if not self.restores:
            return lanes
        at_bsync = code.b.icmp_signed("<", slot, i32(WARPSYNC))
        return code.b.and_(lanes, code.b.select(at_bsync, need, i32(-1)))

    def _is_sync(self, code: StructuredBuilder, slot: llvm.Value) -> llvm.Value:
        b = code.b
        return b.or_(*(b.icmp_signed("==", slot, i32(sync)) for sync in (WARPSYNC, FULL_WARP)))

    def _arrived(self, code: StructuredBuilder, warp: llvm.Value, slot: llvm.Value, pc: llvm.Value) -> llvm.Value:
        """Lanes that wait at slot; with WARPSYNC.ALL only those that wait at the same pc.

        Halves of a warp that arrive at two of them hang on an H200 (measurements/README.md).
        """
        b = code.b
        anywhere = b.icmp_signed("!=", slot, i32(FULL_WARP))
        same = suspended_at(code, warp, pc)
        return b.and_(self.waiting_at(code, warp, slot), b.select(anywhere, i32(-1), same))

    # Release

    def _release_if_complete(
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
        """Lanes of `need` resume if all of them wait or have exited.

        again   whether they reissue the instruction at which they waited
        coming  lanes that have just arrived

        Barriers saved in registers (recursion) require only that their lanes wait, at any BSYNC; arriving lanes that
        are not in the barrier pass.  Lanes that wait elsewhere become ready to issue their own BSYNC, in their turn
        (measured on an H200: measurements/README.md, Recursion).
        """
        b = code.b
        wanted = b.and_(need, b.not_(code.load(WarpState, warp, "exited")))
        at_bsync = b.icmp_signed("<", slot, i32(WARPSYNC))
        joining = coming if self.restores else None
        if joining is not None:
            waiting = b.select(at_bsync, self.waiting(code, warp), waiting)
        complete = b.icmp_signed("==", b.and_(waiting, wanted), wanted)
        if joining is not None:
            here = suspended_at(code, warp, code.load(WarpState, warp, "resume_pc", code.lowest(joining)))
            elsewhere = b.select(at_bsync, b.and_(wanted, b.not_(here)), i32(0))
            wanted = b.select(at_bsync, b.and_(b.or_(wanted, joining), here), wanted)
            passing = b.select(at_bsync, b.and_(joining, b.not_(need)), i32(0))
            with code.when(b.and_(b.not_(complete), code.nonzero(passing)), likely=False):
                pc = code.load(WarpState, warp, "resume_pc", code.lowest(joining))
                b.call(self.stack.push, [warp, pc, passing])
        with code.when(b.and_(complete, code.nonzero(wanted))):
            with code.when(b.icmp_signed(">=", slot, i32(WARPSYNC))):
                self.stack.mark_merged(code, warp)  # lanes of one BSSY may have executed it at different times
            with code.when(self._is_sync(code, slot)):
                self.watch.reconverge(code, warp, wanted)
            self.wait_no_longer(code, warp, slot, wanted)
            with code.when(again, likely=False):
                pc = code.load(WarpState, warp, "resume_pc", code.lowest(wanted))
                pc = b.and_(pc, i32(INSTRUCTION))
                self.replay(code, env, b.sub(pc, i32(1)), wanted)
            if joining is not None:
                with code.when(code.nonzero(elsewhere), likely=False):
                    self._ready_to_reissue(code, warp, elsewhere)
            self.push_resumed(code, warp, wanted)

    def push_resumed(self, code: StructuredBuilder, warp: llvm.Value, lanes: llvm.Value) -> None:
        """These lanes are ready, each at its resume_pc."""
        code.b.call(self.stack.push_groups, [warp, lanes, code.field(WarpState, warp, "resume_pc")])

    def _ready_to_reissue(self, code: StructuredBuilder, warp: llvm.Value, lanes: llvm.Value) -> None:
        """Lanes that wait at another BSYNC than the passed one do not pass theirs: they become ready to reissue it."""
        b = code.b
        after = entries(code, warp, "resume_pc")
        assign(code, warp, "resume_pc", lanes, b.sub(after, LlvmEmitter(b).splat(i32(1))))
        for slot in range(WARPSYNC):
            self.wait_no_longer(code, warp, slot, lanes)
        self.push_resumed(code, warp, lanes)

    def release_complete(self, code: StructuredBuilder, env: llvm.Value, warp: llvm.Value, from_slot: int) -> None:
        """Lanes have exited: those that waited only for them, at slots from `from_slot` on, resume and reissue."""
        b = code.b

        def release(slot: llvm.Value) -> None:
            left = code.variable(I32, self.waiting_at(code, warp, slot))

            def group() -> None:
                rest = b.load(left, typ=I32)
                lane = code.lowest(rest)
                need = code.load(WarpState, warp, "barriers.need", lane)
                arrived = self._arrived(code, warp, slot, code.load(WarpState, warp, "resume_pc", lane))
                again = llvm.IRConstant(I1, 1) if self.may_yield else b.icmp_signed("<", slot, i32(WARPSYNC))
                self._release_if_complete(code, env, warp, slot, arrived, need, again)
                b.store(b.and_(rest, b.not_(b.or_(need, code.bit(lane)))), left)

            code.loop(lambda: code.nonzero(b.load(left, typ=I32)), group)

        code.each(i32(WAIT_SLOTS - from_slot), lambda slot: release(b.add(slot, i32(from_slot))))

    def drop_needed(self, code: StructuredBuilder, warp: llvm.Value, slot: llvm.Value, lanes: llvm.Value) -> None:
        """BREAK: no lane waits at slot for these lanes any longer."""
        needs = entries(code, warp, "barriers.need")
        fewer = code.b.and_(needs, LlvmEmitter(code.b).splat(code.b.not_(lanes)))
        assign(code, warp, "barriers.need", self.waiting_at(code, warp, slot), fewer)

    @cached_property
    def rejoin(self) -> llvm.Function:
        """rejoin(warp, slot, need, pc) -> lanes that wait at slot, to resume at pc; they no longer wait.

        With barriers saved in registers, or where lanes yield, all of them; else those that wait for need.
        """
        made, code = function(self.module, "rejoin", I32, [PTR, I32, I32, I32])
        warp, slot, need, pc = made.args
        lanes = code.b.and_(self.waiting_at(code, warp, slot), suspended_at(code, warp, pc))
        if not (self.restores or self.may_yield):
            lanes = code.b.and_(lanes, equal(code, entries(code, warp, "barriers.need"), need))
        self.wait_no_longer(code, warp, slot, lanes)
        code.b.ret(lanes)
        return made

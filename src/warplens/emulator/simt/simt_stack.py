"""The stack of a warp's ready splits: who runs next, as an H200 chooses (see measurements/README.md).

Routines built into every translated kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from warplens import llvm
from warplens.emulator.codegen.emitter import LlvmEmitter
from warplens.emulator.codegen.structured_builder import StructuredBuilder, function, i32, i64
from warplens.emulator.codegen.vector_types import I32, I64, PTR, vector
from warplens.emulator.state.structs import AT_JUMP, EARLIER, WarpState

VOID = llvm.VoidType()


class SimtStack:
    """Routines of one module, each made when it is first asked for."""

    module: llvm.IRModule
    restores: bool  # whether convergence barriers come back from registers: recursion does that
    gives_way: bool  # whether lanes may give way to others (yielding.py)

    @cached_property
    def push(self) -> llvm.Function:
        """push(warp, pc, mask): a split that runs next; one that was to run next is buried."""
        made, code = function(self.module, "push", VOID, [PTR, I32, I32])
        warp, pc, mask = made.args
        n = code.load(WarpState, warp, "ready")
        below = code.b.lshr(code.bit(n), i32(1))
        code.store(code.b.or_(code.load(WarpState, warp, "buried"), below), WarpState, warp, "buried")
        code.b.call(self.put, [warp, pc, mask])
        code.b.ret_void()
        return made

    @cached_property
    def put(self) -> llvm.Function:
        """put(warp, pc, mask): a split that runs next, and at once: it buries none."""
        made, code = function(self.module, "put", VOID, [PTR, I32, I32], inline=True)
        warp, pc, mask = made.args
        n = code.load(WarpState, warp, "ready")
        buried = code.load(WarpState, warp, "buried")
        code.store(code.b.and_(buried, code.b.not_(code.bit(n))), WarpState, warp, "buried")
        code.store(pc, WarpState, warp, "ready_pc", n)
        code.store(mask, WarpState, warp, "ready_mask", n)
        code.store(code.b.add(n, i32(1)), WarpState, warp, "ready")
        code.b.ret_void()
        return made

    @cached_property
    def push_last(self) -> llvm.Function:
        """push_last(warp, pc, mask): a split that runs after all that are ready now."""
        made, code = function(self.module, "push_last", VOID, [PTR, I32, I32])
        warp, pc, mask = made.args
        b = code.b
        n = code.load(WarpState, warp, "ready")

        def move(i: llvm.Value) -> None:
            to = b.sub(n, i)
            for name in ("ready_pc", "ready_mask"):
                code.store(code.load(WarpState, warp, name, b.sub(to, i32(1))), WarpState, warp, name, to)

        code.each(n, move)
        code.store(b.shl(code.load(WarpState, warp, "buried"), i32(1)), WarpState, warp, "buried")
        code.store(pc, WarpState, warp, "ready_pc", 0)
        code.store(mask, WarpState, warp, "ready_mask", 0)
        code.store(b.add(n, i32(1)), WarpState, warp, "ready")
        b.ret_void()
        return made

    @cached_property
    def next_split(self) -> llvm.Function:
        """next_split(env, warp): takes the newest ready split, mask to warp.exec; its place, or -1 if there is none.

        A split that was buried has lost its shape: it runs together with all that are ready at its place.
        """
        made, code = function(self.module, "next_split", I32, [PTR, PTR], inline=True)
        env, warp = made.args
        if self.gives_way:
            self._until_one_goes_on(code, env, warp, lambda: self._pop(code, env, warp))
        else:
            code.b.ret(self._pop(code, env, warp))
        return made

    def _pop(self, code: StructuredBuilder, env: llvm.Value, warp: llvm.Value) -> llvm.Value:
        b = code.b
        before = code.load(WarpState, warp, "exec")
        turned = self._next_turn(code, env, warp) if self.gives_way else None
        n = code.load(WarpState, warp, "ready")
        with code.when(b.icmp_signed("==", n, i32(0)), likely=False):
            b.ret(i32(-1))
        last = b.sub(n, i32(1))
        code.store(last, WarpState, warp, "ready")
        pc = code.load(WarpState, warp, "ready_pc", last)
        code.store(code.load(WarpState, warp, "ready_mask", last), WarpState, warp, "exec")
        code.store(0, WarpState, warp, "dug")
        at_jump = b.and_(pc, i32(AT_JUMP))
        pc = b.xor(pc, at_jump)
        buried_now = code.nonzero(b.and_(code.load(WarpState, warp, "buried"), code.bit(last)))
        buried_now = b.and_(buried_now, b.not_(code.nonzero(at_jump)))
        with code.when(buried_now, likely=False):
            code.store(b.add(pc, i32(1)), WarpState, warp, "dug")
            b.call(self.gather, [warp, pc])
        if turned is not None:
            self._taken(code, warp)
            stays = code.nonzero(b.and_(before, b.not_(code.load(WarpState, warp, "exited"))))
            with code.when(b.and_(turned, stays)):
                self._back(code, warp)
        return pc

    def _until_one_goes_on(
        self, code: StructuredBuilder, env: llvm.Value, warp: llvm.Value, pop: Callable[[], llvm.Value]
    ) -> None:  # fmt: skip
        raise NotImplementedError

    def _next_turn(self, code: StructuredBuilder, env: llvm.Value, warp: llvm.Value) -> llvm.Value:
        raise NotImplementedError

    def _taken(self, code: StructuredBuilder, warp: llvm.Value) -> None:
        raise NotImplementedError

    def _back(self, code: StructuredBuilder, warp: llvm.Value) -> None:
        raise NotImplementedError

    def _gave_way_at(self, code: StructuredBuilder, warp: llvm.Value, place: llvm.Value) -> llvm.Value:
        raise NotImplementedError

    @cached_property
    def gather(self) -> llvm.Function:
        """gather(warp, pc): lanes that are ready at pc join warp.exec."""
        made, code = function(self.module, "gather", VOID, [PTR, I32])
        warp, pc = made.args
        b = code.b
        kept = code.variable(I32, i32(0))
        buried = code.variable(I32, i32(0))

        def visit(i: llvm.Value) -> None:
            place, mask = (code.load(WarpState, warp, f"ready_{name}", i) for name in ("pc", "mask"))
            with b.if_else(b.icmp_signed("==", place, pc)) as (joins, stays):
                with joins:
                    code.bump(code.field(WarpState, warp, "exec"), mask, I32)
                    code.store(1, WarpState, warp, "merged")
                with stays:
                    k = b.load(kept, typ=I32)
                    code.store(place, WarpState, warp, "ready_pc", k)
                    code.store(mask, WarpState, warp, "ready_mask", k)
                    flag = b.and_(b.lshr(code.load(WarpState, warp, "buried"), i), i32(1))
                    b.store(b.or_(b.load(buried, typ=I32), b.shl(flag, k)), buried)
                    b.store(b.add(k, i32(1)), kept)

        code.each(code.load(WarpState, warp, "ready"), visit)
        code.store(b.load(kept, typ=I32), WarpState, warp, "ready")
        code.store(b.load(buried, typ=I32), WarpState, warp, "buried")
        if self.gives_way:
            too = self._gave_way_at(code, warp, pc)
            code.store(b.or_(code.load(WarpState, warp, "exec"), too), WarpState, warp, "exec")
            code.store(b.and_(code.load(WarpState, warp, "gave_way"), b.not_(too)), WarpState, warp, "gave_way")
        b.ret_void()
        return made

    @cached_property
    def rejoin(self) -> llvm.Function:
        """rejoin(warp, slot, need, pc) -> lanes that wait at slot, to go on from pc; they no longer wait.

        Of barriers that are saved in registers, or where lanes give way, all of them; else those that wait for need.
        """
        made, code = function(self.module, "rejoin", I32, [PTR, I32, I32, I32])
        warp, slot, need, pc = made.args
        b = code.b
        lanes = code.load(WarpState, warp, "waiting", slot)
        for name, value in (("lane_pc", pc), ("lane_need", need))[: 1 if self.restores or self.gives_way else 2]:
            kept = b.load(code.field(WarpState, warp, name), typ=vector(I32), align=4)
            lanes = b.and_(lanes, b.bitcast(b.icmp_signed("==", kept, LlvmEmitter(b).splat(value)), I32))
        waiting = code.load(WarpState, warp, "waiting", slot)
        code.store(b.and_(waiting, b.not_(lanes)), WarpState, warp, "waiting", slot)
        b.ret(lanes)
        return made

    @cached_property
    def push_groups(self) -> llvm.Function:
        """push_groups(warp, mask, places): lanes of mask become ready, one split for each place in places[lane]."""
        made, code = function(self.module, "push_groups", VOID, [PTR, I32, PTR])
        warp, mask, places = made.args
        b = code.b
        left = code.variable(I32, mask)

        def group() -> None:
            rest = b.load(left, typ=I32)
            all_places = b.load(places, typ=vector(I32), align=4)
            place = b.extract_element(all_places, code.lowest(rest))
            same = b.icmp_signed("==", all_places, LlvmEmitter(b).splat(place))
            members = b.and_(b.bitcast(same, I32), rest)
            b.call(self.put, [warp, b.and_(place, i32(EARLIER - 1)), members])
            b.store(b.and_(rest, b.not_(members)), left)

        code.loop(lambda: code.nonzero(b.load(left, typ=I32)), group)
        b.ret_void()
        return made

    def served(self, code: StructuredBuilder, values: llvm.Value, rest: llvm.Value) -> llvm.Value:
        """Which lanes of `rest` one issue serves: those with the value of the lowest; if that is more than half of
        them, with that of the lowest of the others.  So it is with the targets of a jump and the masks of
        WARPSYNC.EXCLUSIVE."""
        b = code.b

        def like(lane: llvm.Value) -> llvm.Value:
            same = b.icmp_signed("==", values, LlvmEmitter(b).splat(b.extract_element(values, lane)))
            return b.and_(b.bitcast(same, I32), rest)

        first = like(code.lowest(rest))
        others = b.and_(rest, b.not_(first))
        most = b.icmp_signed(">", code.popcount(first), code.popcount(others))
        second = like(b.and_(code.lowest(others), i32(31)))
        return b.select(b.and_(most, code.nonzero(others)), second, first)

    @cached_property
    def push_targets(self) -> llvm.Function:
        """push_targets(warp, mask, places) -> lanes of the replays, summed.

        Lanes of mask jump to places[lane].  An issue serves one target, the others wait at the jump and issue it
        again.
        """
        made, code = function(self.module, "push_targets", I64, [PTR, I32, PTR])
        warp, mask, places = made.args
        b = code.b
        left, replayed = code.variable(I32, mask), code.variable(I64, i64(0))
        chosen, count = code.variable(vector(I32)), code.variable(I32, i32(0))
        all_places = b.load(places, typ=vector(I32), align=4)

        def issue() -> None:
            rest = b.load(left, typ=I32)
            group = self.served(code, all_places, rest)
            n = b.load(count, typ=I32)
            b.store(group, b.gep(chosen, [n], source_etype=I32))
            b.store(b.add(n, i32(1)), count)
            rest = b.and_(rest, b.not_(group))
            code.bump(replayed, b.zext(code.popcount(rest), I64))
            b.store(rest, left)

        code.loop(lambda: code.nonzero(b.load(left, typ=I32)), issue)

        def put(i: llvm.Value) -> None:
            last = b.sub(b.sub(b.load(count, typ=I32), i32(1)), i)
            group = b.load(b.gep(chosen, [last], source_etype=I32), typ=I32)
            place = b.extract_element(all_places, code.lowest(group))
            with b.if_else(b.icmp_signed("==", i, i32(0))) as (deepest, above):
                with deepest:
                    several = b.icmp_signed(">", b.load(count, typ=I32), i32(1))
                    with code.when(several):
                        b.call(self.push, [warp, b.or_(place, i32(AT_JUMP)), group])
                    with code.when(b.not_(several)):
                        b.call(self.put, [warp, place, group])
                with above:
                    first = b.icmp_signed("==", last, i32(0))
                    b.call(self.put, [warp, b.select(first, place, b.or_(place, i32(AT_JUMP))), group])

        code.each(b.load(count, typ=I32), put)
        code.store(1, WarpState, warp, "jumps")
        b.ret(b.load(replayed, typ=I64))
        return made

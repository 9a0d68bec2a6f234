"""What a sentence says of control flow, written as LLVM."""

from __future__ import annotations

from typing import Literal

from llvmlite import ir

from warplens.emulator.at_instruction import AtInstruction
from warplens.emulator.code import i32
from warplens.emulator.layout import (
    ALL_THREADS,
    COLLECTIVE,
    WARPSYNC,
    Block,
    FaultKind,
    Reduce,
    Warp,
)
from warplens.emulator.plan import DIVERGENT, ON, PARTED, REPLAYED, REPLAYS
from warplens.emulator.site import V32
from warplens.emulator.vectors import I1, I32, I64, LANES, is_vector, vector
from warplens.isa._lanes import U32, Pred
from warplens.program import Label, Register


class WarpControl(AtInstruction):
    """Where lanes go, part, meet and wait.  Only active lanes take part."""

    def _next(self) -> int:
        return self.at.index + 1

    def branch(self, target: Label, when: Pred | None = None, uniform: bool = False) -> None:
        b = self.b
        there, behind = target.offset // 16, self._next()
        condition = self.condition
        if when is not None:
            condition = (
                when.node if condition is None else b.and_(self.e.splat(condition), self.e.splat(when.node))
            )
        if condition is None:
            self.f.go_on(there, self.at.index)
            return
        if is_vector(condition):
            taken = b.bitcast(b.and_(self.lanes, condition), I32)
        else:
            taken = b.select(condition, self.mask, i32(0))
        if when is not None:
            self.count(ON, b.zext(self.code.popcount(taken), I64))  # the lanes that go, as an H200 counts
        self._part(taken, there, behind)

    def _part(self, taken: ir.Value, there: int, behind: int) -> None:
        """Lanes of `taken` go there, the others on.  Of a split that parts the smaller half runs first, the half
        that falls through if they are equal: so an H200 does (measurements/README.md, E1)."""
        b, code = self.b, self.code
        some, go, mixed, stay = (b.append_basic_block(n) for n in ("some", "go", "mixed", "stay"))
        b.cbranch(b.icmp_signed("==", taken, i32(0)), stay, some)
        b.position_at_end(some)
        b.cbranch(b.icmp_signed("==", taken, self.mask), go, mixed).set_weights([10, 1])
        b.position_at_end(mixed)
        self.count(DIVERGENT)
        self.count(PARTED)
        rest = b.and_(self.mask, b.not_(taken))
        first = b.icmp_signed("<", code.popcount(taken), code.popcount(rest))
        later = b.select(first, self.f.later(behind), self.f.later(there))
        b.call(self.runtime.push, [self.f.warp, later, b.select(first, rest, taken)])
        b.store(b.select(first, taken, rest), self.f.exec)
        if there <= self.at.index:
            self.f.spend(self.at.index - there + 1)
        b.cbranch(first, go, stay)
        b.position_at_end(go)
        self.f.go_on(there, self.at.index)
        b.position_at_end(stay)
        self.f.go_on(behind, self.at.index)

    def branch_any(self, target: Label) -> None:
        taken = self.b.icmp_signed("!=", self.active_mask, i32(0))
        self._either(taken, target)

    def _either(self, taken: ir.Value, target: Label) -> None:
        yes, no = (self.b.append_basic_block(n) for n in ("yes", "no"))
        self.b.cbranch(taken, yes, no)
        self.b.position_at_end(yes)
        self.f.go_on(target.offset // 16, self.at.index)
        self.b.position_at_end(no)
        self.f.go_on(self._next(), self.at.index)

    def branch_unless_mask(self, mask: U32, target: Label, equal: bool) -> None:
        """Lanes that do not exist or have exited are not missed: seen on an H200, where a warp of 8 threads passes
        BRA.DIV with a mask of all lanes.  A lane whose guard is false goes along, but is not one of those wanted."""
        wanted = self.b.and_(self.first(mask).node, self.b.not_(self._exited()))
        order = "==" if equal else "!="
        self._either(self.b.icmp_signed(order, self.active_mask, wanted), target)

    def jump(self, low: U32, high: U32, base: int = 0) -> None:
        b = self.b
        places = b.lshr(self.e.splat((low + base).node), self.e.splat(i32(4)))
        self.f.all_later()
        slot = self.code.variable(V32, places)
        rest = b.and_(self.mask, b.not_(self.active_mask))
        if self.condition is not None:
            with self.code.when(self.code.nonzero(rest)):
                b.call(self.runtime.push, [self.f.warp, self.f.later(self._next()), rest])
        self._spend_backwards(places)
        self._count_parting(places)
        replayed = b.call(self.runtime.push_targets, [self.f.warp, self.active_mask, slot])
        self.count(REPLAYED, replayed)
        b.branch(self.f.dispatch)

    def _spend_backwards(self, places: ir.Value) -> None:
        """As for branches, so that time goes on: what lies between here and an earlier place."""
        b = self.b
        back = b.sub(i32(self.at.index), b.extract_element(places, self._first_lane()))
        spent = b.select(b.icmp_signed(">", back, i32(0)), back, i32(0))
        b.store(b.sub(b.load(self.f.fuel, typ=I64), b.zext(spent, I64)), self.f.fuel)

    def count(self, column: int, by: ir.Value | int = 1) -> None:
        row = self.f.t.plan.row(self.at.index)
        self.code.bump(self.code.at(self.f.counters, 8 * (row + column)), by)

    def _count_parting(self, places: ir.Value) -> None:
        """Each target beyond the first is a divergent one, and takes another issue."""
        different = self.b.call(self.f.t.routines.count.distinct, [places, self.active_mask])
        beyond = self.b.zext(self.b.sub(different, i32(1)), I64)
        self.count(DIVERGENT, beyond)
        self.count(REPLAYS, beyond)
        self.count(PARTED, self.b.zext(self.code.nonzero(beyond), I64))

    def call(self, target: Label) -> None:
        self.f.all_later()
        self.branch(target)

    def exit(self, when: Pred | None = None) -> None:
        b = self.b
        lanes = self.active_mask
        if when is not None:
            lanes = b.and_(lanes, b.bitcast(self.e.splat(when.node), I32))
        b.call(self.runtime.exit_lanes, [self.f.block, self.f.warp, lanes])
        if self.f.t.uses_meeting:
            with self.code.when(self.code.nonzero(lanes)):
                b.call(self.runtime.recheck, [self.f.env, self.f.warp])
        if self.condition is None and when is None:
            b.branch(self.f.dispatch)
            return
        left = b.and_(self.mask, b.not_(lanes))
        b.store(left, self.f.exec)
        on = b.append_basic_block("on")
        b.cbranch(self.code.nonzero(left), on, self.f.dispatch)
        b.position_at_end(on)
        self.f.go_on(self._next(), self.at.index)

    def trap(self) -> None:
        self.f.record_fault(FaultKind.TRAP, i32(self.at.index))
        self.b.branch(self.f.fault)

    # Convergence.  A barrier register holds, in every lane, the mask of the lanes that will meet there.

    def _barrier(self, register: Register) -> ir.Value:
        return self.f.registers.local("B", register.index)

    def set_barrier(self, barrier: Register) -> None:
        self._set_barrier(barrier, self._u32(self.mask), restored=False)

    def set_barrier_mask(self, barrier: Register, mask: U32) -> None:
        self._set_barrier(barrier, mask, restored=True)

    def _set_barrier(self, barrier: Register, mask: U32, restored: bool) -> None:
        place = self._barrier(barrier)
        old = self.b.load(place, typ=V32)
        self.b.store(self.b.select(self._active, self.e.splat(mask.node), old), place)
        if self.f.t.restores:
            known, bit = self.code.field(Warp, self.f.warp, "restored"), 1 << barrier.index
            now = self.b.load(known, typ=I32)
            self.b.store(self.b.or_(now, i32(bit)) if restored else self.b.and_(now, i32(~bit)), known)

    def barrier_mask(self, barrier: Register) -> U32:
        return self._u32(self.b.load(self._barrier(barrier), typ=V32))

    def _exited(self) -> ir.Value:
        return self.code.load(Warp, self.f.warp, "exited")

    def meet(self, barrier: Register) -> None:
        b, code, warp = self.b, self.code, self.f.warp
        masks = self.barrier_mask(barrier).node
        need = self.first(self._u32(masks)).node
        with code.when(code.nonzero(code.load(Warp, warp, "merged")), likely=False):
            self._keep_to(barrier.index, masks, need)
        joined = code.variable(I32, i32(0))
        dug = b.icmp_signed("==", code.load(Warp, warp, "dug"), i32(self._next()))
        with code.when(dug, likely=False):
            code.store(0, Warp, warp, "dug")
            arguments = [warp, i32(barrier.index), need, self.f.later(self._next())]
            b.store(b.call(self.runtime.rejoin, arguments), joined)
            self.count(REPLAYED, b.zext(code.popcount(b.load(joined, typ=I32)), I64))
        others = b.load(joined, typ=I32)
        self.mask = b.or_(b.load(self.f.exec, typ=I32), others)
        b.store(self.mask, self.f.exec)
        self._wait(barrier.index, need, b.icmp_signed("==", others, i32(0)))

    def _keep_to(self, slot: int, masks: ir.Value, need: ir.Value) -> None:
        """Lanes of a merged split that set the barrier at another time wait for the lanes of then."""
        b = self.b
        lanes = b.bitcast(b.icmp_signed("==", masks, self.e.splat(need)), I32)
        rest = b.and_(self.mask, b.not_(lanes))
        with self.code.when(self.code.nonzero(rest)):
            needs = self.code.variable(V32, masks)
            place = self.f.later(self._next())
            b.call(self.runtime.arrive_apart, [self.f.env, self.f.warp, i32(slot), needs, rest, place])
            b.store(b.and_(self.mask, lanes), self.f.exec)

    def _wait(self, slot: int, need: ir.Value, alone: ir.Value | None = None) -> None:
        """The split goes on if it is all that is needed, else its lanes wait."""
        b = self.b
        wanted = b.and_(need, b.not_(self._exited()))
        there = b.icmp_signed("==", b.and_(self.mask, wanted), wanted)
        on, wait = (b.append_basic_block(n) for n in ("on", "wait"))
        b.cbranch(there, on, wait)
        b.position_at_end(wait)
        place = self.f.later(self._next())
        b.call(self.runtime.arrive, [self.f.env, self.f.warp, i32(slot), need, self.mask, place])
        b.branch(self.f.dispatch)
        b.position_at_end(on)
        if slot == WARPSYNC:
            self.f.t.watch.meet(self.code, self.f.warp, self.mask)
        if alone is not None and self.f.t.restores:
            restored = b.and_(self.code.load(Warp, self.f.warp, "restored"), i32(1 << slot))
            with self.code.when(b.and_(alone, self.code.nonzero(restored)), likely=False):
                self.runtime.replay(self.code, self.f.counters, i32(self.at.index), self.mask)
        self.f.go_on(self._next(), self.at.index)

    def leave(self, barrier: Register, when: Pred | None = None) -> None:
        b = self.b
        lanes = self.active_mask
        if when is not None:
            lanes = b.and_(lanes, b.bitcast(self.e.splat(when.node), I32))
        place = self._barrier(barrier)
        old = b.load(place, typ=V32)
        b.store(b.and_(old, self.e.splat(b.not_(lanes))), place)
        before = self.code.load(Warp, self.f.warp, "ready")
        b.call(self.runtime.leave, [self.f.env, self.f.warp, i32(barrier.index), lanes])
        with self.code.when(b.icmp_signed(">", self.code.load(Warp, self.f.warp, "ready"), before), likely=False):
            self._after_released()
        self.f.go_on(self._next(), self.at.index)

    def _after_released(self) -> None:
        """Whoever was released runs before the split that released them if they are fewer, as on an H200."""
        b, code, warp = self.b, self.code, self.f.warp
        top = b.sub(code.load(Warp, warp, "ready"), i32(1))
        pc, mask = (code.load(Warp, warp, f"ready_{name}", top) for name in ("pc", "mask"))
        with code.when(b.icmp_signed("<", code.popcount(mask), code.popcount(self.mask))):
            code.store(self.f.later(self._next()), Warp, warp, "ready_pc", top)
            code.store(self.mask, Warp, warp, "ready_mask", top)
            b.call(self.runtime.push, [warp, pc, mask])
            b.branch(self.f.dispatch)

    def converge(self, mask: U32 | None) -> None:
        self._part_guarded()
        if mask is not None:
            self._in_own_mask(mask)
        self._wait(WARPSYNC, self.f.first_mask() if mask is None else self.first(mask).node)

    def converge_apart(self, mask: U32) -> None:
        self._part_guarded()
        self._in_own_mask(mask)
        needs = self.code.variable(V32, self.e.splat(mask.node))
        place = self.f.later(self._next())
        self._count_parting(self.e.splat(mask.node))
        arguments = [self.f.env, self.f.warp, i32(WARPSYNC), needs, self.mask, place]
        self.count(REPLAYED, self.b.call(self.runtime.arrive_apart, arguments))
        self.b.branch(self.f.dispatch)

    def _in_own_mask(self, mask: U32) -> None:
        """Lanes must be among those they wait for: an H200 raises "illegal instruction" for others."""
        missing = self._u32(self.e.splat(mask.node)) & self._u32(ir.Constant(V32, [1 << lane for lane in range(LANES)]))
        outside = self.b.bitcast(missing.eq(0).node, I32)
        self.f.fault_if(self.b.and_(outside, self.mask), FaultKind.WRONG_LANES, self.at)

    def collect(self, mask: U32, target: Label) -> None:
        place = self.code.field(Warp, self.f.warp, "lane_return")
        old = self.b.load(place, typ=V32, align=4)
        there = self.e.splat(self.f.later(target.offset // 16))
        self.b.store(self.b.select(self._active, there, old), place, align=4)
        self._wait(COLLECTIVE, self.first(mask).node)

    def end_collective(self) -> None:
        b = self.b
        place = self.code.field(Warp, self.f.warp, "lane_return")
        places = b.load(place, typ=V32, align=4)
        away = b.bitcast(b.icmp_signed("!=", places, self.e.splat(i32(self._next()))), I32)
        different = b.call(self.f.t.routines.count.distinct, [places, self.mask])
        self.count(REPLAYS, b.zext(b.sub(different, i32(1)), I64))
        self.count(REPLAYED, b.zext(self.code.popcount(b.and_(away, self.mask)), I64))
        b.call(self.runtime.push_groups, [self.f.warp, self.mask, place])
        b.branch(self.f.dispatch)

    def _part_guarded(self) -> None:
        """Lanes whose guard is false go on by themselves; the rest does what waits."""
        if self.condition is None:
            return
        b = self.b
        lanes = self.active_mask
        rest = b.and_(self.mask, b.not_(lanes))
        with self.code.when(self.code.nonzero(rest)):
            b.call(self.runtime.push, [self.f.warp, self.f.later(self._next()), rest])
        b.store(lanes, self.f.exec)
        self.mask = lanes
        some, none = (b.append_basic_block(n) for n in ("some", "none"))
        b.cbranch(self.code.nonzero(lanes), some, none)
        b.position_at_end(none)
        b.branch(self.f.dispatch)
        b.position_at_end(some)

    def yields(self) -> None:
        b = self.b
        others = b.icmp_signed(">", self.code.load(Warp, self.f.warp, "ready"), i32(0))
        with self.code.when(others):
            place = self.f.later(self._next())
            b.call(self.runtime.push_last, [self.f.warp, place, self.mask])
            b.branch(self.f.dispatch)
        self.f.go_on(self._next(), self.at.index)

    def block_barrier(
        self, index: U32 | int, threads: U32 | int | None, *, waits: bool = True,
        reduces: Literal["popc", "and", "or"] | None = None, p: Pred | None = None,
    ) -> None:  # fmt: skip
        b, code = self.b, self.code
        self._part_guarded()
        number = self._uniform(index)
        lanes = code.popcount(self.mask)
        need = i32(ALL_THREADS) if threads is None else self._uniform(threads)
        if isinstance(threads, U32):
            need = b.select(b.icmp_signed("==", need, i32(0)), i32(ALL_THREADS), need)
        living = b.and_(self.f.first_mask(), b.not_(self._exited()))
        self.f.t.watch.arrive(
            code, self.f.env, self.f.block, self.f.warp, number, self.mask, living, self.at.index
        )
        if threads is not None:
            # A barrier with a count is told of whole warps; exited lanes of a warp that comes as one count too.
            lanes = b.select(b.icmp_signed("==", self.mask, living), i32(LANES), lanes)
        code.bump(code.field(Block, self.f.block, "arrived", number), lanes, I32)
        code.store(need, Block, self.f.block, "need", number)
        if reduces is not None and p is not None:
            true = b.bitcast(b.and_(b.bitcast(self.mask, vector(I1)), self.e.splat(p.node)), I32)
            code.bump(code.field(Block, self.f.block, "sum", number), code.popcount(true), I32)
            code.bump(code.field(Block, self.f.block, "lanes", number), code.popcount(self.mask), I32)
            code.store(int(Reduce[reduces.upper()]), Block, self.f.block, "reduction")
        if not waits:
            self.f.go_on(self._next(), self.at.index)
            return
        b.call(self.runtime.park, [self.f.warp, number, self.mask, self.f.later(self._next())])
        b.branch(self.f.dispatch)

    def _uniform(self, value: U32 | int) -> ir.Value:
        return i32(value) if isinstance(value, int) else self.first(value).node

    def barrier_result(self) -> tuple[U32, Pred]:
        count = self.code.load(Block, self.f.block, "result", 0)
        truth = self.code.load(Block, self.f.block, "result", 1)
        return self._u32(count), Pred(self.e, self.b.trunc(truth, I1))

    def fence(self) -> None:
        """Memory is in order here: one thread runs a block, and order between blocks is not relied upon."""

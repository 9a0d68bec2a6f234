"""SIMT stack: the splits of a warp that can run, in the order in which an H200 runs them (measurements/README.md).

A split is a pc and a lane mask.  The top of the stack runs next.  A slot that another split was pushed over by
divergence is stale: when it is popped, all lanes of the stack at its pc run together.
"""

from __future__ import annotations

from functools import cached_property

from warplens import llvm
from warplens.emulator.codegen.structured_builder import StructuredBuilder, function, i32, i64
from warplens.emulator.codegen.vector_types import I32, I64, PTR, vector
from warplens.emulator.simt.lane_arrays import equal
from warplens.emulator.state.structs import AT_JUMP, EARLIER, WarpState

VOID = llvm.VoidType()


class SimtStack:
    """SIMT stack: owns `WarpState.stack`; emits each of its functions on first use."""

    def __init__(self, module: llvm.IRModule) -> None:
        self.module = module

    # State, read and changed by other parts

    def count(self, code: StructuredBuilder, warp: llvm.Value) -> llvm.Value:
        """Number of splits on the stack."""
        return code.load(WarpState, warp, "stack.count")

    def lanes(self, code: StructuredBuilder, warp: llvm.Value) -> llvm.Value:
        """Lanes of all splits on the stack."""
        found = code.variable(I32, i32(0))

        def add(i: llvm.Value) -> None:
            b = code.b
            b.store(b.or_(b.load(found, typ=I32), code.load(WarpState, warp, "stack.mask", i)), found)

        code.each(self.count(code, warp), add)
        return code.b.load(found, typ=I32)

    def start(self, code: StructuredBuilder, warp: llvm.Value) -> None:
        """Initial stack of a warp: one split, which its first time slice pops (clear)."""
        code.store(1, WarpState, warp, "stack.count")

    def clear(self, code: StructuredBuilder, warp: llvm.Value) -> None:
        code.store(0, WarpState, warp, "stack.count")

    def mark_stale(self, code: StructuredBuilder, warp: llvm.Value, slots: llvm.Value) -> None:
        """These slots, a bit each, become stale."""
        stale = code.load(WarpState, warp, "stack.stale_slots")
        code.store(code.b.or_(stale, slots), WarpState, warp, "stack.stale_slots")

    def keep_turn(self, code: StructuredBuilder, warp: llvm.Value) -> None:
        """The next pop passes no turn (yielded_lanes.py)."""
        code.store(1, WarpState, warp, "stack.pop_keeps_turn")

    def take_keeps_turn(self, code: StructuredBuilder, warp: llvm.Value) -> llvm.Value:
        """Whether this pop passes no turn; resets the flag."""
        keeps = code.nonzero(code.load(WarpState, warp, "stack.pop_keeps_turn"))
        code.store(0, WarpState, warp, "stack.pop_keeps_turn")
        return keeps

    def mark_merged(self, code: StructuredBuilder, warp: llvm.Value) -> None:
        """Lanes of one split may have set their barrier at different times."""
        code.store(1, WarpState, warp, "stack.merged")

    def merged(self, code: StructuredBuilder, warp: llvm.Value) -> llvm.Value:
        return code.nonzero(code.load(WarpState, warp, "stack.merged"))

    def popped_stale(self, code: StructuredBuilder, warp: llvm.Value, next_pc: llvm.Value) -> llvm.Value:
        """Whether the running split was popped from a stale slot, at the pc before next_pc."""
        return code.b.icmp_signed("==", code.load(WarpState, warp, "stack.popped_stale_pc"), next_pc)

    def clear_popped_stale(self, code: StructuredBuilder, warp: llvm.Value) -> None:
        code.store(0, WarpState, warp, "stack.popped_stale_pc")

    # Push

    @cached_property
    def push(self) -> llvm.Function:
        """push(warp, pc, mask): a split that runs next; the slot below it stays as it is."""
        made, code = function(self.module, "push", VOID, [PTR, I32, I32], inline=True)
        warp, pc, mask = made.args
        n = self.count(code, warp)
        stale = code.load(WarpState, warp, "stack.stale_slots")
        code.store(code.b.and_(stale, code.b.not_(code.bit(n))), WarpState, warp, "stack.stale_slots")
        code.store(pc, WarpState, warp, "stack.pc", n)
        code.store(mask, WarpState, warp, "stack.mask", n)
        code.store(code.b.add(n, i32(1)), WarpState, warp, "stack.count")
        code.b.ret_void()
        return made

    @cached_property
    def push_and_stale(self) -> llvm.Function:
        """push_and_stale(warp, pc, mask): a split that runs next; the slot below it becomes stale."""
        made, code = function(self.module, "push_and_stale", VOID, [PTR, I32, I32])
        warp, pc, mask = made.args
        self.mark_stale(code, warp, code.b.lshr(code.bit(self.count(code, warp)), i32(1)))
        code.b.call(self.push, [warp, pc, mask])
        code.b.ret_void()
        return made

    @cached_property
    def push_last(self) -> llvm.Function:
        """push_last(warp, pc, mask): a split that runs after all that are on the stack now."""
        made, code = function(self.module, "push_last", VOID, [PTR, I32, I32])
        warp, pc, mask = made.args
        b = code.b
        n = self.count(code, warp)

        def move(i: llvm.Value) -> None:
            to = b.sub(n, i)
            for name in ("stack.pc", "stack.mask"):
                code.store(code.load(WarpState, warp, name, b.sub(to, i32(1))), WarpState, warp, name, to)

        code.each(n, move)
        stale = code.load(WarpState, warp, "stack.stale_slots")
        code.store(b.shl(stale, i32(1)), WarpState, warp, "stack.stale_slots")
        code.store(pc, WarpState, warp, "stack.pc", 0)
        code.store(mask, WarpState, warp, "stack.mask", 0)
        code.store(b.add(n, i32(1)), WarpState, warp, "stack.count")
        b.ret_void()
        return made

    def push_on_empty(self, code: StructuredBuilder, warp: llvm.Value, pc: llvm.Value, mask: llvm.Value) -> None:
        """push, inline, where the stack is known to be empty."""
        code.store(pc, WarpState, warp, "stack.pc", 0)
        code.store(mask, WarpState, warp, "stack.mask", 0)
        stale = code.load(WarpState, warp, "stack.stale_slots")
        code.store(code.b.and_(stale, i32(~1)), WarpState, warp, "stack.stale_slots")
        code.store(1, WarpState, warp, "stack.count")

    @cached_property
    def push_groups(self) -> llvm.Function:
        """push_groups(warp, mask, pcs): pushes the lanes of mask, one split for each pc in pcs[lane]."""
        made, code = function(self.module, "push_groups", VOID, [PTR, I32, PTR])
        warp, mask, pcs = made.args
        b = code.b
        left = code.variable(I32, mask)

        def group() -> None:
            rest = b.load(left, typ=I32)
            all_pcs = b.load(pcs, typ=vector(I32), align=4)
            pc = b.extract_element(all_pcs, code.lowest(rest))
            members = b.and_(equal(code, all_pcs, pc), rest)
            b.call(self.push, [warp, b.and_(pc, i32(EARLIER - 1)), members])
            b.store(b.and_(rest, b.not_(members)), left)

        code.loop(lambda: code.nonzero(b.load(left, typ=I32)), group)
        b.ret_void()
        return made

    def issue_group(self, code: StructuredBuilder, values: llvm.Value, rest: llvm.Value) -> llvm.Value:
        """Lanes of `rest` served by one issue, for jump targets or masks of WARPSYNC.EXCLUSIVE.

        Those with the value of the lowest lane; if that is more than half of them, with that of the lowest of the
        others.
        """
        b = code.b

        def like(lane: llvm.Value) -> llvm.Value:
            return b.and_(equal(code, values, b.extract_element(values, lane)), rest)

        first = like(code.lowest(rest))
        others = b.and_(rest, b.not_(first))
        most = b.icmp_signed(">", code.popcount(first), code.popcount(others))
        second = like(b.and_(code.lowest(others), i32(31)))
        return b.select(b.and_(most, code.nonzero(others)), second, first)

    @cached_property
    def push_targets(self) -> llvm.Function:
        """push_targets(warp, mask, pcs) -> lanes of the replays, summed.

        Lanes of mask jump to pcs[lane].  An issue serves one target; the others wait at the jump and reissue it.
        """
        made, code = function(self.module, "push_targets", I64, [PTR, I32, PTR])
        warp, mask, pcs = made.args
        b = code.b
        left, replayed = code.variable(I32, mask), code.variable(I64, i64(0))
        chosen, count = code.variable(vector(I32)), code.variable(I32, i32(0))
        all_pcs = b.load(pcs, typ=vector(I32), align=4)

        def issue() -> None:
            rest = b.load(left, typ=I32)
            group = self.issue_group(code, all_pcs, rest)
            n = b.load(count, typ=I32)
            b.store(group, b.gep(chosen, [n], source_etype=I32))
            b.store(b.add(n, i32(1)), count)
            rest = b.and_(rest, b.not_(group))
            code.bump(replayed, b.zext(code.popcount(rest), I64))
            b.store(rest, left)

        code.loop(lambda: code.nonzero(b.load(left, typ=I32)), issue)

        def push(i: llvm.Value) -> None:
            last = b.sub(b.sub(b.load(count, typ=I32), i32(1)), i)
            group = b.load(b.gep(chosen, [last], source_etype=I32), typ=I32)
            pc = b.extract_element(all_pcs, code.lowest(group))
            with b.if_else(b.icmp_signed("==", i, i32(0))) as (deepest, above):
                with deepest:
                    several = b.icmp_signed(">", b.load(count, typ=I32), i32(1))
                    with code.when(several):
                        b.call(self.push_and_stale, [warp, b.or_(pc, i32(AT_JUMP)), group])
                    with code.when(b.not_(several)):
                        b.call(self.push, [warp, pc, group])
                with above:
                    first = b.icmp_signed("==", last, i32(0))
                    b.call(self.push, [warp, b.select(first, pc, b.or_(pc, i32(AT_JUMP))), group])

        code.each(b.load(count, typ=I32), push)
        self.keep_turn(code, warp)
        b.ret(b.load(replayed, typ=I64))
        return made

    # Pop

    def pop(self, code: StructuredBuilder, warp: llvm.Value) -> tuple[llvm.Value, llvm.Value]:
        """Pops a nonempty stack, its mask to warp.exec.  Returns its pc, and whether its slot was stale.

        A split that has not issued its jump yet (AT_JUMP) keeps its lanes.
        """
        b = code.b
        last = b.sub(self.count(code, warp), i32(1))
        code.store(last, WarpState, warp, "stack.count")
        pc = code.load(WarpState, warp, "stack.pc", last)
        code.store(code.load(WarpState, warp, "stack.mask", last), WarpState, warp, "exec")
        self.clear_popped_stale(code, warp)
        at_jump = b.and_(pc, i32(AT_JUMP))
        stale = code.nonzero(b.and_(code.load(WarpState, warp, "stack.stale_slots"), code.bit(last)))
        return b.xor(pc, at_jump), b.and_(stale, b.not_(code.nonzero(at_jump)))

    def gather_stale(self, code: StructuredBuilder, warp: llvm.Value, pc: llvm.Value) -> None:
        """A split that was popped from a stale slot runs with all lanes of the stack at its pc."""
        code.store(code.b.add(pc, i32(1)), WarpState, warp, "stack.popped_stale_pc")
        code.b.call(self._gather, [warp, pc])

    @cached_property
    def _gather(self) -> llvm.Function:
        """gather(warp, pc): splits at pc join warp.exec."""
        made, code = function(self.module, "gather", VOID, [PTR, I32])
        warp, pc = made.args
        b = code.b
        kept = code.variable(I32, i32(0))
        stale = code.variable(I32, i32(0))

        def visit(i: llvm.Value) -> None:
            place, mask = (code.load(WarpState, warp, f"stack.{name}", i) for name in ("pc", "mask"))
            with b.if_else(b.icmp_signed("==", place, pc)) as (joins, stays):
                with joins:
                    code.bump(code.field(WarpState, warp, "exec"), mask, I32)
                    self.mark_merged(code, warp)
                with stays:
                    k = b.load(kept, typ=I32)
                    code.store(place, WarpState, warp, "stack.pc", k)
                    code.store(mask, WarpState, warp, "stack.mask", k)
                    flag = b.and_(b.lshr(code.load(WarpState, warp, "stack.stale_slots"), i), i32(1))
                    b.store(b.or_(b.load(stale, typ=I32), b.shl(flag, k)), stale)
                    b.store(b.add(k, i32(1)), kept)

        code.each(self.count(code, warp), visit)
        code.store(b.load(kept, typ=I32), WarpState, warp, "stack.count")
        code.store(b.load(stale, typ=I32), WarpState, warp, "stack.stale_slots")
        b.ret_void()
        return made

    # Resume and peek

    def resume_same_split(self, code: StructuredBuilder, warp: llvm.Value, pc: llvm.Value, lanes: llvm.Value) -> None:
        """Pushes the running split so that the next time slice pops it as it is now: stale if it was popped so."""
        b = code.b
        slot = code.bit(self.count(code, warp))
        was_stale = self.popped_stale(code, warp, b.add(pc, i32(1)))
        b.call(self.push, [warp, pc, lanes])
        self.mark_stale(code, warp, b.select(was_stale, slot, i32(0)))
        self.keep_turn(code, warp)

    def top(self, code: StructuredBuilder, warp: llvm.Value) -> tuple[llvm.Value, llvm.Value]:
        """pc and mask of the split that would run next."""
        last = code.b.sub(self.count(code, warp), i32(1))
        return code.load(WarpState, warp, "stack.pc", last), code.load(WarpState, warp, "stack.mask", last)

    def replace_top(self, code: StructuredBuilder, warp: llvm.Value, pc: llvm.Value, mask: llvm.Value) -> None:
        last = code.b.sub(self.count(code, warp), i32(1))
        code.store(pc, WarpState, warp, "stack.pc", last)
        code.store(mask, WarpState, warp, "stack.mask", last)

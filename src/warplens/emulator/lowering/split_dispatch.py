"""Split dispatch: a warp's time slice: pops the next split, suspends, ends."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from warplens import llvm
from warplens.core.counts import SHORT_WARP
from warplens.emulator.codegen.structured_builder import i32, i64
from warplens.emulator.codegen.vector_types import I32, I64
from warplens.emulator.lowering.codegen_context import WarpBuilder
from warplens.emulator.state.structs import INSTRUCTION, FaultKind, Status, WarpState, WorkerEnv

LONG = 22  # log2 of the instructions that a split runs while others of its warp are ready


class SplitDispatch:
    """Split dispatch: the part of run_warp common to both tiers.

    save    saves registers until the warp's next time slice
    branch  branches to the program point of this number, or to the block `lost` if there is none
    stops   blocks that end the time slice where the live registers are known, and what saves those
    """

    def __init__(
        self,
        function: WarpBuilder,
        save: Callable[[], None],
        branch: Callable[[llvm.Value, llvm.BasicBlock], None],
        stops: Callable[[], Iterable[tuple[llvm.BasicBlock, Callable[[], None]]]] = tuple,
    ) -> None:
        self.f = function
        self.b, self.code, self.warp = function.b, function.code, function.warp
        self.save, self.branch, self.stops = save, branch, stops

    def next_split(self) -> llvm.Value:
        pc = self.b.call(self.f.t.runtime.splits.next_split, [self.f.env, self.warp])
        self.b.store(self.code.load(WarpState, self.warp, "exec"), self.f.exec)
        self.b.store(pc, self.f.resume_at)
        self.b.store(i32(0), self.f.straight)
        return pc

    def build(self) -> tuple[llvm.BasicBlock, llvm.BasicBlock]:
        """Pops the next split and branches to its pc.  Returns the blocks where that is known, and where it resumes."""
        b = self.b
        chosen, go = (self.f.function.append_basic_block(n) for n in ("chosen", "go"))
        b.position_at_end(self.f.dispatch)
        self.next_split()
        b.branch(chosen)
        b.position_at_end(chosen)
        pc = b.load(self.f.resume_at, typ=I32)
        some, rest = (self.f.function.append_basic_block(n) for n in ("some", "rest"))
        b.cbranch(b.icmp_signed("<", pc, i32(0)), rest, some)
        self._end(rest)
        b.position_at_end(some)
        spent = b.icmp_signed("<", b.load(self.f.fuel, typ=I64), llvm.IRConstant(I64, 0))
        b.cbranch(spent, self.f.suspend, go).set_weights([1, 1000])
        b.position_at_end(go)
        pc = b.load(self.f.resume_at, typ=I32)
        lost = self.f.function.append_basic_block("lost")
        self.branch(pc, lost)
        b.position_at_end(lost)
        self.f.record_fault(FaultKind.BAD_JUMP, pc)
        b.branch(self.f.fault)
        return chosen, go

    def suspend(self) -> None:
        """Ends the time slice: saves registers; the split runs first in the next one.  But one that waits, or may spin
        until other splits of the warp have run, goes to the bottom of the stack."""
        b, code = self.b, self.code
        stopped = self.f.function.append_basic_block("stopped")
        for block, save in (self.f.suspend, self.save), *self.stops():
            b.position_at_end(block)
            save()
            b.branch(stopped)
        b.position_at_end(stopped)
        pc, lanes = b.load(self.f.resume_at, typ=I32), b.load(self.f.exec, typ=I32)
        before = code.load(WarpState, self.warp, "used")
        total = self.add_used()
        long = code.nonzero(b.lshr(b.xor(before, total), i64(LONG)))
        waits = code.nonzero(b.and_(code.load(WarpState, self.warp, "reissued"), lanes))
        with b.if_else(b.or_(long, waits)) as (last, first):
            with last:
                b.call(self.f.t.runtime.stack.push_last, [self.warp, pc, lanes])
            with first:
                self.f.t.runtime.stack.resume_same_split(code, self.warp, pc, lanes)
        with code.when(b.icmp_signed(">", total, code.load(WorkerEnv, self.f.env, "budget")), likely=False):
            self.f.record_fault(FaultKind.BUDGET, b.and_(pc, i32(INSTRUCTION)))
            b.branch(self.f.fault)
        b.ret(i32(Status.READY))

    def _end(self, block: llvm.BasicBlock) -> None:
        """No split is ready: the warp is done, or all its living lanes wait."""
        b, code = self.b, self.code
        b.position_at_end(block)
        done = b.icmp_signed("==", code.load(WarpState, self.warp, "exited"), i32(-1))
        with code.when(done, likely=True):
            self.end_warp()
        self.add_used()
        self.save()
        b.ret(i32(Status.WAITING))

    def end_warp(self) -> None:
        """The warp is done."""
        b, code = self.b, self.code
        total = self.add_used()
        self.f.t.watch.end_warp(code, self.f.env, self.f.block, self.warp)
        executed = b.sub(total, code.load(WarpState, self.warp, "waited"))
        longest = code.load(WorkerEnv, self.f.env, "longest_warp")
        with code.when(b.icmp_signed(">=", executed, longest), likely=False):
            b.call(self.f.t.runtime.blocks.keep_longest, [self.f.env, self.f.block, executed])
        with code.when(b.icmp_signed(">=", executed, i64(SHORT_WARP)), likely=False):
            b.call(self.f.t.runtime.blocks.add_instructions, [self.f.env, self.f.block, executed])
        b.ret(i32(Status.DONE))

    def add_used(self) -> llvm.Value:
        """The instructions executed by the warp, including this time slice."""
        b, code = self.b, self.code
        used = b.sub(code.load(WorkerEnv, self.f.env, "slice"), b.load(self.f.fuel, typ=I64))
        total = b.add(code.load(WarpState, self.warp, "used"), used)
        code.store(total, WarpState, self.warp, "used")
        return total

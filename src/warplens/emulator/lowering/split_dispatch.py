"""A warp's turn: which split runs next, when the turn is over, when nothing is left to run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable

from warplens import llvm
from warplens.emulator.codegen.structured_builder import i32, i64
from warplens.emulator.codegen.vector_types import I32, I64
from warplens.emulator.lowering.codegen_context import WarpBuilder
from warplens.emulator.state.structs import INSTRUCTION, FaultKind, Status, WarpState, WorkerEnv

LONG = 22  # a power of two, in instructions: so long a split runs though others of its warp are ready


class SplitDispatch(WarpBuilder, ABC):
    """The part of a function that runs warps which is the same whatever executes the instructions."""

    straight: llvm.Value  # who comes from a whole warp goes on at once, even if the turn is over

    @abstractmethod
    def _save(self) -> None:
        """Registers survive until the warp's next turn."""

    def _stops(self) -> Iterable[tuple[llvm.BasicBlock, Callable[[], None]]]:
        """Blocks that end the turn where it is known what has to survive, and what saves that."""
        return ()

    @abstractmethod
    def _ways(self, pc: llvm.Value, lost: llvm.BasicBlock) -> None:
        """On at the place of this number, or at `lost` if there is none."""

    def _next_split(self) -> llvm.Value:
        pc = self.b.call(self.t.runtime.next_split, [self.env, self.warp])
        self.b.store(self.code.load(WarpState, self.warp, "exec"), self.exec)
        self.b.store(pc, self.resume_at)
        self.b.store(i32(0), self.straight)
        return pc

    def _dispatcher(self) -> tuple[llvm.BasicBlock, llvm.BasicBlock]:
        """Take the next ready split and go to its place.  Gives the blocks where it is known, and where it goes on."""
        b = self.b
        chosen, go = (self.function.append_basic_block(n) for n in ("chosen", "go"))
        b.position_at_end(self.dispatch)
        self._next_split()
        b.branch(chosen)
        b.position_at_end(chosen)
        pc = b.load(self.resume_at, typ=I32)
        some, rest = (self.function.append_basic_block(n) for n in ("some", "rest"))
        b.cbranch(b.icmp_signed("<", pc, i32(0)), rest, some)
        self._rest(rest)
        b.position_at_end(some)
        spent = b.icmp_signed("<", b.load(self.fuel, typ=I64), llvm.IRConstant(I64, 0))
        b.cbranch(spent, self.suspend, go).set_weights([1, 1000])
        b.position_at_end(go)
        pc = b.load(self.resume_at, typ=I32)
        lost = self.function.append_basic_block("lost")
        self._ways(pc, lost)
        b.position_at_end(lost)
        self.record_fault(FaultKind.BAD_JUMP, pc)
        b.branch(self.fault)
        return chosen, go

    def _suspend(self) -> None:
        """The turn is over: registers are saved, and the split goes on with the next one.  But one that waits, or may
        spin until others of the warp have run, goes behind them."""
        b, code = self.b, self.code
        stopped = self.function.append_basic_block("stopped")
        for block, save in (self.suspend, self._save), *self._stops():
            b.position_at_end(block)
            save()
            b.branch(stopped)
        b.position_at_end(stopped)
        pc, lanes = b.load(self.resume_at, typ=I32), b.load(self.exec, typ=I32)
        before = code.load(WarpState, self.warp, "used")
        total = self._add_used()
        long = code.nonzero(b.lshr(b.xor(before, total), i64(LONG)))
        waits = code.nonzero(b.and_(code.load(WarpState, self.warp, "trying"), lanes))
        with b.if_else(b.or_(long, waits)) as (behind, first):
            with behind:
                b.call(self.t.runtime.push_last, [self.warp, pc, lanes])
            with first:
                self._goes_on_first(pc, lanes)
        with code.when(b.icmp_signed(">", total, code.load(WorkerEnv, self.env, "budget")), likely=False):
            self.record_fault(FaultKind.BUDGET, b.and_(pc, i32(INSTRUCTION)))
            b.branch(self.fault)
        b.ret(i32(Status.READY))

    def _goes_on_first(self, pc: llvm.Value, lanes: llvm.Value) -> None:
        """As if it had not stopped: one that was dug up is buried again, and no lane that gave way has its turn."""
        b, code, warp = self.b, self.code, self.warp
        slot = code.bit(code.load(WarpState, warp, "ready"))
        dug = b.icmp_signed("==", code.load(WarpState, warp, "dug"), b.add(pc, i32(1)))
        b.call(self.t.runtime.put, [warp, pc, lanes])
        buried = code.load(WarpState, warp, "buried")
        code.store(b.or_(buried, b.select(dug, slot, i32(0))), WarpState, warp, "buried")
        code.store(1, WarpState, warp, "jumps")

    def _rest(self, block: llvm.BasicBlock) -> None:
        """No split is ready: the warp is done, or all that is left of it waits."""
        b, code = self.b, self.code
        b.position_at_end(block)
        done = b.icmp_signed("==", code.load(WarpState, self.warp, "exited"), i32(-1))
        with code.when(done, likely=True):
            b.ret(i32(Status.DONE))
        self._add_used()
        self._save()
        b.ret(i32(Status.WAITING))

    def _add_used(self) -> llvm.Value:
        """The instructions that the warp has executed, those of this turn included."""
        b, code = self.b, self.code
        used = b.sub(code.load(WorkerEnv, self.env, "slice"), b.load(self.fuel, typ=I64))
        total = b.add(code.load(WarpState, self.warp, "used"), used)
        code.store(total, WarpState, self.warp, "used")
        return total

"""Dispatch loop: run_warp of the threaded tier, which calls the handlers."""

from __future__ import annotations

from warplens import llvm
from warplens.emulator.codegen.structured_builder import i32, i64
from warplens.emulator.codegen.vector_types import I32, I64, PTR
from warplens.emulator.lowering.codegen_context import WarpBuilder
from warplens.emulator.lowering.split_dispatch import SplitDispatch
from warplens.emulator.lowering.syscall_stub import PLACES
from warplens.emulator.state.structs import HEADER, Status, WarpState, WorkerEnv
from warplens.emulator.threaded.handler import HANDLER, HandlerContext, HandlerEnd
from warplens.emulator.threaded.template import ThreadedWarpState


class DispatchLoop(WarpBuilder):
    """Dispatch loop: the body of run_warp(env, block, warp) -> Status.

    WorkerEnv.threaded_ops maps the number of a program point to its ThreadedOp; its last entry is that of the system
    calls.
    """

    def __init__(self, context: HandlerContext) -> None:
        made = llvm.Function(context.module, llvm.FunctionType(I32, [PTR, PTR, PTR]), "run_warp")
        made.linkage = "internal"
        super().__init__(context, made)
        self.exec, self.resume_at, self.fuel, self.straight = (
            self.code.at(self.warp, HEADER + getattr(ThreadedWarpState, name).offset)
            for name in ("exec", "resume_at", "fuel", "straight")
        )
        self.dispatch, self.suspend, self.done, self.fault = (
            made.append_basic_block(name) for name in ("dispatch", "suspend", "done", "fault")
        )

    def build(self) -> llvm.Function:
        b, code = self.b, self.code
        again, fresh = (self.function.append_basic_block(n) for n in ("again", "fresh"))
        b.store(code.load(WorkerEnv, self.env, "slice"), self.fuel)
        b.cbranch(code.nonzero(code.load(WarpState, self.warp, "begun")), again, fresh)
        splits = SplitDispatch(self, self._save, self._branch)
        chosen, go = splits.build()
        b.position_at_end(again)
        splits.next_split()
        b.branch(chosen)
        b.position_at_end(fresh)
        size = b.sub(code.load(WorkerEnv, self.env, "warp_stride"), i64(HEADER + ThreadedWarpState.P.offset))
        code.clear(code.at(self.warp, HEADER + ThreadedWarpState.P.offset), size)
        self.t.runtime.stack.clear(code, self.warp)
        b.store(code.load(WarpState, self.warp, "exec"), self.exec)
        b.store(i32(0), self.resume_at)
        b.branch(go)
        splits.suspend()
        b.position_at_end(self.done)
        splits.end_warp()
        b.position_at_end(self.fault)
        b.ret(i32(Status.FAULT))
        return self.function

    def _save(self) -> None:
        """Registers are in memory already; only marks the warp as begun."""
        self.code.store(1, WarpState, self.warp, "begun")

    def _branch(self, pc: llvm.Value, lost: llvm.BasicBlock) -> None:
        b, code = self.b, self.code
        known, beyond, found = (self.function.append_basic_block(n) for n in ("known", "beyond", "found"))
        wide = b.zext(pc, I64)
        last = b.sub(code.load(WorkerEnv, self.env, "threaded_op_count"), i64(1))  # that of the system calls
        place = code.variable(I64, wide)
        b.cbranch(b.icmp_unsigned("<", wide, last), known, beyond)
        b.position_at_end(beyond)
        b.store(last, place)
        driver = b.icmp_unsigned("<", b.sub(pc, i32(PLACES[0])), i32(len(PLACES)))
        b.cbranch(driver, known, lost)
        b.position_at_end(known)
        where = b.gep(code.load(WorkerEnv, self.env, "threaded_ops"), [b.load(place, typ=I64)], source_etype=PTR)
        op = b.load(where, typ=PTR)
        b.cbranch(b.icmp_unsigned("==", op, llvm.IRConstant(PTR, None)), lost, found)
        b.position_at_end(found)
        end = b.call(b.load(op, typ=PTR), [self.env, self.block, self.warp, op], HANDLER)
        switch = b.switch(end, self.dispatch)
        for status, block in ((HandlerEnd.SUSPEND, self.suspend), (Status.DONE, self.done), (Status.FAULT, self.fault)):
            switch.add_case(i32(status), block)

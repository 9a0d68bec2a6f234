"""Handler: machine code of one template; operand numbers come from the threaded code, registers from memory.

A handler is a function (env, block, warp, op) -> HandlerEnd, which ends with a jump to the next op's handler.  It is
emitted by the same lowering as the compiled tier (warp_function.py), as code for diverged lanes: right under any mask.
"""

from __future__ import annotations

import ctypes
from enum import IntEnum
from typing import Any

from warplens import llvm
from warplens.core.program import Program
from warplens.emulator.access.gather_scatter import AccessRoutines
from warplens.emulator.access.pattern import Pattern
from warplens.emulator.analysis.liveness import Liveness
from warplens.emulator.analysis.register_file import Form as Kind
from warplens.emulator.analysis.uniformity import ProgramPoint
from warplens.emulator.analysis.uniformity_lattice import UNIFORM, UNIFORM_FILES, VARYING, Name, Uniformity
from warplens.emulator.codegen.structured_builder import i32
from warplens.emulator.codegen.vector_types import I1, I32, I64, PTR, vector
from warplens.emulator.instrument.instrumentation import Instrumentation
from warplens.emulator.lowering.codegen_context import CodegenContext, KernelContext
from warplens.emulator.lowering.instruction_lowering import enter, lower_instruction
from warplens.emulator.lowering.register_allocation import RegisterAllocation
from warplens.emulator.lowering.syscall_stub import call_driver
from warplens.emulator.simt.simt_runtime import SimtRuntime
from warplens.emulator.state.counter_layout import COLUMNS, ELSEWHERE, GENERIC
from warplens.emulator.state.structs import BARRIERS, HEADER, FaultKind, Status, WorkerEnv
from warplens.emulator.threaded.template import (
    AHEAD,
    BACK,
    DRIVER,
    IMMEDIATE,
    LOST,
    PLACES,
    SLOTS,
    SPAN,
    WIDTHS,
    Template,
    TemplateSettings,
    ThreadedOp,
    ThreadedWarpState,
)
from warplens.isa.dsl.warp_interface import Space

HANDLER = llvm.FunctionType(I32, [PTR, PTR, PTR, PTR])
NEXT = ctypes.sizeof(ThreadedOp)


class HandlerEnd(IntEnum):
    """Handler end: result of a handler that jumps to no other: a Status, or how the warp's time slice continues."""

    DISPATCH = 16
    SUSPEND = 17


class HandlerContext(KernelContext):
    """Handler context: a module of handlers, for templates of `program` with these settings."""

    tile = 0
    large = True

    def __init__(self, module: llvm.IRModule, program: Program, setting: TemplateSettings) -> None:
        self.module, self.program = module, program
        self.watch = Instrumentation(module, setting.unit, setting.checks)
        clustered = setting.windows.cluster > 1
        self.runtime = SimtRuntime(module, self.watch, BARRIERS, setting.restores, setting.may_yield, clustered)
        self.routines = AccessRoutines(module, setting.windows)
        self.restores, self.uses_convergence_barriers = setting.restores, setting.uses_convergence_barriers
        self.may_yield, self.shares = setting.may_yield, setting.shares

    def usual(self, index: int, pattern: Pattern | None) -> Pattern | None:
        """None: a handler counts every execution itself."""
        return None


class HandlerRegisters(RegisterAllocation):
    """Handler registers: 32 numbers each, uniform ones one; in memory after the warp's record (ThreadedWarpState)."""

    f: Handler

    def __init__(self, handler: Handler) -> None:
        self.e, self.f, self.b = handler.emitter, handler, handler.b
        self.shapes = AllVarying()
        self.split = True
        self.shared = AllNames()
        self.free = frozenset()
        self.flow = Liveness()
        self.flow.begin(handler.place)

    def _address(self, name: Name) -> llvm.Value:
        file, index = name
        code = self.f.code
        if index < SLOTS:
            return code.at(self.f.warp, PLACES[file] + WIDTHS[file] * index)
        further = (index - SLOTS) % SPAN
        first = code.at(self.f.warp, self.number(I64, index))
        return code.at(first, WIDTHS[file] * further) if further else first

    def word(self, file: str, index: int) -> Any:
        if file == IMMEDIATE:
            first, further = divmod(index - SLOTS, SPAN)
            return self.number(I32, SLOTS + SPAN * (first + further))
        return super().word(file, index)

    def fetch(self, name: Name, form: Kind, part: int) -> Any:
        kind = self.kind(name, form)
        if kind == vector(I32):
            return self.b.load(self._address(name), typ=kind, align=4)
        word = self.b.load(self._address(name), typ=I32)
        if kind == vector(I1):
            return self.b.bitcast(word, kind)
        return self.b.trunc(word, I1) if kind == I1 else word

    def put(self, name: Name, form: Kind, part: int, node: Any) -> None:
        value = self.e.splat(node) if form == "varying" else node
        if value.type == vector(I1):
            value = self.b.bitcast(value, I32)
        elif value.type == I1:
            value = self.b.zext(value, I32)
        self.b.store(value, self._address(name), align=4)

    def number(self, kind: llvm.Type, value: int) -> llvm.Value:
        """Loads it from the ThreadedOp; `value` encodes its offset there (template.SLOTS), unless the operation itself
        has made it, as the 0 behind the place of STAS's barrier."""
        if value < SLOTS:
            return llvm.IRConstant(kind, value)
        offset = ThreadedOp.numbers.offset + 4 * ((value - SLOTS) // SPAN)
        word = self.b.load(self.f.code.at(self.f.op, offset), typ=I32, invariant=True)
        return word if kind is I32 else self.b.sext(word, kind)


class AllVarying(dict[Name, Uniformity]):
    """Register representations of the threaded tier: varying, always 32 numbers."""

    def get(self, name: Name, otherwise: Any = None) -> Any:
        return UNIFORM if name[0] in UNIFORM_FILES else VARYING

    def __getitem__(self, name: Name) -> Uniformity:
        return VARYING

    def __setitem__(self, name: Name, shape: Uniformity) -> None:
        assert shape == VARYING, (name, shape)


class AllNames(frozenset[Name]):
    """The set of all register names."""

    def __contains__(self, name: object) -> bool:
        return True


class Handler(CodegenContext):
    """Handler: the function of one template; `write` emits its body."""

    def __init__(self, context: KernelContext, name: str) -> None:
        super().__init__(context, llvm.Function(context.module, HANDLER, name))
        self.function.attributes.add("nounwind")
        self.op = self.function.args[3]
        self.place = ProgramPoint(0)
        held = {
            name: self.code.at(self.warp, HEADER + getattr(ThreadedWarpState, name).offset) for name in ("exec", "fuel")
        }
        self.exec, self.fuel = held["exec"], held["fuel"]
        self.resume_at = self.code.at(self.warp, HEADER + ThreadedWarpState.resume_at.offset)
        self.counters = self.code.load(WorkerEnv, self.env, "counters")
        self.dispatch, self.suspend = (
            self._ending("dispatch", HandlerEnd.DISPATCH),
            self._ending("suspend", HandlerEnd.SUSPEND),
        )
        self.done, self.fault = self._ending("done", Status.DONE), self._ending("fault", Status.FAULT)
        self.wrapped = self.fault  # no register is affine
        self.registers = HandlerRegisters(self)

    def _ending(self, name: str, end: IntEnum) -> llvm.BasicBlock:
        block = self.function.append_basic_block(name)
        llvm.IRBuilder(block).ret(i32(end))
        return block

    def write(self, template: Template) -> None:
        """Emits the template's instruction, then the jump to the next op's handler."""
        mask = self.b.load(self.exec, typ=I32)
        if template.own is not None:
            self.at, binding = template.own()
            lower_instruction(self, self.at, binding, mask, self.code.lanes(mask), split=True)
        elif template.key == LOST.key:
            self.record_fault(FaultKind.BAD_JUMP, self.op_field("index"))
            self.b.branch(self.fault)
        elif template.key == DRIVER.key:
            call_driver(self)
        else:
            _, tries, _ = template.key
            enter(self, self.row(0), self.op_field("index"), mask, tries)
        if not self.b.block.is_terminated:
            self.follow()

    def follow(self, op: llvm.Value | None = None) -> None:
        """Jumps to the handler of a ThreadedOp; by default of the next one."""
        op = self.code.at(self.op, NEXT) if op is None else op
        handler = self.b.load(op, typ=PTR, invariant=True)
        self.b.go_to(handler, [self.env, self.block, self.warp, op], HANDLER)

    def op_field(self, name: str) -> llvm.Value:
        """A field of the ThreadedOp."""
        place = self.code.at(self.op, getattr(ThreadedOp, name).offset)
        return self.b.load(place, typ=I32, invariant=True)

    # Numbers that differ between instructions of one template

    def number(self, index: int) -> llvm.Value:
        if index in (AHEAD, BACK):
            return self.op_field("target")
        further = index - self.at.index
        assert further in (0, 1), index
        here = self.op_field("index")
        return self.b.add(here, i32(1)) if further else here

    def row(self, index: int, space: Space = "global") -> llvm.Value:
        if space in ELSEWHERE and self.at.base in GENERIC:
            further = self.b.add(self.op_field("elsewhere"), i32(8 * COLUMNS * ELSEWHERE.index(space)))
            return self.code.at(self.counters, further)
        return self.code.at(self.counters, self.op_field("row"))

    def hit(self, index: int) -> llvm.Value:
        return self.code.at(self.counters, self.op_field("hit"))

    # Successors

    def go_on(self, index: int, origin: int) -> None:
        if index == origin + 1:
            self.follow()
            return
        if index <= origin:
            self.b.store(self.number(index), self.resume_at)
            spent = self.spend_back(index, origin)
            on = self.b.append_basic_block("on")
            self.b.cbranch(spent, self.suspend, on).set_weights([1, 10000])
            self.b.position_at_end(on)
        self.follow(self.code.at(self.op, self.op_field("way")))

    def go_on_converted(self, index: int) -> None:
        self.go_on(index, self.at.index)

    def later(self, index: int, lanes: llvm.Value) -> llvm.Value:
        return self.number(index)

    def all_later(self) -> None:
        """Nothing to do: lanes can resume at every ThreadedOp."""

    def spend_back(self, index: int, origin: int) -> llvm.Value:
        b = self.b
        way = b.add(b.sub(self.number(origin), self.number(index)), i32(1))
        return self.spend(b.sext(way, I64))

    def wait_at(self, index: int) -> None:
        raise AssertionError("no warp is known to be whole")

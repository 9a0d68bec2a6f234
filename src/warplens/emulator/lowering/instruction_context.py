"""Instruction context: active mask, guard and number of the instruction being lowered."""

from __future__ import annotations

from typing import Any

from warplens import llvm
from warplens.core.demangle import plain_name
from warplens.core.program import Constant, Instruction, Program, Register
from warplens.emulator.access.site import iota
from warplens.emulator.analysis.predicate_file import PredicateFile
from warplens.emulator.codegen.structured_builder import i32
from warplens.emulator.codegen.vector_types import I32, I64, is_vector
from warplens.emulator.lowering.codegen_context import CodegenContext
from warplens.emulator.state.counter_layout import DIVERGENT, PARTED, REPLAYS
from warplens.emulator.state.structs import WarpState
from warplens.errors import UnsupportedInstruction
from warplens.isa.dsl.lanes import U32, Pred
from warplens.isa.dsl.not_emulated import absent
from warplens.isa.dsl.warp_interface import Data


def unsupported(program: Program, instruction: Instruction) -> UnsupportedInstruction:
    place = f", {instruction.source.file}:{instruction.source.line}" if instruction.source else ""
    what = f"{instruction.opcode} {instruction.text}".strip()
    where = f"({program.arch}, {plain_name(program.name)} at {instruction.offset:#x}{place})"
    family = absent(instruction.opcode)
    if family:
        return UnsupportedInstruction(f"{what} {where}: {family} are not emulated; this kernel needs a GPU")
    return UnsupportedInstruction(f"no meaning for {what} {where}: add it to warplens/isa/")


class InstructionContext(PredicateFile):
    """Instruction context: `mask` is the running split, `active` those of its lanes whose guard is true."""

    def __init__(
        self, function: CodegenContext, at: Instruction, mask: llvm.Value, lanes: llvm.Value, active: llvm.Value,
        condition: llvm.Value | None, split: bool,
    ) -> None:  # fmt: skip
        self.f = function
        self.at = at
        self.mask = mask
        self.lanes = lanes
        self._active = active
        self.condition = condition
        self.split = split
        self.b = function.b
        self.code = function.code
        self.registers = function.registers
        self.e = function.emitter
        self.runtime = function.t.runtime

    @property
    def active(self) -> Pred:
        return Pred(self.e, self._active)

    @property
    def active_lanes(self) -> llvm.Value:
        """`active` as a vector."""
        lanes: llvm.Value = self._active
        return lanes

    @property
    def active_mask(self) -> llvm.Value:
        if self.condition is None:
            return self.mask
        if not is_vector(self.condition):
            return self.b.select(self.condition, self.mask, i32(0))
        return self.b.bitcast(self._active, I32)

    @property
    def lane(self) -> U32:
        return self.u32(iota(1, I32))

    def u32(self, node: Any) -> U32:
        return U32(self.e, node)

    def constant(self, at: Constant, bytes: int) -> Data:
        if at.index is not None and at.index.file == "R":
            offsets = self.e.splat(self.f.registers.indexed(at))
            self.f.t.watch.table(self.code, self.f.env, self.f.number(self.at.index), offsets, self.active_mask)
        return Data(self.f.registers.constant(at, bytes))

    @property
    def place(self) -> int:
        return self.at.offset

    def stored(self, register: Register, words: int) -> Data:
        return Data([self.u32(self.e.vector_of(w.node)) for w in self.f.registers.run(register, words)])

    def first_lane(self) -> llvm.Value:
        return self.b.and_(self.code.lowest(self.active_mask), i32(31))

    def first(self, value: U32) -> U32:
        if not is_vector(value.node):
            return value
        return self.u32(self.b.extract_element(value.node, self.first_lane()))

    def next_index(self) -> int:
        return self.at.index + 1

    def count(self, column: int, by: llvm.Value | int = 1) -> None:
        if self.f.t.watch.counts:
            self.code.bump(self.code.at(self.f.row(self.at.index), 8 * column), by)

    def count_targets(self, places: llvm.Value) -> None:
        """Counts each target beyond the first as divergent, and as another issue."""
        if not self.f.t.watch.counts:
            return
        different = self.b.call(self.f.t.routines.count.distinct, [places, self.active_mask])
        beyond = self.b.zext(self.b.sub(different, i32(1)), I64)
        self.count(DIVERGENT, beyond)
        self.count(REPLAYS, beyond)
        self.count(PARTED, self.b.zext(self.code.nonzero(beyond), I64))

    def exited(self) -> llvm.Value:
        return self.code.load(WarpState, self.f.warp, "exited")

    def skip_unless(self, condition: llvm.Value) -> None:
        """Skips the instruction if the condition, uniform over the lanes, is false."""
        b = self.b
        here, past = (b.append_basic_block(n) for n in ("here", "past"))
        b.cbranch(condition, here, past)
        b.position_at_end(past)
        self.f.go_on(self.next_index(), self.at.index)
        b.position_at_end(here)


class InstructionPart:
    """Instruction part: lowers one kind of operation of the instruction that its context describes."""

    def __init__(self, context: InstructionContext) -> None:
        self.c = context
        self.f, self.at, self.condition = context.f, context.at, context.condition
        self.b, self.code, self.e, self.runtime = context.b, context.code, context.e, context.runtime

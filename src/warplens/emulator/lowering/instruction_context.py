"""Instruction context: active mask, guard and number of the instruction being lowered."""

from __future__ import annotations

from typing import Any

from warplens import llvm
from warplens.core.demangle import plain_name
from warplens.core.program import Constant, Instruction, Program, Register
from warplens.emulator.access.site import iota
from warplens.emulator.analysis.predicate_file import PredicateFile
from warplens.emulator.codegen.structured_builder import i32
from warplens.emulator.codegen.vector_types import I32, is_vector
from warplens.emulator.lowering.codegen_context import CodegenContext
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
    def active_mask(self) -> llvm.Value:
        if self.condition is None:
            return self.mask
        if not is_vector(self.condition):
            return self.b.select(self.condition, self.mask, i32(0))
        return self.b.bitcast(self._active, I32)

    @property
    def lane(self) -> U32:
        return self._u32(iota(1, I32))

    def _u32(self, node: Any) -> U32:
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
        return Data([self._u32(self.e.vector_of(w.node)) for w in self.f.registers.run(register, words)])

    def _first_lane(self) -> llvm.Value:
        return self.b.and_(self.code.lowest(self.active_mask), i32(31))

    def first(self, value: U32) -> U32:
        if not is_vector(value.node):
            return value
        return self._u32(self.b.extract_element(value.node, self._first_lane()))

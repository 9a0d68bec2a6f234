"""Where the translator is: one instruction of a warp, and the values that every word about it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llvmlite import ir

from warplens.emulator.code import i32
from warplens.emulator.site import iota
from warplens.emulator.vectors import I32, is_vector
from warplens.isa._lanes import U32, Pred
from warplens.isa._warp import Data
from warplens.program import Constant, Immediate, Instruction, Operand, Register, Special

if TYPE_CHECKING:
    from warplens.emulator.lift import WarpFunction


class AtInstruction:
    """One instruction of a warp; `mask` is the running split, `active` those of its lanes whose guard is true."""

    def __init__(
        self, function: WarpFunction, at: Instruction, mask: ir.Value, lanes: ir.Value, active: ir.Value,
        condition: ir.Value | None, split: bool,
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
        self.e = function.emitter
        self.runtime = function.t.runtime

    @property
    def active(self) -> Pred:
        return Pred(self.e, self._active)

    @property
    def active_mask(self) -> ir.Value:
        return self.mask if self.condition is None else self.b.bitcast(self._active, I32)

    @property
    def lane(self) -> U32:
        return self._u32(iota(1, I32))

    def _u32(self, node: ir.Value) -> U32:
        return U32(self.e, node)

    def constant(self, at: Constant, bytes: int) -> Data:
        return Data(self.f.registers.constant(self.f, at, bytes))

    def predicate(self, register: Register) -> Pred:
        return Pred(self.e, self.f.registers.predicate(register))

    def predicates(self, file: Special, mask: int) -> U32:
        bits = self._u32(i32(0))
        for register in self._named(file, mask):
            bits = bits | self.predicate(register).u32() << register.index
        return bits

    def set_predicates(self, file: Special, bits: U32, mask: int) -> None:
        keep = self._active if self.condition is not None or self.split else None
        for register in self._named(file, mask):
            self.f.registers.write(register, (bits & 1 << register.index).ne(0), keep, self.condition)

    def _named(self, file: Special, mask: int) -> list[Register]:
        return [Register("UP" if file.name == "UPR" else "P", n) for n in range(7) if mask >> n & 1]

    def plain(self, operand: Operand) -> U32:
        if isinstance(operand, Immediate):
            return self._u32(i32(operand.bits & 0xFFFFFFFF))
        return self.f.registers.words(operand, 1, self.f)[0]

    @property
    def place(self) -> int:
        return self.at.offset

    def stored(self, register: Register, words: int) -> Data:
        return Data(self.f.registers.run(register, words))

    def _first_lane(self) -> ir.Value:
        return self.b.and_(self.code.lowest(self.active_mask), i32(31))

    def first(self, value: U32) -> U32:
        if not is_vector(value.node):
            return value
        return self._u32(self.b.extract_element(value.node, self._first_lane()))

"""Predicate file: predicates as one bit word, for code and for analysis."""

from __future__ import annotations

from typing import Any

from warplens.core.program import Constant, Immediate, Operand, Register, Special
from warplens.emulator.analysis.register_file import RegisterFile
from warplens.isa.dsl.half_pair import H2
from warplens.isa.dsl.lanes import U32, Pred


class PredicateFile:
    """The predicate operations of a warp."""

    e: Any
    condition: Any
    _active: Any
    registers: RegisterFile

    def predicate(self, register: Register) -> Pred:
        return Pred(self.e, self.registers.predicate(register))

    def predicates(self, file: Special, mask: int) -> U32:
        bits = U32(self.e, self.e.constant(U32, 0))
        for register in _named(file, mask):
            bits = bits | self.predicate(register).u32() << register.index
        return bits

    def set_predicates(self, file: Special, bits: U32, mask: int) -> None:
        for register in _named(file, mask):
            self.registers.write(register, (bits & 1 << register.index).ne(0), self._active, self.condition)

    def plain(self, operand: Operand) -> U32:
        if isinstance(operand, Immediate):
            return U32(self.e, self.e.constant(U32, operand.bits & 0xFFFFFFFF))
        word: U32 = self.registers.words(operand, 1)[0]
        part = operand.part if isinstance(operand, Register | Constant) else ""
        return word.bitcast(H2).part(part.replace("N", "")).u32() if part else word


def _named(file: Special, mask: int) -> list[Register]:
    return [Register("UP" if file.name == "UPR" else "P", n) for n in range(7) if mask >> n & 1]

"""Operands: reads registers, immediates and constants with their modifiers, for code and for analysis."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from warplens.core.program import Address, Constant, Immediate, Instruction, Label, Operand, Register, Special
from warplens.emulator.analysis.affine import AffineEmitter
from warplens.isa.dsl.half_pair import H2
from warplens.isa.dsl.lanes import F32, F64, U32, Float, Int, Lanes, Pred
from warplens.isa.dsl.op import Source
from warplens.isa.dsl.warp_interface import Addend, Floats
from warplens.isa.numerics.narrow_formats import float_to_half

# The bit at which a byte or half of a word starts; I2IP asks for the low 24 or 28 bits and shifts the others out.
PARTS = {"B0": 0, "B1": 8, "B2": 16, "B3": 24, "H0": 0, "H1": 16, "24": 0, "28": 0}


class Operands:
    """Reads the arguments of an operation.  Subclasses know the registers and the constant banks."""

    e: AffineEmitter

    def word(self, file: str, index: int) -> Any:
        """The 32 bits (a predicate's one) of a register; the constant register is zero."""
        raise NotImplementedError

    def constant(self, at: Constant, size: int) -> list[U32]:
        """Words of a constant bank."""
        raise NotImplementedError

    def immediate(self, kind: type[Lanes], bits: int) -> Any:
        """A node of these bits."""
        raise NotImplementedError

    def predicate(self, register: Register) -> Any:
        if register.index < 0:
            return self.immediate(Pred, 0 if register.invert else 1)
        value = Pred(self.e, self.word(register.file, register.index))
        return (~value).node if register.invert else value.node

    def run(self, register: Register, words: int) -> list[U32]:
        """A register and those that follow it."""
        numbers = [register.index + k if register.index >= 0 else -1 for k in range(words)]
        return [U32(self.e, self.word(register.file, n)) for n in numbers]

    def read(self, source: Source, operand: Operand | None, at: Instruction) -> Any:
        """The argument for a parameter of an operation."""
        kind = source.kind
        if operand is None:
            return self._default(kind, source.default)
        if kind in (Address, Label, Register, Special, Constant, Immediate) or not isinstance(kind, type):
            return operand
        if kind is int:
            assert isinstance(operand, Immediate), (at.opcode, at.text, operand)
            return operand.bits
        if kind is Addend:
            return self._addend(operand)
        if kind is H2:
            return self._pair(operand)
        if kind is Floats:
            return self._floats(operand)
        assert issubclass(kind, Lanes), (at.opcode, kind)
        if at.base == "I2F" and kind.bits == 64 and isinstance(operand, Immediate):
            operand = replace(operand, bits=operand.bits << 32)  # as of a double: the listing shows the high word
        return self._value(kind, operand, kind is F64 or at.base == "F2F")

    def _default(self, kind: Any, default: Any) -> Any:
        if isinstance(kind, type) and issubclass(kind, Lanes):
            return kind(self.e, self.e.constant(kind, default))
        if kind is Addend:
            return Addend(U32(self.e, self.immediate(U32, default)))
        return default

    def _value(self, kind: type[Lanes], operand: Operand, nan_keeps: bool = False) -> Lanes:
        if kind is Pred:
            assert isinstance(operand, Register | Constant), operand
            if operand.part == "SIGN":
                return self._sign(operand)
            assert isinstance(operand, Register), operand
            return Pred(self.e, self.predicate(operand))
        value = kind(self.e, self._raw(kind, operand))
        if isinstance(operand, Register | Constant):
            value = self._modified(value, operand, nan_keeps)
        return value

    def _sign(self, operand: Register | Constant) -> Pred:
        """R2.SIGN or c[0x2][0x0].SIGN in the place of a predicate."""
        sign = self.words(operand, 1)[0].bit(31)
        return ~sign if operand.invert else sign

    def _raw(self, kind: type[Lanes], operand: Operand) -> Any:
        """The operand's bits as this type, before signs."""
        if isinstance(operand, Immediate):
            # Of a double the listing shows the high word, the low one is zero.
            return self.immediate(kind, operand.bits << 32 if kind is F64 else operand.bits)
        words = self.words(operand, kind.bits // 32)
        bits: Int = words[0] if kind.bits == 32 else words[0].join(words[1])
        return bits.bitcast(kind).node

    def words(self, operand: Operand, count: int) -> list[U32]:
        """The 32-bit words of a register run or of a place in a constant bank."""
        if isinstance(operand, Register):
            return self.run(operand, count)
        assert isinstance(operand, Constant), operand
        return self.constant(operand, 4 * count)

    def _modified(self, value: Lanes, operand: Register | Constant, nan_keeps: bool = False) -> Lanes:
        """Signs and inversions, as the listing writes them: -|x|, ~x.

        nan_keeps   a NaN its sign: one that is a double or becomes one (seen on an H200)
        """
        if operand.part:
            assert isinstance(value, Int), f"{operand} read as {type(value)}"
            value = value >> PARTS[operand.part]
        if isinstance(value, Float) and nan_keeps and (operand.absolute or operand.negate):
            return value.isnan().choose(value, self._signed(value, operand))
        if isinstance(value, Float):
            return self._signed(value, operand)
        assert isinstance(value, Int)
        value = value.abs() if operand.absolute else value
        value = ~value if operand.invert else value
        return -value if operand.negate else value

    def _signed(self, value: Float, operand: Register | Constant) -> Float:
        value = value.abs() if operand.absolute else value
        return -value if operand.negate else value

    def _addend(self, operand: Operand) -> Addend:
        if isinstance(operand, Immediate):
            return Addend(U32(self.e, self.immediate(U32, operand.bits)))
        assert isinstance(operand, Register | Constant)
        (raw,) = self.words(operand, 1)
        return Addend(~raw if operand.invert else raw, operand.negate)

    def _pair(self, operand: Operand) -> H2:
        if isinstance(operand, Immediate):
            return H2(self.e, self.immediate(H2, operand.bits & 0xFFFFFFFF))
        assert isinstance(operand, Register | Constant)
        (word,) = self.words(operand, 1)
        if operand.part == "F32":  # a float, cut to a half: on sm_75 the compiler writes __float2half_rz(x) as x + -0
            half = float_to_half(word.float_bits(), brain=False, rounding="RZ")
            value = (half | (half << 16)).bitcast(H2)
        else:
            value = word.bitcast(H2).part(operand.part)
        value = value.abs() if operand.absolute else value
        return -value if operand.negate else value

    def _floats(self, operand: Operand) -> Floats:
        """F32x2.HI_LO is the pair as it is, LO_HI swapped; F32 one word for both."""
        if isinstance(operand, Immediate):
            both = F32(self.e, self.immediate(F32, operand.bits))
            return Floats(both, both)
        assert isinstance(operand, Register | Constant)
        single = operand.part == "F32"
        words = self.words(operand, 1 if single else 2)
        plain = replace(operand, part="")
        low, high = (cast(F32, self._modified(w.float_bits(), plain)) for w in (words[0], words[-1]))
        return Floats(high, low) if operand.part.endswith("LO_HI") else Floats(low, high)


def named(operand: Operand | None) -> list[Register]:
    """The registers in an operand."""
    match operand:
        case Register():
            return [operand]
        case Address():
            return [r for r in (operand.base, operand.uniform) if r is not None]
        case Constant():
            return [operand.index] if operand.index is not None else []
    return []

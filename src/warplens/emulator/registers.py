"""A warp's registers as LLVM locals, and how operands are read and results written.

LLVM keeps what it can in vector registers; locals that it promotes cost nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from llvmlite import ir

from warplens.emulator.code import Code, i32, i64
from warplens.emulator.emit import LlvmEmitter
from warplens.emulator.layout import Env, FaultKind
from warplens.emulator.liveness import Liveness, Name
from warplens.emulator.routines import gathered
from warplens.emulator.vectors import I1, I8, I16, I32, I64, PTR, is_vector, scalar_type, vector
from warplens.isa._lanes import F32, F64, H2, U32, U64, Float, Int, Lanes, Pred
from warplens.isa._op import Source
from warplens.isa._warp import Addend, Data, Floats
from warplens.program import (
    Address,
    Constant,
    Immediate,
    Instruction,
    Label,
    Operand,
    Program,
    Register,
    Special,
)

if TYPE_CHECKING:
    from warplens.emulator.lift import WarpFunction


KINDS: dict[str, ir.Type] = {"R": vector(I32), "B": vector(I32), "UR": I32, "P": vector(I1), "UP": I1}
PARTS = {"B0": 0, "B1": 8, "B2": 16, "B3": 24, "H0": 0, "H1": 16}  # how far a byte or half of a word stands up
BYTES = {"R": 128, "B": 128, "UR": 4, "P": 4, "UP": 4}


def saved_space(program: Program) -> int:
    """Bytes that the registers which a program can touch take at most; runs reach up to seven beyond a name."""
    last = dict.fromkeys(KINDS, -1)
    for instruction in program.instructions:
        for operand in (instruction.guard, *instruction.operands):
            for register in _named(operand):
                last[register.file] = max(last.get(register.file, -1), register.index)
    return -(-sum(BYTES[file] * (last[file] + 8) for file in KINDS if last[file] >= 0) // 64) * 64


def _named(operand: Operand | None) -> list[Register]:
    """The registers in an operand."""
    match operand:
        case Register():
            return [operand]
        case Address():
            return [r for r in (operand.base, operand.uniform) if r is not None]
        case Constant():
            return [operand.index] if operand.index is not None else []
    return []


class Registers:
    """Locals for the registers of R, UR, P, UP and B that the code touches, each made when it is first asked for.

    What each block reads and overwrites is noted, so that a warp that stops saves only what it will read again.
    """

    def __init__(self, builder: ir.IRBuilder, emitter: LlvmEmitter) -> None:
        self.b = builder
        self.e = emitter
        self.locals: dict[Name, ir.Value] = {}
        self.flow = Liveness()

    def local(self, file: str, index: int) -> ir.Value:
        name = (file, index)
        if name not in self.locals:
            with self.b.goto_entry_block():
                self.locals[name] = self.b.alloca(KINDS[file], name=f"{file}{index}")
        return self.locals[name]

    # Saving

    def _saved(self, live: set[Name]) -> list[tuple[ir.Value, ir.Type, int]]:
        """(local, type, byte offset in the save area) of what lives on."""
        offset, places = 0, []
        for name in sorted(live & set(self.locals), key=lambda n: (-BYTES[n[0]], n)):
            places.append((self.locals[name], KINDS[name[0]], offset))
            offset += BYTES[name[0]]
        return places

    def clear(self) -> None:
        for (file, _), local in self.locals.items():
            self.b.store(ir.Constant(KINDS[file], None), local)

    def save(self, code: Code, area: ir.Value, live: set[Name]) -> None:
        for local, kind, offset in self._saved(live):
            value = self.b.load(local, typ=kind)
            if kind == vector(I1):
                value = self.b.bitcast(value, I32)
            elif kind == I1:
                value = self.b.zext(value, I32)
            self.b.store(value, code.at(area, offset), align=4)

    def restore(self, code: Code, area: ir.Value, live: set[Name]) -> None:
        self.clear()
        for local, kind, offset in self._saved(live):
            stored = I32 if kind in (vector(I1), I1) else kind
            value = self.b.load(code.at(area, offset), typ=stored, align=4)
            if kind == vector(I1):
                value = self.b.bitcast(value, kind)
            elif kind == I1:
                value = self.b.trunc(value, I1)
            self.b.store(value, local)

    # Reading

    def word(self, file: str, index: int) -> ir.Value:
        """The raw 32 bits of a register; the constant register is zero."""
        if index < 0:
            return i32(0)
        self.flow.reads((file, index))
        return self.b.load(self.local(file, index), typ=KINDS[file])

    def predicate(self, register: Register) -> ir.Value:
        if register.index < 0:
            return ir.Constant(I1, 0 if register.invert else 1)
        value = self.word(register.file, register.index)
        return self.b.xor(value, self.e.number(value, 1)) if register.invert else value

    def run(self, register: Register, words: int) -> list[U32]:
        """A register and those behind it."""
        numbers = [register.index + k if register.index >= 0 else -1 for k in range(words)]
        return [U32(self.e, self.word(register.file, n)) for n in numbers]

    def read(self, source: Source, operand: Operand | None, function: WarpFunction, at: Instruction) -> Any:
        """What a parameter of a sentence is given."""
        kind = source.kind
        if operand is None:
            return self._default(kind, source.default)
        if kind in (Address, Label, Register, Special, Constant, Immediate) or not isinstance(kind, type):
            return operand
        if kind is int:
            assert isinstance(operand, Immediate), (at.opcode, at.text, operand)
            return operand.bits
        if kind is Addend:
            return self._addend(operand, function)
        if kind is H2:
            return self._pair(operand, function)
        if kind is Floats:
            return self._floats(operand, function)
        assert issubclass(kind, Lanes), (at.opcode, kind)
        if at.base == "I2F" and kind.bits == 64 and isinstance(operand, Immediate):
            operand = replace(operand, bits=operand.bits << 32)  # as of a double: the listing shows the high word
        return self._value(kind, operand, function)

    def _default(self, kind: Any, default: Any) -> Any:
        if isinstance(kind, type) and issubclass(kind, Lanes):
            return kind(self.e, self.e.constant(kind, default))
        if kind is Addend:
            return Addend(U32(self.e, i32(default)), U64(self.e, i64(default)))
        return default

    def _value(self, kind: type[Lanes], operand: Operand, function: WarpFunction) -> Lanes:
        if kind is Pred:
            assert isinstance(operand, Register), operand
            return self._sign(operand) if operand.part == "SIGN" else Pred(self.e, self.predicate(operand))
        value = kind(self.e, self._raw(kind, operand, function))
        if isinstance(operand, Register | Constant):
            value = self._modified(value, operand)
        return value

    def _sign(self, operand: Register) -> Pred:
        """R2.SIGN in the place of a predicate (sm_100)."""
        sign = self.run(operand, 1)[0].bit(31)
        return ~sign if operand.invert else sign

    def _raw(self, kind: type[Lanes], operand: Operand, function: WarpFunction) -> ir.Value:
        """The operand's bits as this type, before signs."""
        if isinstance(operand, Immediate):
            return self._immediate(kind, operand)
        words = self.words(operand, kind.bits // 32, function)
        bits = words[0] if kind.bits == 32 else words[0].join(words[1])
        return bits.bitcast(kind).node

    def _immediate(self, kind: type[Lanes], operand: Immediate) -> ir.Value:
        bits = operand.bits
        if kind is F64:
            bits <<= 32  # the listing shows the high word, the low one is zero
        width = ir.IntType(kind.bits)
        constant = ir.Constant(width, bits & ((1 << kind.bits) - 1))
        return constant.bitcast(scalar_type(kind)) if issubclass(kind, Float) else constant

    def words(self, operand: Operand, count: int, function: WarpFunction) -> list[U32]:
        """The 32-bit words of a register run or of a place in a constant bank."""
        if isinstance(operand, Register):
            return self.run(operand, count)
        assert isinstance(operand, Constant), operand
        return self.constant(function, operand, 4 * count)

    def constant(self, function: WarpFunction, at: Constant, size: int) -> list[U32]:
        """Words of a constant bank; banks are 64 KB and offsets wrap inside."""
        b, code = self.b, function.code
        offset: ir.Value = i32(at.offset)
        if at.index is not None:
            word = self.word(at.index.file, at.index.index)
            offset = b.add(word, self.e.number(word, at.offset))
            self._within_bank(function, at, offset, size)
        base = code.load(Env, function.env, "bank", at.bank)
        words = max(size // 4, 1)
        kind = {1: I8, 2: I16}.get(size, I32)
        within = b.and_(offset, self.e.number(offset, 0xFFFF & -size))
        values = []
        for k in range(words):
            wide = b.zext(within, self.e.shaped(I64, within))
            at_word = b.add(wide, self.e.number(wide, 4 * k))
            if is_vector(within):
                place = b.inttoptr(b.add(at_word, self.e.splat(b.ptrtoint(base, I64))), vector(PTR))
                lanes = self.e.number(within, 0)
                every = b.icmp_signed("==", lanes, lanes)
                value = gathered(b, place, every, kind, base)
            else:
                value = b.load(b.gep(base, [at_word], source_etype=I8), typ=kind, align=kind.width // 8)
                value.set_metadata("invariant.load", function.t.module.add_metadata([]))
            values.append(U32(self.e, value if kind is I32 else b.zext(value, self.e.shaped(I32, value))))
        return values

    def _within_bank(self, function: WarpFunction, at: Constant, offset: ir.Value, size: int) -> None:
        """A GPU gives 0 behind the end of a bank, and compute-sanitizer says nothing; here it is a fault."""
        b, code = self.b, function.code
        first = self.e.splat(offset)
        room = code.load(Env, function.env, "bank_bytes", at.bank)
        end = b.add(b.zext(first, vector(I64)), self.e.splat(i64(size)))
        wrong = b.and_(function.active, b.icmp_unsigned(">", end, self.e.splat(room)))
        lanes = b.bitcast(wrong, I32)
        offender = b.extract_element(first, b.and_(code.lowest(lanes), i32(31)))
        fields = {"bytes": b.trunc(room, I32), "space": offender}
        function.fault_if(lanes, FaultKind.STRAY_CONSTANT, function.at, **fields)

    def _modified(self, value: Lanes, operand: Register | Constant) -> Lanes:
        """Signs and inversions, as the listing writes them: -|x|, ~x."""
        if operand.part:
            assert isinstance(value, Int), f"{operand} read as {type(value)}"
            value = value >> PARTS[operand.part]
        if isinstance(value, F64) and (operand.absolute or operand.negate):
            # A double NaN keeps its sign, as on an H200.
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

    def _addend(self, operand: Operand, function: WarpFunction) -> Addend:
        if isinstance(operand, Immediate):
            value = U32(self.e, i32(operand.bits))
            return Addend(value, value.wide())
        assert isinstance(operand, Register | Constant)
        (raw,) = self.words(operand, 1, function)
        if operand.negate:
            return Addend(-raw, (~raw).wide() + 1)
        value = ~raw if operand.invert else raw
        return Addend(value, value.wide())

    def _pair(self, operand: Operand, function: WarpFunction) -> H2:
        if isinstance(operand, Immediate):
            return H2(self.e, i32(operand.bits & 0xFFFFFFFF))
        assert isinstance(operand, Register | Constant)
        (word,) = self.words(operand, 1, function)
        value = word.bitcast(H2).part(operand.part)
        value = value.abs() if operand.absolute else value
        return -value if operand.negate else value

    def _floats(self, operand: Operand, function: WarpFunction) -> Floats:
        """F32x2.HI_LO is the pair as it stands, LO_HI swapped; F32 one word for both."""
        if isinstance(operand, Immediate):
            both = F32(self.e, self._immediate(F32, operand))
            return Floats(both, both)
        assert isinstance(operand, Register | Constant)
        single = operand.part == "F32"
        words = self.words(operand, 1 if single else 2, function)
        plain = replace(operand, part="")
        low, high = (cast(F32, self._modified(w.float_bits(), plain)) for w in (words[0], words[-1]))
        return Floats(high, low) if operand.part.endswith("LO_HI") else Floats(low, high)

    # Writing

    def write(self, target: Register, value: Any, keep: ir.Value | None, condition: ir.Value | None) -> None:
        """Stores a result; lanes outside `keep` (None: nobody) keep theirs."""
        if target.index < 0:
            return
        if isinstance(value, Data):
            words = [w.node for w in value.words]
        elif isinstance(value, Pred):
            words = [value.node]
        elif value.bits == 64:
            whole = value.bitcast(U64)
            words = [whole.low().node, whole.high().node]
        else:
            words = [value.bitcast(U32).node]
        for offset, word in enumerate(words):
            self._write_word(target.file, target.index + offset, word, keep, condition)

    def _write_word(
        self, file: str, index: int, value: ir.Value, keep: ir.Value | None, condition: ir.Value | None
    ) -> None:
        b = self.b
        place, kind = self.local(file, index), KINDS[file]
        if condition is None:
            self.flow.overwrites((file, index))
        else:
            self.flow.reads((file, index))
        if isinstance(kind, ir.VectorType):
            value = self.e.splat(value)
            if keep is not None:
                value = b.select(keep, value, b.load(place, typ=kind))
        else:
            if is_vector(value):
                value = b.extract_element(value, i32(0))
            if condition is not None:
                some = condition
                if is_vector(condition):
                    some = b.icmp_signed("!=", b.bitcast(keep, I32), i32(0))
                value = b.select(some, value, b.load(place, typ=kind))
        b.store(value, place)

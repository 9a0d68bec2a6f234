"""Register allocation: a warp's registers as LLVM locals.

LLVM keeps what it can in vector registers; locals that it promotes cost nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from warplens import llvm
from warplens.core.program import Constant
from warplens.emulator.access.gather_scatter import gathered
from warplens.emulator.analysis.affine import AffineValue, Guard
from warplens.emulator.analysis.register_file import PARTS, Form
from warplens.emulator.analysis.uniformity_lattice import Name, State, uniformity_at
from warplens.emulator.codegen.emitter import LlvmEmitter
from warplens.emulator.codegen.structured_builder import StructuredBuilder, i32, i64
from warplens.emulator.codegen.vector_types import I1, I8, I16, I32, I64, PTR, is_vector, scalar_type, vector
from warplens.emulator.lowering.codegen_context import CodegenContext, LoweredRegisters, TranslationUnit
from warplens.emulator.lowering.syscall_stub import READ
from warplens.emulator.state.structs import FaultKind, WorkerEnv
from warplens.isa.dsl.lanes import U32, Float, Lanes

Slot = tuple[Name, Form, int]
VECTORS = {"R": 128, "B": 128, "P": 4}  # bytes of 32 numbers
FORMS = {"uniform": "uniform", "affine": "affine", "low": "pair", "high": "pair", "varying": "varying"}


def saved_space(last: Mapping[str, int]) -> int:
    """Maximum bytes of the registers up to these numbers; register runs extend up to seven past a name."""
    return -(-sum((VECTORS.get(file, 4) + 40) * (n + 8) for file, n in last.items() if n >= 0) // 64) * 64


# Registers of lanes suspended there stay live while other lanes run the same code.
WAITS_FOR_LANES = ("BSYNC", "WARPSYNC", "BAR")


class RegisterAllocation(LoweredRegisters):
    """Register allocation: a local for each representation of a register in the code, made on first use.

    In straight-line code values are forwarded instead, and stored at its end (settle), as LLVM would do.
    """

    e: LlvmEmitter
    f: CodegenContext

    def __init__(self, function: CodegenContext, kernel: TranslationUnit) -> None:
        super().__init__(function.emitter)
        self.f = function
        self.b = function.b
        self.locals: dict[Slot, llvm.Value] = {}
        self.homes: Mapping[Slot, int] = {}
        self.raw: dict[Slot, llvm.Value] = {}  # values stored in this block, before NaN canonicalisation
        self.straight = False
        self.held: dict[Slot, llvm.Value] = {}  # in straight-line code: the local's value, stored or pending (settle)
        self.unsettled: dict[Slot, None] = {}
        known = kernel.shapes
        before = [None, *(i.base for i in kernel.program.instructions)]
        parted = (place for place, split in known.split.items() if split or before[place.first] in WAITS_FOR_LANES)
        shared = {name for place in parted for name in known.live[place]}
        self.shared = frozenset(shared | READ if kernel.kernel.externs else shared)

    def kind(self, name: Name, form: Form) -> llvm.Type:
        single = I1 if name[0] in ("P", "UP") else I32
        return {"uniform": single, "affine": I32, "pair": I64, "varying": vector(single)}[form]

    def keep_in(self, area: llvm.Value, layout: Mapping[Slot, int]) -> None:
        """Vectors live in the save area between blocks.

        LLVM would make a value of each where blocks join: 42,000 of them in a kernel of 6,000 instructions, and takes
        more than twice as long for them as for the rest.
        """
        self.area = area
        self.homes = {slot: at for slot, at in layout.items() if slot[1] == "varying"}

    def local(self, slot: Slot) -> llvm.Value:
        if slot not in self.locals:
            name, form, _ = slot
            kind = self.kind(name, form)
            with self.b.goto_entry_block():
                if slot in self.homes:
                    place = self.f.code.at(self.area, self.homes[slot])
                else:
                    place = self.b.alloca(kind)
                    self.b.store(llvm.IRConstant(kind, None), place)
            self.locals[slot] = place
        return self.locals[slot]

    def _load(self, slot: Slot) -> llvm.Value:
        kind = self.kind(slot[0], slot[1])
        if slot in self.homes:
            return self._from_memory(self.local(slot), kind)
        return self.b.load(self.local(slot), typ=kind)

    def _store(self, value: llvm.Value, slot: Slot) -> None:
        if slot in self.homes:
            self._to_memory(value, self.local(slot))
        else:
            self.b.store(value, self.local(slot))

    def _from_memory(self, place: llvm.Value, kind: llvm.Type) -> llvm.Value:
        value = self.b.load(place, typ=I32 if kind in (vector(I1), I1) else kind, align=4)
        if kind == vector(I1):
            return self.b.bitcast(value, kind)
        return self.b.trunc(value, I1) if kind == I1 else value

    def _to_memory(self, value: llvm.Value, place: llvm.Value) -> None:
        if value.type == vector(I1):
            value = self.b.bitcast(value, I32)
        elif value.type == I1:
            value = self.b.zext(value, I32)
        self.b.store(value, place, align=4)

    # Locals

    def fetch(self, name: Name, form: Form, part: int) -> Any:
        slot = (name, form, part)
        if slot in self.held:
            return self.held[slot]
        value = self._load(slot)
        if slot in self.raw:
            self.e.raw[value] = self.raw[slot]
        if self.straight:
            self.held[slot] = value
        return value

    def put(self, name: Name, form: Form, part: int, node: Any) -> None:
        slot = (name, form, part)
        node = self.e.splat(node) if form == "varying" else node
        self.raw.pop(slot, None)
        if node in self.e.raw:
            self.raw[slot] = self.e.raw[node]
        if self.straight:
            self.held[slot] = node
            self.unsettled[slot] = None
        else:
            self._store(node, slot)

    def settle(self, read: Container[Name] | None = None) -> None:
        """Stores held values to their locals, before branches; vectors of R only if they are `read` afterwards."""
        for slot in self.unsettled:
            if read is None or slot[0][0] != "R" or slot[1] != "varying" or slot[0] in read:
                self._store(self.held[slot], slot)
        self.unsettled.clear()
        self.held.clear()
        self.straight = False

    @contextmanager
    def temporary(self) -> Iterator[None]:
        """Values that are put inside are held until its end, and not stored to locals."""
        assert not self.straight
        self.straight = True
        yield
        self.unsettled.clear()
        self.held.clear()
        self.straight = False

    def begin(self, block: Any, state: State, split: bool) -> None:
        """Begins straight-line code, until settle."""
        super().begin(block, state, split)
        self.straight = True
        self.raw.clear()
        self.e.raw.clear()

    def blended(self, lanes: Any, new: Any, old: Any) -> Any:
        lanes = self.f.code.lanes(self.b.load(self.f.exec, typ=I32)) if lanes is None else lanes
        return self.b.select(lanes, self.e.splat(new), self.e.splat(old))

    def uniform(self, node: Any, active: Any, condition: Any, old: Callable[[], Any]) -> Any:
        node = self.e.vector_of(node)
        if is_vector(node):
            node = self.b.extract_element(node, i32(0))
        if condition is None:
            return node
        some = condition
        if is_vector(condition):
            some = self.b.icmp_signed("!=", self.b.bitcast(active, I32), i32(0))
        return self.b.select(some, node, old())

    def trust(self, linear: AffineValue) -> None:
        for guard in linear.guards:
            self._check(guard)

    def _check(self, guard: Guard) -> None:
        """Checks that the corners of the tile stay inside 32 bits, so that all lanes do."""
        b, tile = self.b, self.f.t.tile
        base, x, y = guard.narrow.parts
        wide = b.sext(base, I64) if guard.signed else b.zext(base, I64)
        low, high = (-(1 << 31), (1 << 31) - 1) if guard.signed else (0, (1 << 32) - 1)
        reach: list[tuple[Any, int]] = [(x, tile - 1), (y, 32 // tile - 1)] if tile else []
        known = [(step, times) for step, times in reach if isinstance(step, int)]
        least = sum(min(step * times, 0) for step, times in known)
        most = sum(max(step * times, 0) for step, times in known)
        bottom, top = b.add(wide, llvm.IRConstant(I64, least)), b.add(wide, llvm.IRConstant(I64, most))
        for step, times in reach:
            if not isinstance(step, int):
                way = b.mul(b.sext(step, I64), llvm.IRConstant(I64, times))
                zero = llvm.IRConstant(I64, 0)
                negative = b.icmp_signed("<", way, zero)
                bottom = b.add(bottom, b.select(negative, way, zero))
                top = b.add(top, b.select(negative, zero, way))
        fine = b.and_(
            b.icmp_signed(">=", bottom, llvm.IRConstant(I64, low)), b.icmp_signed("<=", top, llvm.IRConstant(I64, high))
        )
        on = b.append_basic_block("on")
        b.cbranch(fine, on, self.f.wrapped).set_weights([100000, 1])
        b.position_at_end(on)

    # Saving: registers live at a resume point, in their representation there

    def slots(self, places: Iterable[tuple[State, Iterable[Name]]], touched: bool = True) -> list[Slot]:
        """Slots live at these points; touched: only those that this code uses."""
        found: set[Slot] = set()
        for state, live in places:
            for name in live:
                shape = uniformity_at(state, name)
                if shape.known is not None:
                    continue
                form = FORMS[shape.kind]
                owner = (name[0], name[1] - 1) if shape.kind == "high" else name
                steps = (None, *shape.steps) if form in ("affine", "pair") else (None,)
                parts = [k for k in range(PARTS[form]) if steps[k] is None]  # type: ignore[index]
                found.update((owner, form, k) for k in parts)  # type: ignore[misc]
        return sorted(slot for slot in found if not touched or slot in self.locals)

    def layout(self, slots: Iterable[Slot]) -> dict[Slot, int]:
        """Offset of each slot in the save area, in bytes."""
        offset, places = 0, {}
        for slot in sorted(slots, key=lambda s: (s[1] != "varying", s[0][0] == "P", s[1] != "pair", s)):
            kind = self.kind(slot[0], slot[1])
            places[slot] = offset
            offset += 128 if kind == vector(I32) else 8 if kind == I64 else 4
        return places

    def save(
        self, code: StructuredBuilder, area: llvm.Value, slots: Iterable[Slot], layout: Mapping[Slot, int]
    ) -> None:
        for slot in slots:
            if slot not in self.homes or slot in self.unsettled:
                self._to_memory(self.fetch(*slot), code.at(area, layout[slot]))

    def restore(
        self, code: StructuredBuilder, area: llvm.Value, slots: Iterable[Slot], layout: Mapping[Slot, int]
    ) -> None:
        for slot in slots:
            if slot not in self.homes:
                value = self._from_memory(code.at(area, layout[slot]), self.kind(slot[0], slot[1]))
                self.b.store(value, self.local(slot))

    def clear(self, slots: Iterable[Slot]) -> None:
        """Zeroes those that live in memory; locals begin so."""
        for slot in slots:
            if slot in self.homes:
                self._store(llvm.IRConstant(self.kind(slot[0], slot[1]), None), slot)

    # Non-register operands

    def immediate(self, kind: type[Lanes], bits: int) -> Any:
        width = llvm.IntType(kind.bits)
        constant = llvm.IRConstant(width, bits & ((1 << kind.bits) - 1))
        return constant.bitcast(scalar_type(kind)) if issubclass(kind, Float) else constant

    def number(self, kind: llvm.Type, value: int) -> llvm.Value:
        """A number in an operand."""
        return llvm.IRConstant(kind, value)

    def indexed(self, at: Constant) -> llvm.Value:
        """The offset in its bank, of each lane where it has an index."""
        offset = self.number(I32, at.offset)
        if at.index is None:
            return offset
        word = self.e.vector_of(self.word(at.index.file, at.index.index))
        return self.b.add(word, self.e.splat(offset) if is_vector(word) else offset)

    def constant(self, at: Constant, size: int) -> list[U32]:
        """Words of a constant bank; banks are 64 KB and offsets wrap inside."""
        b, code = self.b, self.f.code
        offset = self.indexed(at)
        if at.index is not None:
            self._within_bank(at, offset, size)
        base = code.load(WorkerEnv, self.f.env, "bank", at.bank)
        words = max(size // 4, 1)
        kind = {1: I8, 2: I16}.get(size, I32)
        within = b.and_(offset, self.e.number(offset, 0xFFFF & -size))
        values = []
        for k in range(words):
            wide = b.zext(within, self.e.shaped(I64, within))
            at_word = b.add(wide, self.e.number(wide, 4 * k))
            if is_vector(within):
                place = b.inttoptr(b.add(at_word, self.e.splat(b.ptrtoint(base, I64))), vector(PTR))
                value = gathered(b, place, kind)
            else:
                value = b.load(b.gep(base, [at_word], source_etype=I8), typ=kind, align=kind.width // 8, invariant=True)
            values.append(U32(self.e, value if kind is I32 else b.zext(value, self.e.shaped(I32, value))))
        return values

    def _within_bank(self, at: Constant, offset: llvm.Value, size: int) -> None:
        """Bounds check of a bank: a GPU reads 0 past its end, unreported by compute-sanitizer; here it is a fault."""
        b, code, function = self.b, self.f.code, self.f
        first = self.e.splat(offset)
        end_of_bank = code.load(WorkerEnv, function.env, "bank_bytes", at.bank)
        end = b.add(b.zext(first, vector(I64)), self.e.splat(i64(size)))
        wrong = b.and_(function.active, b.icmp_unsigned(">", end, self.e.splat(end_of_bank)))
        lanes = b.bitcast(wrong, I32)
        offender = b.extract_element(first, b.and_(code.lowest(lanes), i32(31)))
        fields = {"bytes": b.trunc(end_of_bank, I32), "space": offender}
        function.fault_if(lanes, FaultKind.STRAY_CONSTANT, function.at, **fields)

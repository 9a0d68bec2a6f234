"""IR builder: appends instructions, one line each, to a block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

from warplens.llvm.module import BasicBlock, Function, IRModule
from warplens.llvm.types import FunctionType, IntType, PointerType, Type, VectorType
from warplens.llvm.values import IRConstant, Value

I1, PTR = IntType(1), PointerType()
ORDERS = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}


class Terminator:
    """Terminator of a block, to which metadata can be added."""

    def __init__(self, block: BasicBlock, text: str) -> None:
        self.block, self.text = block, text
        self.cases: list[str] = []
        block.end = text

    def set_weights(self, weights: Sequence[int]) -> None:
        """Branch weights: how often each successor is taken, for code layout."""
        metadata = self.block.function.module.metadata(
            ", ".join(['!"branch_weights"', *(f"i32 {weight}" for weight in weights)])
        )
        self.block.end = f"{self.text}, !prof {metadata}"

    def add_case(self, number: IRConstant, block: BasicBlock) -> None:
        self.cases.append(f"{number.type.text} {number.text}, label %{block.label}")
        self.block.end = f"{self.text} [{' '.join(self.cases)}]"


class IRBuilder:
    """IR builder: appends to `block`."""

    def __init__(self, block: BasicBlock) -> None:
        self.block = block
        self.function: Function = block.function
        self._write = block.lines.append

    @property
    def module(self) -> IRModule:
        return self.function.module

    # Positions

    def append_basic_block(self, name: str = "b") -> BasicBlock:
        return self.function.append_basic_block(name)

    def position_at_end(self, block: BasicBlock) -> None:
        self.block, self._write = block, block.lines.append

    @contextmanager
    def goto_entry_block(self) -> Iterator[None]:
        here = self.block
        self.position_at_end(self.function.blocks[0])
        yield
        self.position_at_end(here)

    # Values

    def _made(self, kind: Type, text: str) -> Value:
        function = self.function
        function.count += 1
        name = f"%v{function.count}"
        self._write(f" {name} = {text}")
        return Value(kind, name)

    def _two(self, word: str, x: Value, y: Value) -> Value:
        assert x.type is y.type, f"{word} of {x!r} and {y!r}"
        return self._made(x.type, f"{word} {x.type.text} {x.text}, {y.text}")

    def add(self, x: Value, y: Value) -> Value:
        return self._two("add", x, y)

    def sub(self, x: Value, y: Value) -> Value:
        return self._two("sub", x, y)

    def mul(self, x: Value, y: Value) -> Value:
        return self._two("mul", x, y)

    def udiv(self, x: Value, y: Value) -> Value:
        return self._two("udiv", x, y)

    def sdiv(self, x: Value, y: Value) -> Value:
        return self._two("sdiv", x, y)

    def srem(self, x: Value, y: Value) -> Value:
        return self._two("srem", x, y)

    def urem(self, x: Value, y: Value) -> Value:
        return self._two("urem", x, y)

    def and_(self, x: Value, y: Value) -> Value:
        return self._two("and", x, y)

    def or_(self, x: Value, y: Value) -> Value:
        return self._two("or", x, y)

    def xor(self, x: Value, y: Value) -> Value:
        return self._two("xor", x, y)

    def shl(self, x: Value, y: Value) -> Value:
        return self._two("shl", x, y)

    def lshr(self, x: Value, y: Value) -> Value:
        return self._two("lshr", x, y)

    def ashr(self, x: Value, y: Value) -> Value:
        return self._two("ashr", x, y)

    def fadd(self, x: Value, y: Value) -> Value:
        return self._two("fadd", x, y)

    def fsub(self, x: Value, y: Value) -> Value:
        return self._two("fsub", x, y)

    def fmul(self, x: Value, y: Value) -> Value:
        return self._two("fmul", x, y)

    def fdiv(self, x: Value, y: Value) -> Value:
        return self._two("fdiv", x, y)

    def not_(self, x: Value) -> Value:
        ones = IRConstant(x.type, None, "splat (i1 true)") if x.type.text == "<32 x i1>" else None
        if ones is None:
            single = x.type.element if isinstance(x.type, VectorType) else x.type
            one = IRConstant(single, -1)
            ones = IRConstant.splat(one, x.type) if single is not x.type else one
        return self._two("xor", x, ones)

    def neg(self, x: Value) -> Value:
        return self._two("sub", IRConstant(x.type, None), x)

    def fneg(self, x: Value) -> Value:
        return self._made(x.type, f"fneg {x.type.text} {x.text}")

    def _compared(self, word: str, x: Value, y: Value) -> Value:
        kind: Type = VectorType(I1, x.type.count) if isinstance(x.type, VectorType) else I1
        assert x.type is y.type, f"{word} of {x!r} and {y!r}"
        return self._made(kind, f"{word} {x.type.text} {x.text}, {y.text}")

    def icmp_signed(self, order: str, x: Value, y: Value) -> Value:
        return self._compared(f"icmp {'' if order in ('==', '!=') else 's'}{ORDERS[order]}", x, y)

    def icmp_unsigned(self, order: str, x: Value, y: Value) -> Value:
        return self._compared(f"icmp {'' if order in ('==', '!=') else 'u'}{ORDERS[order]}", x, y)

    def fcmp_ordered(self, order: str, x: Value, y: Value) -> Value:
        return self._compared(f"fcmp {'o' + ORDERS[order] if order in ORDERS else order}", x, y)

    def fcmp_unordered(self, order: str, x: Value, y: Value) -> Value:
        return self._compared(f"fcmp {'u' + ORDERS[order] if order in ORDERS else order}", x, y)

    def select(self, p: Value, yes: Value, no: Value) -> Value:
        assert yes.type is no.type, f"select of {yes!r} and {no!r}"
        return self._made(
            yes.type, f"select {p.type.text} {p.text}, {yes.type.text} {yes.text}, {no.type.text} {no.text}"
        )

    def phi(self, ways: Sequence[tuple[Value, BasicBlock]]) -> Value:
        """The value that belongs to the block from which this one was entered; first in its block."""
        kind = ways[0][0].type
        return self._made(kind, f"phi {kind.text} {', '.join(f'[{x.text}, %{block.label}]' for x, block in ways)}")

    # Conversions; to the same type none

    def _cast(self, word: str, x: Value, to: Type) -> Value:
        return x if x.type is to else self._made(to, f"{word} {x.type.text} {x.text} to {to.text}")

    def bitcast(self, x: Value, to: Type) -> Value:
        return self._cast("bitcast", x, to)

    def zext(self, x: Value, to: Type) -> Value:
        return self._cast("zext", x, to)

    def sext(self, x: Value, to: Type) -> Value:
        return self._cast("sext", x, to)

    def trunc(self, x: Value, to: Type) -> Value:
        return self._cast("trunc", x, to)

    def fpext(self, x: Value, to: Type) -> Value:
        return self._cast("fpext", x, to)

    def fptrunc(self, x: Value, to: Type) -> Value:
        return self._cast("fptrunc", x, to)

    def sitofp(self, x: Value, to: Type) -> Value:
        return self._cast("sitofp", x, to)

    def uitofp(self, x: Value, to: Type) -> Value:
        return self._cast("uitofp", x, to)

    def fptosi(self, x: Value, to: Type) -> Value:
        return self._cast("fptosi", x, to)

    def fptoui(self, x: Value, to: Type) -> Value:
        return self._cast("fptoui", x, to)

    def inttoptr(self, x: Value, to: Type) -> Value:
        return self._cast("inttoptr", x, to)

    def ptrtoint(self, x: Value, to: Type) -> Value:
        return self._cast("ptrtoint", x, to)

    # Elements of vectors and aggregates

    def extract_element(self, x: Value, at: Value) -> Value:
        return self._made(x.type.element, f"extractelement {x!r}, {at!r}")

    def insert_element(self, x: Value, part: Value, at: Value) -> Value:
        return self._made(x.type, f"insertelement {x!r}, {part!r}, {at!r}")

    def shuffle_vector(self, x: Value, y: Value, order: Value) -> Value:
        kind = VectorType(x.type.element, order.type.count)
        return self._made(kind, f"shufflevector {x!r}, {y!r}, {order!r}")

    def extract_value(self, x: Value, at: int) -> Value:
        return self._made(x.type.elements[at], f"extractvalue {x!r}, {at}")

    def insert_value(self, x: Value, part: Value, at: int) -> Value:
        return self._made(x.type, f"insertvalue {x!r}, {part!r}, {at}")

    # Memory

    def alloca(self, kind: Type) -> Value:
        return self._made(PTR, f"alloca {kind.text}")

    def load(self, place: Value, typ: Type, align: int | None = None, invariant: bool = False) -> Value:
        """Load.  invariant: not written while the function runs."""
        behind = f", align {align}" if align else ""
        if invariant:
            behind += f", !invariant.load {self.module.metadata('')}"
        return self._made(typ, f"load {typ.text}, ptr {place.text}{behind}")

    def load_volatile(self, place: Value, align: int, typ: Type) -> Value:
        return self._made(typ, f"load volatile {typ.text}, ptr {place.text}, align {align}")

    def load_atomic(self, place: Value, ordering: str, align: int, typ: Type) -> Value:
        return self._made(typ, f"load atomic {typ.text}, ptr {place.text} {ordering}, align {align}")

    def store(self, value: Value, place: Value, align: int | None = None, passing: bool = False) -> None:
        """Store.  passing: nontemporal, bypasses the host's caches."""
        behind = f", align {align}" if align else ""
        if passing:
            behind += f", !nontemporal {self.module.metadata('i32 1')}"
        self._write(f" store {value.type.text} {value.text}, ptr {place.text}{behind}")

    def atomic_rmw(self, word: str, place: Value, value: Value, ordering: str) -> Value:
        return self._made(value.type, f"atomicrmw {word} {place!r}, {value!r} {ordering}")

    def gep(self, place: Value, indices: Sequence[Value], source_etype: Type) -> Value:
        """getelementptr: a vector of addresses if one of its operands is a vector."""
        kind: Type = PTR
        for part in (place, *indices):
            if isinstance(part.type, VectorType):
                kind = VectorType(PTR, part.type.count)
        return self._made(kind, f"getelementptr {source_etype.text}, {place!r}, {', '.join(map(repr, indices))}")

    # Calls

    def call(self, function: Value, arguments: Sequence[Value], kind: FunctionType | None = None) -> Value:
        """Call of a function, or of an address with its function type."""
        if kind is None:
            assert isinstance(function, Function)
            kind = function.function_type
        assert [a.type for a in arguments] == list(kind.args), f"{function!r} {kind} of {arguments}"
        result = kind.return_type
        text = f"call {result.text} {function.text}({', '.join(map(repr, arguments))})"
        if result.text == "void":
            self._write(f" {text}")
            return Value(result, "")
        return self._made(result, text)

    def go_to(self, function: Value, arguments: Sequence[Value], kind: FunctionType) -> None:
        """Tail call: jumps to a function of the same type at this address and returns its result."""
        given = ", ".join(map(repr, arguments))
        result = self._made(kind.return_type, f"musttail call {kind.return_type.text} {function.text}({given})")
        self.ret(result)

    # Terminators

    def _end(self, text: str) -> Terminator:
        assert self.block.end is None, f"{self.block.label} ends twice"
        return Terminator(self.block, f" {text}")

    def branch(self, to: BasicBlock) -> None:
        self._end(f"br label %{to.label}")

    def cbranch(self, p: Value, yes: BasicBlock, no: BasicBlock) -> Terminator:
        return self._end(f"br i1 {p.text}, label %{yes.label}, label %{no.label}")

    def switch(self, number: Value, otherwise: BasicBlock) -> Terminator:
        going = self._end(f"switch {number!r}, label %{otherwise.label}")
        self.block.end = f"{going.text} []"
        return going

    def ret(self, value: Value) -> None:
        self._end(f"ret {value!r}")

    def ret_void(self) -> None:
        self._end("ret void")

    @contextmanager
    def if_then(self, p: Value, likely: bool | None = None) -> Iterator[None]:
        inside, after = (self.append_basic_block(name) for name in ("if", "endif"))
        self._weighed(self.cbranch(p, inside, after), likely)
        with self._way(inside, after):
            yield
        self.position_at_end(after)

    @contextmanager
    def if_else(
        self, p: Value, likely: bool | None = None
    ) -> Iterator[tuple[AbstractContextManager[None], AbstractContextManager[None]]]:
        yes, no, after = (self.append_basic_block(name) for name in ("if", "else", "endif"))
        self._weighed(self.cbranch(p, yes, no), likely)
        yield self._way(yes, after), self._way(no, after)
        self.position_at_end(after)

    def _weighed(self, going: Terminator, likely: bool | None) -> None:
        if likely is not None:
            going.set_weights([99, 1] if likely else [1, 99])

    @contextmanager
    def _way(self, block: BasicBlock, after: BasicBlock) -> Iterator[None]:
        self.position_at_end(block)
        yield
        if not self.block.is_terminated:
            self.branch(after)

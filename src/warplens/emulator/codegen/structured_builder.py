"""Structured builder: struct fields, loops and bit scans in LLVM, for the executor's own routines."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from warplens import llvm
from warplens.emulator.codegen.vector_types import I1, I8, I32, I64, PTR, intrinsic, mangled


def i32(value: int) -> llvm.IRConstant:
    return llvm.IRConstant(I32, value)


def i64(value: int) -> llvm.IRConstant:
    return llvm.IRConstant(I64, value)


class StructuredBuilder:
    """IR builder with operations for fields of shared structs and for loops."""

    def __init__(self, builder: llvm.IRBuilder) -> None:
        self.b = builder

    @property
    def module(self) -> llvm.IRModule:
        return self.b.module

    # Fields

    def at(self, pointer: llvm.Value, offset: llvm.Value | int) -> llvm.Value:
        """pointer + bytes."""
        where = i64(offset) if isinstance(offset, int) else self.widened(offset)
        return self.b.gep(pointer, [where], source_etype=I8)

    def widened(self, value: llvm.Value) -> llvm.Value:
        return value if value.type == I64 else self.b.sext(value, I64)

    def field(
        self,
        record: type[ctypes.Structure],
        pointer: llvm.Value,
        name: str,
        index: llvm.Value | int | None = None,
    ) -> llvm.Value:
        """The address of a field, or of one entry of an array field; "part.name" is a field of a nested structure."""
        offset, declared = _located(record, name)
        place = self.at(pointer, offset)
        if index is None:
            return place
        size = ctypes.sizeof(declared._type_)
        step = i64(index) if isinstance(index, int) else self.widened(index)
        return self.at(place, self.b.mul(step, i64(size)))

    def load(
        self,
        record: type[ctypes.Structure],
        pointer: llvm.Value,
        name: str,
        index: llvm.Value | int | None = None,
    ) -> llvm.Value:
        return self.b.load(self.field(record, pointer, name, index), typ=_type(record, name))

    def store(
        self,
        value: llvm.Value | int,
        record: type[ctypes.Structure],
        pointer: llvm.Value,
        name: str,
        index: llvm.Value | int | None = None,
    ) -> None:
        kind = _type(record, name)
        self.b.store(
            llvm.IRConstant(kind, value) if isinstance(value, int) else value,
            self.field(record, pointer, name, index),
        )

    def bump(self, place: llvm.Value, by: llvm.Value | int = 1, kind: llvm.Type = I64) -> None:
        """*place += by."""
        step = llvm.IRConstant(kind, by) if isinstance(by, int) else by
        self.b.store(self.b.add(self.b.load(place, typ=kind), step), place)

    def clear(self, place: llvm.Value, size: llvm.Value) -> None:
        """`size` bytes, an i64, become 0."""
        memset = intrinsic(self.module, "llvm.memset.p0.i64", llvm.VoidType(), [PTR, I8, I64, I1])
        self.b.call(memset, [place, llvm.IRConstant(I8, 0), size, llvm.IRConstant(I1, 0)])

    # Bits

    def intrinsic(self, name: str, *args: llvm.Value, result: llvm.Type | None = None) -> llvm.Value:
        full = f"llvm.{name}.{mangled(args[0].type)}"
        function = intrinsic(self.module, full, result or args[0].type, [a.type for a in args])
        return self.b.call(function, args)

    def popcount(self, mask: llvm.Value) -> llvm.Value:
        return self.intrinsic("ctpop", mask)

    def lowest(self, mask: llvm.Value) -> llvm.Value:
        """The number of the lowest set bit."""
        return self.intrinsic("cttz", mask, llvm.IRConstant(I1, 0))

    def lanes(self, mask: llvm.Value) -> llvm.Value:
        """A word of 32 bits as a vector of them: tested by 32 numbers, since LLVM takes single bits one by one where
        it makes bytes of them (three instructions a lane with AVX2)."""
        kind = llvm.VectorType(I32, 32)
        first = self.b.insert_element(llvm.IRConstant(kind, llvm.POISON), mask, i32(0))
        every = self.b.shuffle_vector(first, llvm.IRConstant(kind, llvm.POISON), llvm.IRConstant(kind, [0] * 32))
        bits = self.b.and_(every, llvm.IRConstant(kind, [1 << lane for lane in range(32)]))
        return self.b.icmp_signed("!=", bits, llvm.IRConstant(kind, None))

    def bit(self, number: llvm.Value) -> llvm.Value:
        return self.b.shl(llvm.IRConstant(number.type, 1), number)

    def nonzero(self, value: llvm.Value) -> llvm.Value:
        return self.b.icmp_unsigned("!=", value, llvm.IRConstant(value.type, 0))

    # Flow

    @contextmanager
    def when(self, condition: llvm.Value, likely: bool | None = None) -> Iterator[None]:
        with self.b.if_then(condition, likely=likely):
            yield

    def loop(self, condition: Callable[[], llvm.Value], body: Callable[[], None]) -> None:
        """while condition(): body()."""
        head, inside, after = (self.b.append_basic_block(n) for n in ("head", "body", "after"))
        self.b.branch(head)
        self.b.position_at_end(head)
        self.b.cbranch(condition(), inside, after)
        self.b.position_at_end(inside)
        body()
        if not self.b.block.is_terminated:
            self.b.branch(head)
        self.b.position_at_end(after)

    def each(self, count: llvm.Value, body: Callable[[llvm.Value], Any]) -> None:
        """for i in range(count): body(i)."""
        place = self.variable(count.type, llvm.IRConstant(count.type, 0))

        def step() -> None:
            i = self.b.load(place, typ=count.type)
            body(i)
            self.b.store(self.b.add(self.b.load(place, typ=count.type), llvm.IRConstant(count.type, 1)), place)

        self.loop(lambda: self.b.icmp_signed("<", self.b.load(place, typ=count.type), count), step)

    def each_bit(self, mask: llvm.Value, body: Callable[[llvm.Value], None]) -> None:
        """For every set bit of an i32, from the lowest: body(number)."""
        place = self.variable(I32, mask)

        def step() -> None:
            left = self.b.load(place, typ=I32)
            self.b.store(self.b.and_(left, self.b.sub(left, i32(1))), place)
            body(self.lowest(left))

        self.loop(lambda: self.nonzero(self.b.load(place, typ=I32)), step)

    def variable(self, kind: llvm.Type, value: llvm.Value | None = None) -> llvm.Value:
        """A local, placed in the entry block so that LLVM keeps it in a register."""
        with self.b.goto_entry_block():
            place = self.b.alloca(kind)
        if value is not None:
            self.b.store(value, place)
        return place


@cache
def _located(record: type[ctypes.Structure], name: str) -> tuple[int, Any]:
    """Offset in bytes and ctypes type of a field, or of a field of a nested structure ("part.name")."""
    offset = 0
    kind: Any = record
    for step in name.split("."):
        offset += getattr(kind, step).offset
        kind = next(field[1] for field in kind._fields_ if field[0] == step)
    return offset, kind


def _type(record: type[ctypes.Structure], name: str) -> llvm.Type:
    """A field's type in LLVM; of an array field that of an entry."""
    kind = _located(record, name)[1]
    kind = kind._type_ if issubclass(kind, ctypes.Array) else kind
    if kind is ctypes.c_void_p:
        return PTR
    return I64 if ctypes.sizeof(kind) == 8 else I32


def function(
    module: llvm.IRModule, name: str, result: llvm.Type, arguments: list[llvm.Type], inline: bool = False
) -> tuple[llvm.Function, StructuredBuilder]:
    """A private function and the code to fill it."""
    made = llvm.Function(module, llvm.FunctionType(result, arguments), name)
    made.linkage = "internal"
    made.helper = True
    made.attributes.add("alwaysinline" if inline else "noinline")
    made.attributes.add("nounwind")
    return made, StructuredBuilder(llvm.IRBuilder(made.append_basic_block("entry")))

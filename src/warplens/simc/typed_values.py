"""Typed values: numbers, arrays and tuples during compilation (from_python.py).

A number is one of four kinds: a truth (i1), an int (64 bits, signed), an unsigned (64 bits) or a float (64 bits).
Arithmetic is that of Python and numpy, except that ints wrap and nothing is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from warplens import llvm

TRUTH, INT, UNSIGNED, FLOAT = llvm.IntType(1), llvm.IntType(64), llvm.IntType(64), llvm.DoubleType()
KINDS = {"truth": TRUTH, "int": INT, "unsigned": UNSIGNED, "float": FLOAT}
WIDER = ("truth", "int", "unsigned", "float")  # of two kinds the later one takes both
PTR = llvm.PointerType()


class CannotCompileError(Exception):
    """The function uses a part of Python that is not supported."""


@dataclass(frozen=True)
class TypedNumber:
    kind: str
    value: Any


@dataclass(frozen=True)
class TypedArray:
    """C order; `place` points to the first element."""

    place: Any
    dtype: np.dtype[Any]
    shape: tuple[TypedNumber, ...]


@dataclass(frozen=True)
class TypedGroup:
    """A tuple; with names, if it is a named one."""

    items: tuple[Value, ...]
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class TypedRecord:
    """A record (record.py): `place` points to its first float."""

    place: Any
    names: tuple[str, ...]


Value = Any  # Number, Array, Group, Record, or a Python object that is known while compiling


def constant(value: Any) -> TypedNumber:
    if isinstance(value, bool | np.bool_):
        return TypedNumber("truth", llvm.IRConstant(TRUTH, int(value)))
    if isinstance(value, float | np.floating):
        return TypedNumber("float", llvm.IRConstant(FLOAT, float(value)))
    kind = "unsigned" if isinstance(value, np.uint64) else "int"
    return TypedNumber(kind, llvm.IRConstant(INT, int(value)))


def typed_value(value: Value) -> Value:
    """A Python object as a value in code: numbers and tuples become typed values, others are unchanged."""
    if isinstance(value, bool | int | float | np.number | np.bool_):
        return constant(value)
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return TypedGroup(tuple(typed_value(v) for v in value))
    return value


def widest_kind(one: str, other: str) -> str:
    return WIDER[max(WIDER.index(one), WIDER.index(other))]


class Arithmetic:
    """Arithmetic on typed numbers, emitted into a builder."""

    def __init__(self, b: llvm.IRBuilder) -> None:
        self.b = b

    def to(self, kind: str, x: TypedNumber) -> TypedNumber:
        b, have = self.b, x.kind
        if have == kind:
            return x
        if kind == "truth":
            return self.truth(x)
        if kind == "float":
            signed = have == "int"
            return TypedNumber(kind, b.sitofp(x.value, FLOAT) if signed else b.uitofp(x.value, FLOAT))
        if have == "truth":
            return TypedNumber(kind, b.zext(x.value, INT))
        return TypedNumber(kind, b.fptosi(x.value, INT) if have == "float" else x.value)

    def truth(self, x: TypedNumber) -> TypedNumber:
        if x.kind == "truth":
            return x
        if x.kind == "float":
            return TypedNumber("truth", self.b.fcmp_unordered("!=", x.value, llvm.IRConstant(FLOAT, 0.0)))
        return TypedNumber("truth", self.b.icmp_signed("!=", x.value, llvm.IRConstant(INT, 0)))

    def to_common_kind(self, x: TypedNumber, y: TypedNumber, least: str = "int") -> tuple[str, Any, Any]:
        """The common kind, and both numbers converted to it."""
        kind = widest_kind(widest_kind(x.kind, y.kind), least)
        return kind, self.to(kind, x).value, self.to(kind, y).value

    def binary(self, name: str, x: TypedNumber, y: TypedNumber) -> TypedNumber:
        """`name`: the operator's class in Python's ast."""
        if name == "Div":
            _, left, right = self.to_common_kind(x, y, "float")
            return TypedNumber("float", self.b.fdiv(left, right))
        kind, left, right = self.to_common_kind(x, y)
        made: Callable[[Any, Any], Any] | None
        if kind == "float":
            made = {"Add": self.b.fadd, "Sub": self.b.fsub, "Mult": self.b.fmul}.get(name)
        else:
            made = self._whole(name, kind)
        if made is None:
            raise CannotCompileError(f"{name} of {x.kind} and {y.kind}")
        return TypedNumber(kind, made(left, right))

    def _whole(self, name: str, kind: str) -> Callable[[Any, Any], Any] | None:
        b = self.b
        unsigned = kind == "unsigned"
        return {
            "Add": b.add, "Sub": b.sub, "Mult": b.mul, "BitAnd": b.and_, "BitOr": b.or_, "BitXor": b.xor,
            "LShift": b.shl, "RShift": b.lshr if unsigned else b.ashr,
            "FloorDiv": b.udiv if unsigned else self._floor_divide, "Mod": b.urem if unsigned else self._floor_modulo,
        }.get(name)  # fmt: skip

    def _floor_divide(self, x: Any, y: Any) -> Any:
        b = self.b
        if shift := _power_of_two(y):
            return b.ashr(x, llvm.IRConstant(INT, shift[0]))
        return b.add(b.sdiv(x, y), b.sext(self._rounds_down(b.srem(x, y), y), INT))

    def _floor_modulo(self, x: Any, y: Any) -> Any:
        b = self.b
        if _power_of_two(y):
            return b.and_(x, llvm.IRConstant(INT, y.constant - 1))
        left = b.srem(x, y)
        return b.add(left, b.select(self._rounds_down(left, y), y, llvm.IRConstant(INT, 0)))

    def _rounds_down(self, left: Any, y: Any) -> Any:
        """Whether a truncating division must be decremented: Python's rounds down."""
        b, zero = self.b, llvm.IRConstant(INT, 0)
        return b.and_(b.icmp_signed("!=", left, zero), b.icmp_signed("<", b.xor(left, y), zero))

    def compare(self, sign: str, x: TypedNumber, y: TypedNumber) -> TypedNumber:
        kind, left, right = self.to_common_kind(x, y)
        if kind == "float":
            made = self.b.fcmp_unordered if sign == "!=" else self.b.fcmp_ordered
        else:
            made = self.b.icmp_unsigned if kind == "unsigned" else self.b.icmp_signed
        return TypedNumber("truth", made(sign, left, right))

    def extreme(self, sign: str, numbers: Sequence[TypedNumber]) -> TypedNumber:
        """max (">") or min ("<")."""
        best = numbers[0]
        for other in numbers[1:]:
            better = self.compare(sign, other, best).value
            kind, new, old = self.to_common_kind(other, best)
            best = TypedNumber(kind, self.b.select(better, new, old))
        return best

    def negative(self, x: TypedNumber) -> TypedNumber:
        if x.kind == "float":
            return TypedNumber("float", self.b.fneg(x.value))
        return self.binary("Sub", constant(0), x)

    # Arrays

    def place(self, array: TypedArray, index: Sequence[TypedNumber]) -> Any:
        """Address of an element; with fewer indices than axes, of the first element of the rest."""
        at = constant(0)
        for number, extent in zip([*index, *[constant(0)] * (len(array.shape) - len(index))], array.shape, strict=True):
            at = self.binary("Add", self.binary("Mult", at, extent), number)
        return self.b.gep(array.place, [at.value], source_etype=_element(array.dtype))

    def load(self, array: TypedArray, index: Sequence[TypedNumber]) -> TypedNumber:
        dtype = array.dtype
        got = self.b.load(self.place(array, index), typ=_element(dtype))
        if dtype.kind == "f":
            return TypedNumber("float", got)
        if dtype.itemsize == 8:
            return TypedNumber("unsigned" if dtype.kind == "u" else "int", got)
        return TypedNumber("int", self.b.sext(got, INT) if dtype.kind == "i" else self.b.zext(got, INT))

    def store(self, array: TypedArray, index: Sequence[TypedNumber], x: TypedNumber) -> None:
        self.put(array.dtype, self.place(array, index), x)

    def field(self, record: TypedRecord, name: str) -> Any:
        """Address of a field of a record."""
        if name not in record.names:
            raise CannotCompileError(f"a record of {', '.join(record.names)} has no {name}")
        return self.b.gep(record.place, [constant(record.names.index(name)).value], source_etype=FLOAT)

    def put(self, dtype: np.dtype[Any], place: Any, x: TypedNumber) -> None:
        """Store a number at the address of an element."""
        if dtype.kind == "f":
            value = self.to("float", x).value
        else:
            value = self.to("int" if x.kind != "unsigned" else "unsigned", x).value
            value = value if dtype.itemsize == 8 else self.b.trunc(value, _element(dtype))
        self.b.store(value, place)


def _power_of_two(y: Any) -> tuple[int] | None:
    """The exponent, if the number is a constant power of two."""
    number = y.constant if isinstance(y, llvm.IRConstant) else 0
    return (number.bit_length() - 1,) if number > 0 and number & (number - 1) == 0 else None


def _element(dtype: np.dtype[Any]) -> Any:
    if dtype.kind == "f":
        if dtype.itemsize != 8:
            raise CannotCompileError(f"arrays of {dtype}: of floats only those of 64 bits")
        return FLOAT
    return llvm.IntType(8 * dtype.itemsize)

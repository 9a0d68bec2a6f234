"""LLVM values: a type, and the operand text."""

from __future__ import annotations

import struct
from typing import Any

from warplens.llvm.types import ArrayType, DoubleType, FloatType, Type, VectorType

ZEROS = {"ptr": "null", "float": "0.0", "double": "0.0"}


class Value:
    __slots__ = ("text", "type")

    def __init__(self, kind: Type, text: str) -> None:
        self.type = kind
        self.text = text

    def __repr__(self) -> str:
        return f"{self.type} {self.text}"


class _Poison:
    """Poison value."""


POISON = _Poison()


class IRConstant(Value):
    """IR constant: `constant` is a number, None for zero, POISON, or numbers, bytes or constants of an aggregate."""

    __slots__ = ("constant",)

    def __init__(self, kind: Type, constant: Any, text: str | None = None) -> None:
        self.type = kind
        self.constant = constant
        self.text = _spelled(kind, constant) if text is None else text

    def bitcast(self, kind: Type) -> IRConstant:
        if kind is self.type:
            return self
        return IRConstant(kind, self, f"bitcast ({self.type.text} {self.text} to {kind.text})")

    @staticmethod
    def splat(single: IRConstant, kind: Type) -> IRConstant:
        """Splat vector constant, in short form: 32 members cost more to build and parse than to compile."""
        return IRConstant(kind, [single], f"splat ({single.type.text} {single.text})")


def _spelled(kind: Type, constant: Any) -> str:
    if type(constant) is int and kind.text[0] == "i":
        return str(constant) if kind.text != "i1" else "true" if constant & 1 else "false"
    if constant is POISON:
        return "poison"
    if constant is None:
        return ZEROS.get(kind.text, "zeroinitializer" if _many(kind) else "0")
    if isinstance(kind, FloatType | DoubleType):
        if isinstance(kind, FloatType):
            (constant,) = struct.unpack("f", struct.pack("f", constant))
        (bits,) = struct.unpack("<Q", struct.pack("<d", constant))
        return f"0x{bits:016x}"
    if isinstance(constant, bool) or not _many(kind):
        return _spelled(kind, int(constant))
    kinds = [kind.element] * len(constant) if isinstance(kind, VectorType | ArrayType) else kind.elements
    parts = [
        f"{k.text} {c.text if isinstance(c, Value) else _spelled(k, c)}" for k, c in zip(kinds, constant, strict=True)
    ]
    opening = kind.text[0]
    closing = {"<": ">", "[": "]", "{": "}"}[opening]
    return f"{opening}{', '.join(parts)}{closing}"


def _many(kind: Type) -> bool:
    return kind.text[0] in "<[{"


__all__ = ["POISON", "IRConstant", "Value"]

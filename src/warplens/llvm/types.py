"""LLVM types: interned, two of the same text are the same object."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, TypeVar


class Type:
    """LLVM type: `text` is its LLVM syntax.  A vector or array has `element` and `count`, an integer `width`, a
    structure `elements`, a function `return_type` and `args`."""

    known: ClassVar[dict[str, Any]] = {}
    text: str
    width: int
    element: Type
    count: int
    elements: tuple[Type, ...]
    return_type: Type
    args: tuple[Type, ...]

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__

    def __reduce__(self) -> Any:
        raise TypeError("types are known by identity: they cannot be pickled")


T = TypeVar("T", bound="Type")


def _of(kind: type[T], text: str, **fields: Any) -> T:
    found: T | None = Type.known.get(text)
    if found is None:
        found = object.__new__(kind)
        found.text = text
        for name, value in fields.items():
            setattr(found, name, value)
        Type.known[text] = found
    return found


class IntType(Type):
    def __new__(cls, width: int) -> IntType:
        return Type.known.get(f"i{width}") or _of(cls, f"i{width}", width=width)


class FloatType(Type):
    def __new__(cls) -> FloatType:
        return _of(cls, "float")


class DoubleType(Type):
    def __new__(cls) -> DoubleType:
        return _of(cls, "double")


class PointerType(Type):
    def __new__(cls) -> PointerType:
        return _of(cls, "ptr")


class VoidType(Type):
    def __new__(cls) -> VoidType:
        return _of(cls, "void")


class VectorType(Type):
    def __new__(cls, element: Type, count: int) -> VectorType:
        text = f"<{count} x {element.text}>"
        return Type.known.get(text) or _of(cls, text, element=element, count=count)


class ArrayType(Type):
    def __new__(cls, element: Type, count: int) -> ArrayType:
        return _of(cls, f"[{count} x {element.text}]", element=element, count=count)


class LiteralStructType(Type):
    def __new__(cls, elements: Sequence[Type]) -> LiteralStructType:
        return _of(cls, "{" + ", ".join(e.text for e in elements) + "}", elements=tuple(elements))


class FunctionType(Type):
    def __new__(cls, return_type: Type, args: Sequence[Type]) -> FunctionType:
        text = f"{return_type.text} ({', '.join(a.text for a in args)})"
        return _of(cls, text, return_type=return_type, args=tuple(args))

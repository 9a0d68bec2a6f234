"""Vector types: LLVM types of a warp, 32 lanes as one vector; their constants and intrinsics."""

from __future__ import annotations

from collections.abc import Sequence

from warplens import llvm
from warplens.isa.dsl.lanes import Float, Lanes

LANES = 32
I1, I8, I16, I32, I64 = (llvm.IntType(n) for n in (1, 8, 16, 32, 64))
FLOAT, DOUBLE = llvm.FloatType(), llvm.DoubleType()
PTR = llvm.PointerType()
NAN32 = 0x7FFFFFFF  # what every float operation gives for NaN


def scalar_type(kind: type[Lanes]) -> llvm.Type:
    if issubclass(kind, Float):
        return FLOAT if kind.bits == 32 else DOUBLE
    return llvm.IntType(kind.bits)


def vector(element: llvm.Type) -> llvm.VectorType:
    return llvm.VectorType(element, LANES)


def is_vector(value: llvm.Value) -> bool:
    return isinstance(value.type, llvm.VectorType)


def element(kind: llvm.Type) -> llvm.Type:
    return kind.element if isinstance(kind, llvm.VectorType) else kind


def splat(single: llvm.IRConstant) -> llvm.IRConstant:
    return llvm.IRConstant.splat(single, vector(single.type))


def undefined(kind: llvm.Type) -> llvm.IRConstant:
    """Any value of a type."""
    return llvm.IRConstant(kind, llvm.POISON)


FIRST = splat(llvm.IRConstant(I32, 0))  # the shuffle mask that takes lane 0 everywhere


def mangled(kind: llvm.Type) -> str:
    """A type as intrinsic names spell it."""
    if isinstance(kind, llvm.VectorType):
        return f"v{kind.count}{mangled(kind.element)}"
    names = {FLOAT: "f32", DOUBLE: "f64", PTR: "p0"}
    return names.get(kind) or f"i{kind.width}"


def intrinsic(module: llvm.IRModule, name: str, result: llvm.Type, arguments: Sequence[llvm.Type]) -> llvm.Function:
    """Declared by its full name: llvmlite cannot spell those of vector intrinsics."""
    found = module.globals.get(name)
    return found or llvm.Function(module, llvm.FunctionType(result, arguments), name)

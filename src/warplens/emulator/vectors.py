"""LLVM types of a warp: 32 lanes as one vector; constants and intrinsics of them."""

from __future__ import annotations

from collections.abc import Sequence

from warplens.emulator import ir
from warplens.isa._lanes import Float, Lanes

LANES = 32
I1, I8, I16, I32, I64, I128 = (ir.IntType(n) for n in (1, 8, 16, 32, 64, 128))
FLOAT, DOUBLE = ir.FloatType(), ir.DoubleType()
PTR = ir.PointerType()
NAN32 = 0x7FFFFFFF  # what every float operation gives for NaN


def scalar_type(kind: type[Lanes]) -> ir.Type:
    if issubclass(kind, Float):
        return FLOAT if kind.bits == 32 else DOUBLE
    return ir.IntType(kind.bits)


def vector(element: ir.Type) -> ir.VectorType:
    return ir.VectorType(element, LANES)


def is_vector(value: ir.Value) -> bool:
    return isinstance(value.type, ir.VectorType)


def element(kind: ir.Type) -> ir.Type:
    return kind.element if isinstance(kind, ir.VectorType) else kind


def splat(single: ir.Constant) -> ir.Constant:
    return ir.Constant.splat(single, vector(single.type))


def undefined(kind: ir.Type) -> ir.Constant:
    """Any value of a type."""
    return ir.Constant(kind, ir.POISON)


FIRST = splat(ir.Constant(I32, 0))  # the shuffle mask that takes lane 0 everywhere


def mangled(kind: ir.Type) -> str:
    """A type as intrinsic names spell it."""
    if isinstance(kind, ir.VectorType):
        return f"v{kind.count}{mangled(kind.element)}"
    names = {FLOAT: "f32", DOUBLE: "f64", PTR: "p0"}
    return names.get(kind) or f"i{kind.width}"


def intrinsic(module: ir.Module, name: str, result: ir.Type, arguments: Sequence[ir.Type]) -> ir.Function:
    """Declared by its full name: llvmlite cannot spell those of vector intrinsics."""
    found = module.globals.get(name)
    return found or ir.Function(module, ir.FunctionType(result, arguments), name)

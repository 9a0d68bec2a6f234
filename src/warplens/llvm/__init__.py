"""LLVM IR: written directly as text.

llvmlite.ir makes an object for every value, type and operand; here each instruction is a line of text, and emitting a
kernel takes a fifth of the time.  The names are llvmlite's.
"""

from __future__ import annotations

from warplens.llvm.builder import IRBuilder
from warplens.llvm.module import BasicBlock, Function, GlobalVariable, IRModule
from warplens.llvm.types import (
    ArrayType,
    DoubleType,
    FloatType,
    FunctionType,
    IntType,
    LiteralStructType,
    PointerType,
    Type,
    VectorType,
    VoidType,
)
from warplens.llvm.values import POISON, IRConstant, Value

__all__ = [
    "POISON",
    "ArrayType",
    "BasicBlock",
    "DoubleType",
    "FloatType",
    "Function",
    "FunctionType",
    "GlobalVariable",
    "IRBuilder",
    "IRConstant",
    "IRModule",
    "IntType",
    "LiteralStructType",
    "PointerType",
    "Type",
    "Value",
    "VectorType",
    "VoidType",
]  # fmt: skip

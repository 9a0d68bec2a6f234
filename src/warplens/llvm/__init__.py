"""LLVM's assembly, written as text right away.

What llvmlite.ir does with an object for every value, type and operand, a line of text does here: writing a kernel down
takes a fifth of the time.  The words are llvmlite's.
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

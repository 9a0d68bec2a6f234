"""Expression lowering: numbers, array elements, conditions and calls to LLVM IR."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from warplens import llvm
from warplens.simc.branch_hint import unlikely
from warplens.simc.float_bits import bits_float, float_bits
from warplens.simc.typed_values import (
    FLOAT,
    INT,
    TRUTH,
    Arithmetic,
    CannotCompileError,
    TypedArray,
    TypedGroup,
    TypedNumber,
    TypedRecord,
    Value,
    constant,
    typed_value,
    widest_kind,
)

SIGNS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
MATHEMATICS = {
    "ceil": "llvm.ceil.f64", "floor": "llvm.floor.f64", "log": "llvm.log.f64", "sqrt": "llvm.sqrt.f64",
    "trunc": "llvm.trunc.f64",
}  # fmt: skip
SINGLE, WORD = llvm.FloatType(), llvm.IntType(32)
WHOLE = {np.uint8: 8, np.uint16: 16, np.uint32: 32}


class Expressions:
    """Emits expressions into a builder.  from_python.py resolves names and inlines calls."""

    name: Callable[[str], Value]
    inline: Callable[[Callable[..., Any], Sequence[Value]], Value]

    def __init__(self, b: llvm.IRBuilder, python: Callable[[Any], Callable[..., Any] | None]) -> None:
        """`python` returns the Python function of a compiled one."""
        self.b = b
        self.n = Arithmetic(b)
        self.python = python

    def number(self, node: ast.expr) -> TypedNumber:
        value = self.value(node)
        if not isinstance(value, TypedNumber):
            raise CannotCompileError(f"{ast.unparse(node)} is no number")
        return value

    def value(self, node: ast.expr) -> Value:
        known_how = getattr(self, f"_of_{type(node).__name__}", None)
        if known_how is None:
            raise CannotCompileError(ast.unparse(node))
        return known_how(node)

    def truth(self, node: ast.expr) -> Any:
        return self.n.truth(self.number(node)).value

    def _of_Constant(self, node: ast.Constant) -> Value:
        return typed_value(node.value)

    def _of_Name(self, node: ast.Name) -> Value:
        return self.name(node.id)

    def _of_Attribute(self, node: ast.Attribute) -> Value:
        whole = self.value(node.value)
        if isinstance(whole, TypedGroup):
            return whole.items[whole.names.index(node.attr)]
        if isinstance(whole, TypedRecord):
            return TypedNumber("float", self.b.load(self.n.field(whole, node.attr), typ=FLOAT))
        if isinstance(whole, TypedArray):
            if node.attr == "shape":
                return TypedGroup(whole.shape)
            size = constant(1)
            for extent in whole.shape:
                size = self.n.binary("Mult", size, extent)
            return size
        return typed_value(getattr(whole, node.attr))

    def _of_Tuple(self, node: ast.Tuple) -> TypedGroup:
        return TypedGroup(tuple(self.value(e) for e in node.elts))

    def index(self, node: ast.expr) -> list[TypedNumber | None]:
        """Indices of a subscript; None: all of an axis."""
        parts = node.elts if isinstance(node, ast.Tuple) else [node]
        for part in parts:
            if isinstance(part, ast.Slice) and (part.lower or part.upper or part.step):
                raise CannotCompileError(f"{ast.unparse(part)}: a part of an axis; write a loop")
        return [None if isinstance(p, ast.Slice) else self.number(p) for p in parts]

    def _of_Subscript(self, node: ast.Subscript) -> Value:
        whole, index = self.value(node.value), self.index(node.slice)
        if isinstance(whole, TypedGroup):
            return whole.items[ast.literal_eval(node.slice)]
        return self.n.load(whole, [i for i in index if i])

    def _of_BinOp(self, node: ast.BinOp) -> TypedNumber:
        left = self.number(node.left)
        return self.n.binary(type(node.op).__name__, left, self.number(node.right))

    def _of_UnaryOp(self, node: ast.UnaryOp) -> TypedNumber:
        x = self.number(node.operand)
        if isinstance(node.op, ast.Not):
            return TypedNumber("truth", self.b.not_(self.n.truth(x).value))
        if isinstance(node.op, ast.USub):
            return self.n.negative(x)
        raise CannotCompileError(ast.unparse(node))

    def _of_Compare(self, node: ast.Compare) -> TypedNumber:
        left, truths = self.value(node.left), []
        for op, comparator in zip(node.ops, node.comparators, strict=True):
            right = self.value(comparator)
            if isinstance(op, ast.In | ast.NotIn):
                found = [self.n.compare("==", left, item).value for item in right.items]
                inside = reduce(self.b.or_, found)
                truths.append(self.b.not_(inside) if isinstance(op, ast.NotIn) else inside)
            else:
                truths.append(self.n.compare(SIGNS[type(op)], left, right).value)
            left = right
        return TypedNumber("truth", reduce(self.b.and_, truths))

    def _of_BoolOp(self, node: ast.BoolOp) -> TypedNumber:
        """Short-circuit evaluation, as in Python."""
        b, is_and = self.b, isinstance(node.op, ast.And)
        after, ways = b.function.new_block("after"), []
        for part in node.values[:-1]:
            truth = self.truth(part)
            ways.append((llvm.IRConstant(truth.type, int(not is_and)), b.block))
            further = b.append_basic_block("further")
            b.cbranch(truth, *((further, after) if is_and else (after, further)))
            b.position_at_end(further)
        ways.append((self.truth(node.values[-1]), b.block))
        b.branch(after)
        self.open(after)
        return TypedNumber("truth", b.phi(ways))

    def _of_IfExp(self, node: ast.IfExp) -> TypedNumber:
        b = self.b
        yes, no = b.append_basic_block("yes"), b.function.new_block("no")
        b.cbranch(self.truth(node.test), yes, no)
        b.position_at_end(yes)
        one, end_of_yes = self.number(node.body), b.block
        self.open(no)
        other, end_of_no = self.number(node.orelse), b.block
        kind, ways = widest_kind(one.kind, other.kind), []
        after = b.append_basic_block("after")
        for x, end in ((one, end_of_yes), (other, end_of_no)):
            b.position_at_end(end)
            ways.append((self.n.to(kind, x).value, end))
            b.branch(after)
        b.position_at_end(after)
        return TypedNumber(kind, b.phi(ways))

    def open(self, block: llvm.BasicBlock) -> None:
        """Append a block that was created before, and continue in it."""
        self.b.function.blocks.append(block)
        self.b.position_at_end(block)

    # Calls

    def _of_Call(self, node: ast.Call) -> Value:
        function, arguments = self.value(node.func), [self.value(a) for a in node.args]
        if python := self.python(function):
            return self.inline(python, arguments)
        if hasattr(function, "_fields"):
            return TypedGroup(tuple(arguments), function._fields)
        if function in (max, min):
            return self.n.extreme(">" if function is max else "<", arguments)
        if function in (int, np.int64):
            return self.n.to("int", arguments[0])
        if function in (float, np.float64):
            return self.n.to("float", arguments[0])
        if function is np.uint64:
            return self.n.to("unsigned", arguments[0])
        if function in WHOLE:
            bits = constant((1 << WHOLE[function]) - 1)
            return self.n.binary("BitAnd", self.n.to("int", arguments[0]), bits)
        if function is float_bits:
            single = self.b.fptrunc(self.n.to("float", arguments[0]).value, SINGLE)
            return TypedNumber("int", self.b.zext(self.b.bitcast(single, WORD), INT))
        if function is bits_float:
            word = self.b.trunc(self.n.to("int", arguments[0]).value, WORD)
            return TypedNumber("float", self.b.fpext(self.b.bitcast(word, SINGLE), FLOAT))
        if function is unlikely:
            expected = [self.n.truth(arguments[0]).value, llvm.IRConstant(TRUTH, 0)]
            return TypedNumber("truth", self.b.call(self._intrinsic("llvm.expect.i1", TRUTH, 2), expected))
        name = MATHEMATICS.get(getattr(function, "__name__", ""))
        if name is None:
            raise CannotCompileError(ast.unparse(node.func))
        x = self.n.to("float", arguments[0]).value
        return TypedNumber("float", self.b.call(self._intrinsic(name, FLOAT, 1), [x]))

    def _intrinsic(self, name: str, kind: llvm.Type, arguments: int) -> Any:
        module = self.b.module
        return module.globals.get(name) or llvm.Function(module, llvm.FunctionType(kind, [kind] * arguments), name)

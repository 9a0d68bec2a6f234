"""Python front end: a function over numbers and arrays as LLVM IR.

Accepted: assignments (also of tuples, to elements and rows of arrays, and to fields of records), if, while, for over
range() or over a tuple literal, break, continue, return; arithmetic, comparisons, and, or, not, `in` a tuple,
conditional expressions; int, float, max, min, np.ceil, np.log, np.floor and conversions to numpy's integers; calls of
other such functions, which are inlined; named tuples; fields of records (record.py).  A name keeps one kind of number
(typed_values.py): the widest that is assigned to it.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from warplens import llvm
from warplens.simc.expressions import Expressions
from warplens.simc.typed_values import (
    INT,
    KINDS,
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


class WidenedError(Exception):
    """A name needs a wider kind than assumed: the function is emitted again."""


@dataclass(eq=False)
class InlinedCall:
    """A function that is being inlined into another one.

    kinds    of the names that hold numbers, and of the results by number: inferred while emitting
    places   their stack slots;  values: arrays and tuples, which keep their name
    """

    function: Callable[..., Any]
    end: llvm.BasicBlock
    kinds: dict[str, str]
    places: dict[str, Any] = field(default_factory=dict)
    values: dict[str, Value] = field(default_factory=dict)
    returned: TypedGroup | None = None
    loops: list[tuple[llvm.BasicBlock, llvm.BasicBlock]] = field(default_factory=list)  # targets of continue and break


@cache
def _function_tree(function: Callable[..., Any]) -> ast.FunctionDef:
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(tree, ast.FunctionDef)
    return tree


class FromPython(Expressions):
    """Emits functions into the function of a builder."""

    def __init__(self, b: llvm.IRBuilder, python: Callable[[Any], Callable[..., Any] | None]) -> None:
        super().__init__(b, python)
        self.found: dict[Any, dict[str, str]] = {}  # kinds of earlier calls of a function
        self.call: InlinedCall | None = None

    # Functions

    def inline(self, function: Callable[..., Any], arguments: Sequence[Value]) -> Value:
        """Inline a function here; returns its result."""
        b, outside = self.b, self.call
        kinds = self.found.setdefault((function, _signature(arguments)), {})
        tree, start = _function_tree(function), b.append_basic_block("call")
        b.branch(start)
        blocks = len(b.function.blocks)
        while True:
            b.position_at_end(start)
            self.call = here = InlinedCall(function, b.function.new_block("returned"), kinds)
            try:
                for name, value in zip((a.arg for a in tree.args.args), arguments, strict=True):
                    self._bind(name, value)
                self._body(tree.body)
                break
            except WidenedError as widened:
                if widened.args[0] is not here:
                    raise
                del b.function.blocks[blocks:]
                start.lines.clear()
                start.end = None
            finally:
                self.call = outside
        if not b.block.is_terminated:
            b.branch(here.end)
        b.function.blocks.append(here.end)
        b.position_at_end(here.end)
        return None if here.returned is None else self._load_result(here.returned)

    def _load_result(self, places: Value) -> Value:
        if isinstance(places, TypedGroup):
            return TypedGroup(tuple(self._load_result(p) for p in places.items), places.names)
        if isinstance(places, TypedNumber):
            return TypedNumber(places.kind, self.b.load(places.value, typ=KINDS[places.kind]))
        return places

    def _here(self) -> InlinedCall:
        assert self.call is not None
        return self.call

    def _place(self, name: str, kind: str) -> Any:
        """Stack slot of a name, for a number of this kind."""
        here = self._here()
        have = here.kinds.setdefault(name, kind)
        if widest_kind(have, kind) != have:
            here.kinds[name] = widest_kind(have, kind)
            raise WidenedError(here)
        if name not in here.places:
            with self.b.goto_entry_block():
                here.places[name] = self.b.alloca(KINDS[have])
        return here.places[name]

    def _keep(self, name: str, x: TypedNumber) -> TypedNumber:
        """Store a number under a name; returns its kind and its stack slot."""
        place = self._place(name, x.kind)
        kind = self._here().kinds[name]
        self.b.store(self.n.to(kind, x).value, place)
        return TypedNumber(kind, place)

    def _bind(self, name: str, value: Value) -> None:
        if isinstance(value, TypedNumber):
            self._keep(name, value)
        elif name in self._here().places:
            raise CannotCompileError(f"{name} is a number, and something else")
        else:
            self._here().values[name] = value

    def name(self, name: str) -> Value:
        here = self._here()
        if name in here.places:
            kind = here.kinds[name]
            return TypedNumber(kind, self.b.load(here.places[name], typ=KINDS[kind]))
        if name in here.values:
            return here.values[name]
        scope = here.function.__globals__
        if name in scope:
            return typed_value(scope[name])
        if hasattr(builtins, name):
            return getattr(builtins, name)
        raise CannotCompileError(f"{name} has no value")

    # Statements

    def _body(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            if self.b.block.is_terminated:
                return
            write = getattr(self, f"_on_{type(statement).__name__}", self._unknown)
            try:
                write(statement)
            except CannotCompileError as error:
                where = f"{self._here().function.__qualname__}, line {statement.lineno}"
                raise CannotCompileError(f"{where}: {error}") from error

    def _unknown(self, statement: ast.stmt) -> None:
        raise CannotCompileError(ast.unparse(statement))

    def _on_Pass(self, _: ast.Pass) -> None:
        """Nothing."""

    def _on_Expr(self, statement: ast.Expr) -> None:
        if not isinstance(statement.value, ast.Constant):  # a docstring
            self.value(statement.value)

    def _on_Assign(self, statement: ast.Assign) -> None:
        value = self.value(statement.value)
        for target in statement.targets:
            self._assign(target, value)

    def _on_AugAssign(self, statement: ast.AugAssign) -> None:
        old = self.value(statement.target)
        new = self.n.binary(type(statement.op).__name__, old, self.number(statement.value))
        self._assign(statement.target, new)

    def _assign(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            self._bind(target.id, value)
        elif isinstance(target, ast.Tuple):
            for part, item in zip(target.elts, value.items, strict=True):
                self._assign(part, item)
        elif isinstance(target, ast.Attribute):
            record = self.value(target.value)
            if not isinstance(record, TypedRecord):
                raise CannotCompileError(f"an assignment to {ast.unparse(target)}, which is no field of a record")
            self.b.store(self.n.to("float", value).value, self.n.field(record, target.attr))
        elif isinstance(target, ast.Subscript):
            array, index = self.value(target.value), self.index(target.slice)
            if None in index:
                self._fill(array, index, value)
            else:
                self.n.store(array, [i for i in index if i], value)
        else:
            raise CannotCompileError(f"an assignment to {ast.unparse(target)}")

    def _fill(self, array: TypedArray, index: Sequence[TypedNumber | None], value: TypedNumber) -> None:
        """array[i, :] = value, array[:, :] = value."""
        given = [i for i in index if i is not None]
        if any(i is not None for i in index[len(given) :]):
            raise CannotCompileError("a column")
        count = constant(1)
        for extent in array.shape[len(given) :]:
            count = self.n.binary("Mult", count, extent)
        row = TypedArray(self.n.place(array, given), array.dtype, (count,))
        self._loop(constant(0), count, constant(1), lambda i: self.n.store(row, [i], value))

    def _on_If(self, statement: ast.If) -> None:
        b = self.b
        yes, no = b.append_basic_block("yes"), b.function.new_block("no")
        after = b.function.new_block("after") if statement.orelse else no
        b.cbranch(self.truth(statement.test), yes, no)
        for block, body in ((yes, statement.body), (no, statement.orelse)):
            if block is no:
                self.open(no)
            b.position_at_end(block)
            self._body(body)
            if body and not b.block.is_terminated:
                b.branch(after)
        if statement.orelse:
            self.open(after)

    def _on_While(self, statement: ast.While) -> None:
        b = self.b
        test, body = b.append_basic_block("test"), b.append_basic_block("body")
        after = b.function.new_block("after")
        b.branch(test)
        b.position_at_end(test)
        b.cbranch(self.truth(statement.test), body, after)
        b.position_at_end(body)
        self._loop_body(statement.body, test, after)
        if not b.block.is_terminated:
            b.branch(test)
        self.open(after)

    def _loop_body(self, body: Sequence[ast.stmt], again: llvm.BasicBlock, after: llvm.BasicBlock) -> None:
        loops = self._here().loops
        loops.append((again, after))
        self._body(body)
        loops.pop()

    def _on_For(self, statement: ast.For) -> None:
        call = statement.iter
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range":
            bounds = [self.number(a) for a in call.args]
            first = bounds[0] if len(bounds) > 1 else constant(0)
            step = bounds[2] if len(bounds) > 2 else constant(1)
            self._range(statement, first, bounds[min(len(bounds) - 1, 1)], step)
            return
        after = self.b.function.new_block("after")
        for item in self.value(call).items:
            following = self.b.function.new_block("following")
            self._assign(statement.target, item)
            self._loop_body(statement.body, following, after)
            if not self.b.block.is_terminated:
                self.b.branch(following)
            self.open(following)
        self.b.branch(after)
        self.open(after)

    def _range(self, statement: ast.For, first: TypedNumber, last: TypedNumber, step: TypedNumber) -> None:
        def body(i: TypedNumber, again: llvm.BasicBlock, after: llvm.BasicBlock) -> None:
            self._assign(statement.target, i)
            self._loop_body(statement.body, again, after)

        self._loop_range(first, last, step, body)

    def _loop(
        self, first: TypedNumber, last: TypedNumber, step: TypedNumber, body: Callable[[TypedNumber], None]
    ) -> None:
        self._loop_range(first, last, step, lambda i, *_: body(i))

    def _loop_range(
        self,
        first: TypedNumber,
        last: TypedNumber,
        step: TypedNumber,
        body: Callable[[TypedNumber, llvm.BasicBlock, llvm.BasicBlock], None],
    ) -> None:
        b = self.b
        with b.goto_entry_block():
            counter = b.alloca(INT)
        b.store(first.value, counter)
        test, inside = b.append_basic_block("test"), b.append_basic_block("inside")
        again, after = b.function.new_block("again"), b.function.new_block("after")
        b.branch(test)
        b.position_at_end(test)
        i = TypedNumber("int", b.load(counter, typ=INT))
        b.cbranch(self.n.compare("<", i, last).value, inside, after)
        b.position_at_end(inside)
        body(i, again, after)
        if not b.block.is_terminated:
            b.branch(again)
        self.open(again)
        b.store(b.add(b.load(counter, typ=INT), step.value), counter)
        b.branch(test)
        self.open(after)

    def _on_Break(self, _: ast.Break) -> None:
        self.b.branch(self._here().loops[-1][1])

    def _on_Continue(self, _: ast.Continue) -> None:
        self.b.branch(self._here().loops[-1][0])

    def _on_Return(self, statement: ast.Return) -> None:
        here = self._here()
        if statement.value is not None:
            here.returned = self._store_result(self.value(statement.value), "return")
        self.b.branch(here.end)

    def _store_result(self, value: Value, name: str) -> Value:
        if isinstance(value, TypedGroup):
            return TypedGroup(
                tuple(self._store_result(v, f"{name}.{i}") for i, v in enumerate(value.items)), value.names
            )
        return self._keep(name, value) if isinstance(value, TypedNumber) else value


def _signature(arguments: Sequence[Value]) -> tuple[Any, ...]:
    return tuple(
        _signature(a.items) if isinstance(a, TypedGroup)
        else a.kind if isinstance(a, TypedNumber)
        else a.dtype.str if isinstance(a, TypedArray)
        else a.names if isinstance(a, TypedRecord) else ""
        for a in arguments
    )  # fmt: skip

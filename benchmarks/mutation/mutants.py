"""Mutants: every small fault that this tool can plant in src, in a fixed order.

A mutant is named by its function, the text of its line and the change, so that it keeps its name when a module moves.
What is left out, and why, stands in README.md.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "in": "not in", "not in": "in",
               "is": "is not", "is not": "is"}  # fmt: skip
ARITHMETIC = {ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "+"), ast.Div: ("/", "*"),
              ast.FloorDiv: ("//", "*"), ast.Mod: ("%", "*"), ast.LShift: ("<<", ">>"), ast.RShift: (">>", "<<"),
              ast.BitAnd: ("&", "|"), ast.BitOr: ("|", "&"), ast.BitXor: ("^", "|"), ast.Pow: ("**", "*")}  # fmt: skip
LABELS = {"exact": "modelled", "modelled": "exact", "measured": "assumed", "sampled": "exact", "assumed": "measured"}
TEXTS = (ast.JoinedStr, ast.FormattedValue)
WHOLE = (ast.Expr, ast.Assign, ast.Return, ast.FunctionDef)  # covered by any of their lines
UNSEEN = ("__repr__", "__str__", "__format__")
MODULE = "(module)"


@dataclass(frozen=True, order=True)
class Mutant:
    """One change: bytes `begin` to `end` of a file become `text`.

    number    which one it is of those with the same function, line and change
    lines     first and last line of the statement it stands in
    names     what a statement outside of functions assigns to
    """

    function: str
    line: str
    change: str
    number: int
    path: Path
    begin: int
    end: int
    text: str
    lines: tuple[int, int]
    names: tuple[str, ...] = ()

    @property
    def name(self) -> tuple[str, str, str, int]:
        return self.function, self.line, self.change, self.number


def all_mutants(sources: Path) -> list[Mutant]:
    """Of each Python file below the folder, sorted by name: moved files leave the order as it is."""
    found: list[Mutant] = []
    for path in sorted(sources.rglob("*.py"), key=lambda path: (path.stem, str(path))):
        found += _Finder(path).mutants()
    seen: Counter[tuple[str, str, str]] = Counter()
    numbered = []
    for mutant in found:
        key = (mutant.function, mutant.line, mutant.change)
        numbered.append(Mutant(*key, seen[key], *_rest(mutant)))
        seen[key] += 1
    return sorted(numbered)


def _rest(mutant: Mutant) -> tuple[Path, int, int, str, tuple[int, int], tuple[str, ...]]:
    return mutant.path, mutant.begin, mutant.end, mutant.text, mutant.lines, mutant.names


class _Finder:
    """Mutants of one file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.source = path.read_bytes()
        self.lines = self.source.split(b"\n")
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line) + 1)
        self.function: list[str] = []
        self.statement: ast.stmt | None = None

    def mutants(self) -> Iterator[Mutant]:
        yield from self.body(ast.parse(self.source).body)

    def body(self, statements: list[ast.stmt]) -> Iterator[Mutant]:
        for statement in statements:
            outer, self.statement = self.statement, statement
            yield from self.of_statement(statement)
            self.statement = outer

    def of_statement(self, node: ast.stmt) -> Iterator[Mutant]:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from self.definition(node)
        elif isinstance(node, ast.Import | ast.ImportFrom | ast.Assert) or _is_docstring(node) or _is_for_types(node):
            return
        elif isinstance(node, ast.Raise):
            yield self.mutant(node, "pass", "raise removed")
        else:
            if isinstance(node, ast.AugAssign) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
                yield self.mutant(node, "pass", "statement removed")
            elif isinstance(node, ast.Continue):
                yield self.mutant(node, "pass", "continue removed")
            elif isinstance(node, ast.Return) and node.value is not None and not _is_none(node.value):
                yield self.mutant(node.value, "None", "returns None")
            if isinstance(node, ast.If) and not isinstance(node.test, ast.Compare | ast.UnaryOp | ast.BoolOp):
                yield self.mutant(node.test, f"(not ({self.text(node.test)}))", "condition negated")
            if isinstance(node, ast.AugAssign) and type(node.op) in ARITHMETIC:
                sign, other = ARITHMETIC[type(node.op)]
                yield from self.between(node.target, node.value, sign + "=", other + "=")
            for field, value in ast.iter_fields(node):
                if field == "annotation":
                    continue
                if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                    yield from self.body(value)
                else:
                    yield from self.of_each(value)

    def definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> Iterator[Mutant]:
        if node.name in UNSEEN:
            return
        for decorator in node.decorator_list:
            if "dataclass" not in self.text(decorator):
                yield from self.expression(decorator)
        self.function.append(node.name)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from self.of_each([*node.args.defaults, *node.args.kw_defaults])
        yield from self.body(node.body)
        self.function.pop()

    def of_each(self, value: object) -> Iterator[Mutant]:
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, ast.AST):
                yield from self.expression(item)

    def expression(self, node: ast.AST) -> Iterator[Mutant]:
        """Of an expression and all within it."""
        if isinstance(node, ast.stmt):  # of a handler or a case
            yield from self.body([node])
            return
        if isinstance(node, TEXTS):
            return
        if isinstance(node, ast.Compare):
            before = node.left
            for operator, after in zip(node.ops, node.comparators, strict=True):
                sign = _SIGNS[type(operator)]
                yield from self.between(before, after, sign, COMPARISONS[sign])
                before = after
        elif isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC and not _is_text(node):
            yield from self.between(node.left, node.right, *ARITHMETIC[type(node.op)])
        elif isinstance(node, ast.BoolOp):
            sign, other = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
            yield from self.between(node.values[0], node.values[1], sign, other)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
            yield self.mutant(node, f"({self.text(node.operand)})", f"{self.text(node)[:3].strip('(')} removed")
        elif isinstance(node, ast.IfExp) and not isinstance(node.test, ast.Compare | ast.UnaryOp | ast.BoolOp):
            yield self.mutant(node.test, f"(not ({self.text(node.test)}))", "condition negated")
        elif isinstance(node, ast.Constant):
            other_value = _other(node.value)
            if other_value is not None:
                yield self.mutant(node, repr(other_value), f"{self.text(node)} to {other_value!r}")
        for field, value in ast.iter_fields(node):
            if field not in ("annotation", "returns"):
                yield from self.of_each(value)

    def between(self, left: ast.expr, right: ast.expr, sign: str, other: str) -> Iterator[Mutant]:
        """A sign between two expressions becomes another."""
        begin, end = self.span(left)[1], self.span(right)[0]
        word = r"(?<!\w){}(?!\w)" if sign[0].isalpha() else "{}"
        found = re.search(word.format(re.escape(sign).replace(r"\ ", r"\s+")), self.source[begin:end].decode())
        if found:
            at = begin + len(self.source[begin:end].decode()[: found.start()].encode())
            yield self.of_span(at, at + len(found.group().encode()), other, f"{sign} to {other}")

    def mutant(self, node: ast.expr | ast.stmt, text: str, change: str) -> Mutant:
        return self.of_span(*self.span(node), text, change)

    def of_span(self, begin: int, end: int, text: str, change: str) -> Mutant:
        row = bisect_right(self.starts, begin) - 1
        line = " ".join(self.lines[row].decode().split())
        statement = self.statement
        assert statement is not None
        last = statement.end_lineno if isinstance(statement, WHOLE) else row + 1
        names = () if self.function and self.function[-1][0].islower() else tuple(_assigned(statement))
        where = ".".join(self.function) or MODULE
        return Mutant(where, line, change, 0, self.path, begin, end, text, (row + 1, last or row + 1), names)

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.starts[node.lineno - 1] + node.col_offset, self.starts[node.end_lineno - 1] + node.end_col_offset

    def text(self, node: ast.expr) -> str:
        begin, end = self.span(node)
        return self.source[begin:end].decode()


_SIGNS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=", ast.In: "in",
          ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not"}  # fmt: skip


def _other(value: object) -> object:
    """What a constant becomes, or None."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return value * 0.8 if value else 1.0
    return LABELS.get(value) if isinstance(value, str) else None


def _assigned(statement: ast.stmt) -> Iterator[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    for target in targets:
        if target is not None:
            yield from (node.id for node in ast.walk(target) if isinstance(node, ast.Name))


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_text(node: ast.BinOp) -> bool:
    return any(
        isinstance(side, ast.JoinedStr) or (isinstance(side, ast.Constant) and isinstance(side.value, str))
        for side in (node.left, node.right)
    )


def _is_for_types(node: ast.stmt) -> bool:
    """`if TYPE_CHECKING`, `if __name__ == "__main__"`, aliases of types."""
    if isinstance(node, ast.If):
        return any(
            isinstance(part, ast.Name) and part.id in ("TYPE_CHECKING", "__name__") for part in ast.walk(node.test)
        )
    if isinstance(node, ast.AnnAssign):
        return "TypeAlias" in ast.dump(node.annotation)
    return isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript) and "Literal" in ast.dump(node.value)

"""A program that fails -> a smaller one that still fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar, get_args

from random_programs.tree import Const, Expr, Program, Stmt

Node = TypeVar("Node")


def shrink(program: Program, fails: Callable[[Program], bool]) -> Program:
    """Cuts as long as something can be cut.  `fails` is False for what does not compile, such as a use of a variable
    whose declaration is gone."""
    while (smaller := next((p for p in cuts(program) if fails(p)), None)) is not None:
        program = smaller
    return program


def cuts(node: Node) -> Iterator[Node]:
    """The node with one thing less: a statement, or an expression that becomes one of its parts or 1."""
    if isinstance(node, tuple):
        for place, part in enumerate(node):
            if isinstance(part, get_args(Stmt)):
                yield node[:place] + node[place + 1 :]  # type: ignore[misc]
        for place, part in enumerate(node):
            for less in cuts(part):
                yield (*node[:place], less, *node[place + 1 :])  # type: ignore[misc]
    elif is_dataclass(node):
        if isinstance(node, get_args(Expr)) and not isinstance(node, Const):
            yield from simpler(node)  # type: ignore[misc]
        for field in fields(node):
            if field.name == "parameters":  # whoever calls the function gives them
                continue
            for less in cuts(getattr(node, field.name)):
                yield replace(node, **{field.name: less})  # type: ignore[type-var]


def simpler(expression: Any) -> Iterator[Any]:
    for field in fields(expression):
        part = getattr(expression, field.name)
        for inner in part if isinstance(part, tuple) else (part,):
            if isinstance(inner, get_args(Expr)) and inner.type == expression.type:
                yield inner
    yield Const(expression.type, 1)

"""Macro: a #define of the file, which may hide a kernel, a loop or a brace from the parser."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from tree_sitter import Node

DEFINITIONS = ("preproc_def", "preproc_function_def")
LOOP = re.compile(r"\bfor\b|\bwhile\s*\((?!\s*0\s*\))")  # but for do { ... } while (0), which runs once


@dataclass(frozen=True, slots=True)
class Macro:
    """text: what it stands for;  line: of its definition, from 1"""

    name: str
    text: str
    line: int

    @property
    def is_loop(self) -> bool:
        return bool(LOOP.search(self.text))

    @property
    def is_structure(self) -> bool:
        """Whether it is more than an expression."""
        return self.is_loop or bool({"{", "}", ";"} & set(self.text))


def macros(nodes: Iterable[Node]) -> dict[str, Macro]:
    """Those that these nodes of a syntax tree define, by name; of several definitions the last."""
    found = {}
    for node in nodes:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if node.type in DEFINITIONS and name is not None and value is not None:
            found[_text(name)] = Macro(_text(name), _text(value), node.start_point[0] + 1)
    return found


def _text(node: Node) -> str:
    return (node.text or b"").decode()

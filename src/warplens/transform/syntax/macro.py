"""Macro: a #define of the file, which may hide a kernel, a loop or a brace from the parser."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tree_sitter import Node

DEFINITIONS = ("preproc_def", "preproc_function_def")
LOOP = re.compile(r"\bfor\b|\bwhile\s*\((?!\s*0\s*\))")  # but for do { ... } while (0), which runs once

WORD = re.compile(r"\b[A-Za-z_]\w*\b")


@dataclass(frozen=True, slots=True)
class Macro:
    """text: what it stands for;  line: of its definition, from 1;  parameters: () if it has none"""

    name: str
    text: str
    line: int
    parameters: tuple[str, ...] = ()

    @property
    def is_loop(self) -> bool:
        return bool(LOOP.search(self.text))

    @property
    def is_structure(self) -> bool:
        """Whether it is more than an expression."""
        return self.is_loop or bool({"{", "}", ";"} & set(self.text))

    def expanded(self, arguments: Sequence[str]) -> str:
        """What stands in its place with these arguments, in one line."""
        given = dict(zip(self.parameters, arguments, strict=False))
        return " ".join(WORD.sub(lambda word: given.get(word[0], word[0]), self.text.replace("\\\n", " ")).split())


def macros(nodes: Iterable[Node]) -> dict[str, Macro]:
    """Those that these nodes of a syntax tree define, by name; of several definitions the last."""
    found = {}
    for node in nodes:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if node.type in DEFINITIONS and name is not None and value is not None:
            listed = node.child_by_field_name("parameters")
            named = tuple(_text(one) for one in listed.named_children) if listed is not None else ()
            found[_text(name)] = Macro(_text(name), _text(value), node.start_point[0] + 1, named)
    return found


def _text(node: Node) -> str:
    return (node.text or b"").decode()

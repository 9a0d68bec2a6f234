"""Kernel source: the syntax tree of one kernel in a CUDA source file (tree-sitter's CUDA grammar)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import tree_sitter_cuda
from tree_sitter import Language, Node, Parser

from warplens.errors import UsageError

CUDA = Language(tree_sitter_cuda.language())
ELEMENT_BYTES = {
    "char": 1, "signed char": 1, "unsigned char": 1, "bool": 1, "int8_t": 1, "uint8_t": 1, "short": 2,
    "unsigned short": 2, "int16_t": 2, "uint16_t": 2, "half": 2, "__half": 2, "__nv_bfloat16": 2, "int": 4,
    "unsigned": 4, "unsigned int": 4, "float": 4, "int32_t": 4, "uint32_t": 4, "long long": 8, "double": 8,
    "unsigned long long": 8, "int64_t": 8, "uint64_t": 8, "size_t": 8,
}  # fmt: skip


@dataclass(frozen=True)
class LaunchFacts:
    """How a kernel is launched, and what was found in it.

    numbers   of its arguments, by parameter
    sizes     bytes of its arrays, by parameter;  overlapping: whether two parameters are in the same memory
    faults    rules that found something;  lines: source lines of those findings
    warps     that an SM of the GPU can hold;  multiprocessors: of the GPU
    resident  blocks that an SM holds of this launch
    """

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int = 0
    numbers: Mapping[str, int | float] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)
    overlapping: bool = False
    faults: frozenset[str] = frozenset()
    lines: frozenset[int] = frozenset()
    warps: int = 64
    multiprocessors: int = 132
    resident: int = 8

    @property
    def threads(self) -> int:
        """Threads of a block."""
        x, y, z = self.block
        return x * y * z


@dataclass(frozen=True, slots=True)
class Parameter:
    """Parameter of a kernel: name, element type without const and *, whether it is a pointer, and its node."""

    name: str
    type: str
    pointer: bool
    constant: bool
    restricted: bool
    node: Node


class KernelSource:
    """The definition of one kernel.

    text   of the whole file;  function, body: nodes of the definition and of its block
    UsageError if the file cannot be parsed there, or has no such kernel, or several.
    """

    def __init__(self, text: str, name: str) -> None:
        self.text, self.data = text, text.encode()
        self.name = name.partition("<")[0].rpartition("::")[2]
        self.root = Parser(CUDA).parse(self.data).root_node
        found = [node for node in walk(self.root) if node.type == "function_definition" and self._is_kernel(node)]
        if len(found) != 1:
            many = "no definition" if not found else f"{len(found)} definitions"
            raise UsageError(f"the source has {many} of a kernel {self.name}: it may be made by a macro")
        (self.function,) = found
        if self.function.has_error:
            raise UsageError(f"the definition of {self.name} cannot be parsed: macros may hide its structure")
        body = self.function.child_by_field_name("body")
        assert body is not None
        self.body = body

    def _is_kernel(self, node: Node) -> bool:
        declarator = self.declarator(node)
        called = declarator and declarator.child_by_field_name("declarator")
        return called is not None and self[called] == self.name and "__global__" in self[node].split("(")[0]

    @staticmethod
    def declarator(function: Node) -> Node | None:
        """The function_declarator of a definition."""
        node = function.child_by_field_name("declarator")
        while node is not None and node.type != "function_declarator":
            node = node.child_by_field_name("declarator")
        return node

    def __getitem__(self, node: Node) -> str:
        """Its text."""
        return self.data[node.start_byte : node.end_byte].decode()

    def line(self, node: Node) -> int:
        """The line in which it begins, from 1."""
        return node.start_point[0] + 1

    def indent(self, node: Node) -> str:
        """The blanks in front of its line."""
        start = self.data.rfind(b"\n", 0, node.start_byte) + 1
        line = self.data[start : node.start_byte].decode()
        return line[: len(line) - len(line.lstrip())]

    @cached_property
    def step(self) -> str:
        """One step of indentation in this file."""
        inner = next((child for child in self.body.named_children if child.type != "comment"), None)
        blanks = self.indent(inner) if inner else ""
        return blanks.removeprefix(self.indent(self.function)) or "  "

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        declarator = self.declarator(self.function)
        listed = declarator.child_by_field_name("parameters") if declarator else None
        return tuple(
            self._parameter(node) for node in (listed.named_children if listed else ())
            if node.type == "parameter_declaration"
        )  # fmt: skip

    def _parameter(self, node: Node) -> Parameter:
        text, named = self[node], node.child_by_field_name("declarator")
        leaf = next((part for part in walk(named) if part.type == "identifier"), None) if named else None
        pointer = named is not None and named.type in ("pointer_declarator", "array_declarator")
        before = text[: named.start_byte - node.start_byte] if named else text
        words = [word for word in before.replace("__restrict__", " ").split() if word not in ("const", "volatile")]
        return Parameter(
            self[leaf] if leaf else "", " ".join(words), pointer, "const" in before.split(),
            "restrict" in text, node,
        )  # fmt: skip

    def find(self, *types: str, within: Node | None = None) -> Iterator[Node]:
        """Nodes of these types in the body (or another node), from the top."""
        return (node for node in walk(within or self.body) if node.type in types)

    def uses(self, name: str, within: Node | None = None) -> list[Node]:
        """Identifiers of this name in the body."""
        return [node for node in self.find("identifier", within=within) if self[node] == name]

    def constant(self, node: Node) -> int | None:
        """The value of a whole-number literal, None for anything else."""
        if node.type != "number_literal":
            return None
        try:
            return int(self[node].rstrip("uUlL"), 0)
        except ValueError:
            return None

    def replaced(self, node: Node, swap: Callable[[Node], str | None]) -> str:
        """Its text, with what `swap` gives in place of each node for which it gives something."""
        found = swap(node)
        if found is not None:
            return found
        if not node.children:
            return self[node]
        parts, at = [], node.start_byte
        for child in node.children:
            parts += [self.data[at : child.start_byte].decode(), self.replaced(child, swap)]
            at = child.end_byte
        return "".join([*parts, self.data[at : node.end_byte].decode()])


def walk(node: Node | None) -> Iterator[Node]:
    """A node and all below it, parents first."""
    if node is not None:
        yield node
        for child in node.children:
            yield from walk(child)

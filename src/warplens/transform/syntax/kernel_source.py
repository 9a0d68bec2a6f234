"""Kernel source: the syntax tree of one kernel in a CUDA source file (tree-sitter's CUDA grammar)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import tree_sitter_cuda
from tree_sitter import Language, Node, Parser

from warplens.errors import UsageError
from warplens.transform.syntax.macro import Macro, macros

CUDA = Language(tree_sitter_cuda.language())
ELEMENT_BYTES = {
    "char": 1, "signed char": 1, "unsigned char": 1, "bool": 1, "int8_t": 1, "uint8_t": 1, "short": 2,
    "unsigned short": 2, "int16_t": 2, "uint16_t": 2, "half": 2, "__half": 2, "__nv_bfloat16": 2, "int": 4,
    "unsigned": 4, "unsigned int": 4, "float": 4, "int32_t": 4, "uint32_t": 4, "long long": 8, "double": 8,
    "unsigned long long": 8, "int64_t": 8, "uint64_t": 8, "size_t": 8, "short int": 2, "unsigned short int": 2,
    "signed int": 4, "long": 8, "long int": 8, "unsigned long": 8, "unsigned long int": 8, "long long int": 8,
    "unsigned long long int": 8,
}  # fmt: skip
FLOATS = ("half", "__half", "__nv_bfloat16", "float", "double")
INTEGERS = ELEMENT_BYTES.keys() - set(FLOATS)

CONDITIONAL = frozenset({
    "if_statement", "conditional_expression", "for_statement", "while_statement", "do_statement", "switch_statement",
})  # fmt: skip


@dataclass(frozen=True)
class LaunchFacts:
    """How a kernel is launched, and what was found in it.

    numbers   of its arguments, by parameter
    sizes     bytes of its arrays, by parameter;  overlapping: whether two parameters are in the same memory
    faults    rules that found something
    warps     that an SM of the GPU can hold;  multiprocessors: of the GPU
    resident  blocks that an SM holds of this launch
    lines     share of all executed warp instructions by source line, {} where it is not known
    """

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int = 0
    numbers: Mapping[str, int | float] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)
    overlapping: bool = False
    faults: frozenset[str] = frozenset()
    warps: int = 64
    multiprocessors: int = 132
    resident: int = 8
    lines: Mapping[int, float] = field(default_factory=dict)

    @property
    def threads(self) -> int:
        """Threads of a block."""
        x, y, z = self.block
        return x * y * z


@dataclass(frozen=True, slots=True)
class KernelParameter:
    """KernelParameter of a kernel: name, element type without const and *, whether it is a pointer, and its node."""

    name: str
    type: str
    pointer: bool
    constant: bool
    restricted: bool
    node: Node


class KernelSource:
    """The definition of one kernel.

    text   of the whole file;  function, body: nodes of the definition and of its block
    name   without template arguments and namespaces, full_name: with them
    arguments   of the template in the launch, [""] if none
    UsageError if the file cannot be parsed there, or has no such kernel, or several.
    """

    def __init__(self, text: str, name: str) -> None:
        self.text, self.data = text, text.encode()
        self.full_name = name
        self.name, _, arguments = name.partition("<")
        self.name = self.name.rpartition("::")[2]
        self.arguments = [argument.strip() for argument in arguments.rstrip("> ").split(",")]
        self.root = Parser(CUDA).parse(self.data).root_node
        found = [node for node in walk(self.root) if node.type == "function_definition" and self._is_kernel(node)]
        if not found:
            raise UsageError(f"the source has no definition of a kernel {self.name}: {self._where_it_may_be()}")
        if len(found) > 1:
            lines = " and ".join(str(self.line(node)) for node in found)
            raise UsageError(f"the source has {len(found)} definitions of a kernel {self.name}, in lines {lines}")
        (self.function,) = found
        if self.function.has_error:
            line, cause = self._first_error()
            raise UsageError(f"the definition of {self.name} cannot be parsed in line {line}: {cause}")
        body = self.function.child_by_field_name("body")
        assert body is not None
        self.body = body

    @cached_property
    def macros(self) -> dict[str, Macro]:
        """Of the file, by name."""
        return macros(walk(self.root))

    def _where_it_may_be(self) -> str:
        making = next((macro for macro in self.macros.values() if "__global__" in macro.text), None)
        if making is not None:
            return f"the macro {making.name} in line {making.line} makes kernels"
        return "it may be made by a macro, or be in a file that is included"

    def _first_error(self) -> tuple[int, str]:
        """Line in which parsing of the definition fails first, and the macros that may hide its structure."""
        broken = next((node for node in walk(self.function) if node.is_error or node.is_missing), self.function)
        hiding = [macro.name for macro, _ in self.used_macros if macro.is_structure]
        cause = f"{' and '.join(hiding)}, which #define makes, may hide its structure" if hiding else ""
        return self.line(broken), cause or "macros may hide its structure"

    @property
    def used_macros(self) -> list[tuple[Macro, int]]:
        """Macros of the file that stand in the definition, each with the line where it does first."""
        found: dict[str, int] = {}
        for node in walk(self.function):
            if node.type in ("identifier", "type_identifier") and self[node] in self.macros:
                found.setdefault(self[node], self.line(node))
        return [(self.macros[name], line) for name, line in found.items()]

    def _is_kernel(self, node: Node) -> bool:
        declarator = self.declarator(node)
        called = declarator and declarator.child_by_field_name("declarator")
        if called is None or self[called] != self.name:
            return False
        return "__global__" in self.data[node.start_byte : called.start_byte].decode().split()

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

    def line_start(self, node: Node) -> int:
        """The byte at which its line begins."""
        return self.data.rfind(b"\n", 0, node.start_byte) + 1

    def begins_line(self, node: Node) -> bool:
        """Whether only blanks stand before it in its line."""
        return not self.data[self.line_start(node) : node.start_byte].strip()

    def whole_line(self, node: Node) -> tuple[int, int]:
        """From where to where a statement is removed: its line, and at the top of a block the blank one behind it."""
        start, end = self.line_start(node), node.end_byte
        if not self.begins_line(node) or self.data[end : end + 1] != b"\n":
            return node.start_byte, end
        on_top = self.data[: max(start - 1, 0)].rstrip(b" \t").endswith(b"{")
        blank = self.data[end + 1 : end + 2] == b"\n"
        return start, end + 2 if on_top and blank else end + 1

    def indent(self, node: Node) -> str:
        """The blanks in front of its line."""
        line = self.data[self.line_start(node) : node.start_byte].decode()
        return line[: len(line) - len(line.lstrip())]

    @cached_property
    def step(self) -> str:
        """One step of indentation in this file."""
        inner = next((child for child in self.body.named_children if child.type != "comment"), None)
        blanks = self.indent(inner) if inner else ""
        return blanks.removeprefix(self.indent(self.function)) or "  "

    @cached_property
    def parameters(self) -> tuple[KernelParameter, ...]:
        declarator = self.declarator(self.function)
        listed = declarator.child_by_field_name("parameters") if declarator else None
        return tuple(
            self._parameter(node) for node in (listed.named_children if listed else ())
            if node.type == "parameter_declaration"
        )  # fmt: skip

    def _parameter(self, node: Node) -> KernelParameter:
        text, named = self[node], node.child_by_field_name("declarator")
        leaf = next((part for part in walk(named) if part.type == "identifier"), None) if named else None
        pointer = named is not None and named.type in ("pointer_declarator", "array_declarator")
        before = text[: named.start_byte - node.start_byte] if named else text
        words = [word for word in before.replace("__restrict__", " ").split() if word not in ("const", "volatile")]
        return KernelParameter(
            self[leaf] if leaf else "", " ".join(words), pointer, "const" in before.split(),
            "restrict" in text, node,
        )  # fmt: skip

    @cached_property
    def type_parameters(self) -> dict[str, str]:
        """Type parameters of its template, each with the type of the launch, "" where that is not known."""
        template = self.function.parent
        listed = template.child_by_field_name("parameters") if template else None
        names = [self[node].split()[-1] for node in (listed.named_children if listed else ())]
        given = dict(zip(names, [*self.arguments, *[""] * len(names)], strict=False))
        kinds = listed.named_children if listed else ()
        return {name: given[name] for name, node in zip(names, kinds, strict=True) if "type_parameter" in node.type}

    def element_bytes(self, element: str) -> int | None:
        """Size of an element type; None where it is not known."""
        return ELEMENT_BYTES.get(self.plain_type(element))

    def plain_type(self, element: str) -> str:
        """The type that a parameter of the template, or a typedef, using or #define of the file stands for."""
        plain = self.type_parameters.get(element, element)
        return self.aliases.get(plain, plain)

    @cached_property
    def aliases(self) -> dict[str, str]:
        """Plain types by the other names that the file gives them."""
        found = {name: macro.text.strip() for name, macro in self.macros.items() if macro.text.strip() in ELEMENT_BYTES}
        for node in walk(self.root):
            if node.type in ("type_definition", "alias_declaration"):
                named = node.child_by_field_name("declarator" if node.type == "type_definition" else "name")
                kind = node.child_by_field_name("type")
                if named is not None and kind is not None and named.type == "type_identifier":
                    found[self[named]] = self[kind]
        return found

    def fresh(self, *names: str) -> str:
        """The first of the names that the file does not have, else the first one with a number behind it."""
        taken = {self[node] for node in walk(self.root) if node.type in ("identifier", "type_identifier")}
        return next(new for new in (*names, *(f"{names[0]}_{k}" for k in range(2, 99))) if new not in taken)

    @cached_property
    def above(self) -> int:
        """Where a helper for this kernel may stand: before its definition and the comment on top of it, but behind the
        launch block of the file."""
        node = self.function
        while (up := node.parent) is not None and up.type != "translation_unit" and not up.type.startswith("preproc"):
            if up.type == "declaration_list" and up.parent is not None and up.parent.type == "namespace_definition":
                break
            node = up
        while (before := node.prev_sibling) is not None and before.type == "comment":
            if before.end_point[0] + 1 < node.start_point[0] or not self.begins_line(before):
                break
            if self[before].replace(" ", "").rstrip() == "/////":  # its last line
                break
            node = before
        return node.start_byte

    def find(self, *types: str, within: Node | None = None) -> Iterator[Node]:
        """Nodes of these types in the body (or another node), from the top."""
        return (node for node in walk(within or self.body) if node.type in types)

    def uses(self, name: str, within: Node | None = None) -> list[Node]:
        """Identifiers of this name in the body, or in a part of it."""
        first, last = (within or self.body).byte_range
        return [node for node in self._identifiers.get(name, ()) if first <= node.start_byte < last]

    @cached_property
    def _identifiers(self) -> dict[str, list[Node]]:
        found: dict[str, list[Node]] = {}
        for node in self.find("identifier"):
            found.setdefault(self[node], []).append(node)
        return found

    def calls(self, *names: str, within: Node | None = None) -> list[Node]:
        """Calls of these functions."""
        return [node for node in self.find("call_expression", within=within) if self.called(node) in names]

    def called(self, call: Node) -> str:
        """The name of the function that is called."""
        function = call.child_by_field_name("function")
        return self[function] if function else ""

    def written(self, name: str, within: Node | None = None) -> list[Node]:
        """Where a variable may be changed after its declaration."""
        return [node for node in self.uses(name, within) if self._is_written(node)]

    def _is_written(self, node: Node) -> bool:
        up = node.parent
        if up is None:
            return False
        if up.type == "assignment_expression":
            return up.child_by_field_name("left") == node
        if up.type == "argument_list" and up.parent is not None:  # it may be taken by reference
            return self.called(up.parent) in self._taking_references
        return up.type == "update_expression" or (up.type == "pointer_expression" and self[up].startswith("&"))

    @cached_property
    def functions(self) -> dict[str, Node]:
        """The functions that are defined in this file."""
        found = [node for node in walk(self.root) if node.type == "function_definition"]
        return {self[head].partition("(")[0].strip(): node for node in found if (head := self.declarator(node))}

    @cached_property
    def _taking_references(self) -> set[str]:
        """Functions of this file with a parameter that is a reference."""
        heads = {name: self.declarator(node) for name, node in self.functions.items()}
        return {name for name, head in heads.items() if head and "&" in self[head].partition("(")[2]}

    @cached_property
    def float_sums(self) -> frozenset[str]:
        """Arrays to which atomics add floats, so that the order of threads shows in them."""
        floats = {parameter.name for parameter in self.parameters if parameter.type not in INTEGERS}
        calls = [call for call in self.find("call_expression") if self.called(call).startswith("atomic")]
        return frozenset(name for call in calls for name in self.reached(call) & floats)

    @property
    def adds_floats(self) -> bool:
        return bool(self.float_sums)

    def declarators(self, name: str) -> list[Node]:
        """The declarators of a local variable, with the values they begin with."""
        return self._declarators.get(name, [])

    @cached_property
    def _declarators(self) -> dict[str, list[Node]]:
        found: dict[str, list[Node]] = {}
        for declaration in self.find("declaration"):
            for node in declaration.children_by_field_name("declarator"):
                found.setdefault(self[_leaf(node)], []).append(node)
        return found

    def value(self, name: str) -> Node | None:
        """What a local variable is from its declaration on; None where it changes, or is declared more than once."""
        found = self.declarators(name)
        if len(found) != 1 or self.written(name):
            return None
        return found[0].child_by_field_name("value")

    def reached(self, node: Node) -> set[str]:
        """The names on which an expression depends, also through local variables."""
        names: set[str] = set()
        todo = [node]
        while todo:
            for leaf in self.find("identifier", within=todo.pop()):
                if (name := self[leaf]) not in names:
                    names.add(name)
                    todo += [value for one in self.declarators(name) if (value := one.child_by_field_name("value"))]
                    todo += [use.parent for use in self.written(name) if use.parent]
        return names

    def constant(self, node: Node) -> int | None:
        """The value of a whole-number literal, None for anything else."""
        if node.type != "number_literal":
            return None
        try:
            return int(self[node].rstrip("uUlL"), 0)
        except ValueError:
            return None

    def is_condition(self, node: Node) -> bool:
        """Whether parts of it are evaluated under a condition, or in a loop."""
        shortens = node.type == "binary_expression" and self[node.children[1]] in ("&&", "||")
        return shortens or node.type in CONDITIONAL

    def moved(self, nodes: Sequence[Node], indent: str, swap: Callable[[Node], str | None] = lambda node: None) -> str:
        """The text of statements in a row, with comments between them, where `indent` stands in front of the first."""
        old = self.indent(nodes[0])
        parts, at = [], nodes[0].start_byte
        for node in nodes:
            parts += [self.data[at : node.start_byte].decode(), self.replaced(node, swap)]
            at = node.end_byte
        first, *others = "".join(parts).split("\n")
        lines = [indent + line.removeprefix(old) if line.strip() and line[0].isspace() else line for line in others]
        return "\n".join([first, *lines])

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


def _leaf(declarator: Node) -> Node:
    """The identifier that a declarator declares."""
    return next((node for node in walk(declarator) if node.type == "identifier"), declarator)


def walk(node: Node | None) -> Iterator[Node]:
    """A node and all below it, parents first."""
    if node is not None:
        yield node
        for child in node.children:
            yield from walk(child)

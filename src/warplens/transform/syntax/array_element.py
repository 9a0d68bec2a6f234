"""Array element: a place where a kernel uses an array, `particles[i].x` or `tile[row][col]`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tree_sitter import Node

from warplens.transform.syntax.kernel_source import KernelSource
from warplens.transform.syntax.lane_stride import number_of


@dataclass(frozen=True)
class StructField:
    """length: of a field that is an array, 1 for others, None where it is not known"""

    name: str
    type: str
    length: int | None


@dataclass(frozen=True)
class ArrayElement:
    """An element of an array.

    node      the outermost subscript;  array: the name of the array;  indices: of each dimension
    type      of the elements, "" where it is not known;  fields: of the struct that they are
    space     where the array is
    stored    whether it is assigned there;  updated: by an atomic function
    """

    node: Node
    array: str
    indices: tuple[Node, ...]
    type: str
    space: str
    fields: tuple[StructField, ...]
    stored: bool
    updated: bool


def array_elements(kernel: KernelSource, line: int, space: str = "") -> list[ArrayElement]:
    """Those of a line, in a memory space ("global", "shared", "local", "constant") or in all.

    A statement of several lines is meant by each of them.
    """
    found = []
    for node in kernel.find("subscript_expression"):
        nested = (
            node.parent is not None and node.parent.type == "subscript_expression" and node.parent.children[0] == node
        )
        if not nested and _first_line(node) <= line <= node.end_point[0] + 1 and (one := _element(kernel, node)):
            found += [one] if space in ("", one.space) else []
    here = [one for one in found if one.node.start_point[0] + 1 <= line <= one.node.end_point[0] + 1]
    return here or found


def _first_line(node: Node) -> int:
    """Where the statement begins that an element is in."""
    while node.parent is not None and not node.type.endswith(("_statement", "declaration")):
        node = node.parent
    return node.start_point[0] + 1


def _element(kernel: KernelSource, node: Node) -> ArrayElement | None:
    indices, base = list[Node](), node
    while base.type == "subscript_expression":
        indices.insert(0, base.children[1].named_children[0])
        base = base.children[0]
    if base.type != "identifier":
        return None
    array = kernel[base]
    space, kind = space_of(kernel, array)
    if not space:
        return None
    return ArrayElement(
        node, array, tuple(indices), kind, space, struct_fields(kernel, kind),
        _is_stored(node), _is_updated(kernel, node),
    )  # fmt: skip


def space_of(kernel: KernelSource, array: str) -> tuple[str, str]:
    """("shared", "float"): the memory that an array or pointer is in, and the type of its elements."""
    for parameter in kernel.parameters:
        if parameter.name == array:
            return ("global", parameter.type) if parameter.pointer else ("", "")
    for declarator in kernel.declarators(array):
        declaration = declarator.parent
        if declaration is None:
            continue
        kind = declaration.child_by_field_name("type")
        words = kernel[declaration].partition("=")[0].split()
        plain = kernel[kind] if kind is not None else ""
        if "__shared__" in words:
            return "shared", plain
        if declarator.type == "array_declarator" or _inner(declarator) == "array_declarator":
            return "local", plain
        value = declarator.child_by_field_name("value")
        for name in sorted(kernel.reached(value)) if value is not None else ():
            if name != array and (found := space_of(kernel, name))[0] in ("global", "shared"):
                return found[0], plain if plain != "auto" else found[1]
    for node in kernel.root.children:
        if node.type == "declaration" and re.search(rf"\b{re.escape(array)}\s*\[", kernel[node].partition("=")[0]):
            words = kernel[node].split()
            kind = node.child_by_field_name("type")
            space = "constant" if "__constant__" in words else "global" if "__device__" in words else ""
            return space, kernel[kind] if kind is not None else ""
    return "", ""


def _inner(declarator: Node) -> str:
    inner = declarator.child_by_field_name("declarator")
    return inner.type if inner is not None else ""


def struct_fields(kernel: KernelSource, name: str) -> tuple[StructField, ...]:
    """Of a struct of the file; () where it has none of that name."""
    for node in kernel.find("struct_specifier", within=kernel.root):
        body, named = node.child_by_field_name("body"), node.child_by_field_name("name")
        named = named or (node.parent.child_by_field_name("declarator") if node.parent is not None else None)
        if body is None or named is None or kernel[named] != name:
            continue
        found = []
        for field in body.named_children:
            kind = field.child_by_field_name("type")
            if field.type == "field_declaration" and kind is not None:
                found += [_field(kernel, one, kernel[kind]) for one in field.children_by_field_name("declarator")]
        return tuple(found)
    return ()


def _field(kernel: KernelSource, declarator: Node, kind: str) -> StructField:
    length: int | None = 1
    while declarator.type == "array_declarator":
        size, inner = (declarator.child_by_field_name(name) for name in ("size", "declarator"))
        number = number_of(kernel, size, {}) if size is not None else None
        length = None if length is None or number is None else length * number
        if inner is None:
            break
        declarator = inner
    return StructField(kernel[declarator], kind, length)


def struct_bytes(kernel: KernelSource, name: str) -> int | None:
    """Size of a struct whose fields are plain numbers."""
    total = widest = 0
    for field in struct_fields(kernel, name):
        size = kernel.element_bytes(field.type)
        if size is None or field.length is None:
            return None
        total = -(-total // size) * size + size * field.length
        widest = max(widest, size)
    return -(-total // widest) * widest if widest else None


def _is_stored(node: Node) -> bool:
    up = node.parent
    while up is not None and up.type == "field_expression":
        node, up = up, up.parent
    if up is None:
        return False
    return up.type == "update_expression" or (up.type == "assignment_expression" and up.children[0] == node)


def _is_updated(kernel: KernelSource, node: Node) -> bool:
    """Whether it is what an atomic function is given the address of."""
    pointer = node.parent
    call = pointer.parent.parent if pointer is not None and pointer.parent is not None else None
    function = call.child_by_field_name("function") if call is not None else None
    return (
        pointer is not None and pointer.type == "pointer_expression" and function is not None
        and kernel[function].startswith("atomic")
    )  # fmt: skip

"""Value type: of an arithmetic expression, as C++ finds it: float, double, an integer, or not known."""

from __future__ import annotations

from tree_sitter import Node

from warplens.transform.syntax.canonical_form import unwrapped
from warplens.transform.syntax.guarded_index import BUILT_IN
from warplens.transform.syntax.kernel_source import FLOATS, INTEGERS, KernelSource

OF_FLOAT = frozenset({
    "sqrtf", "rsqrtf", "expf", "exp2f", "logf", "log2f", "sinf", "cosf", "tanhf", "fabsf", "fminf", "fmaxf", "powf",
    "fmaf", "erff", "__expf", "__logf", "__sinf", "__cosf", "__powf", "__fdividef",
})  # fmt: skip


def value_type(kernel: KernelSource, node: Node) -> str:
    """ "float", "double", "half" ..., "int" for any integer, "" where it is not known."""
    node = unwrapped(node)
    if node.type == "number_literal":
        return _of_literal(kernel[node].lower())
    if node.type == "identifier":
        return _of_variable(kernel, kernel[node])
    if node.type == "subscript_expression":
        return _of_element(kernel, node)
    if node.type == "field_expression":
        return "int" if kernel[node.children[0]] in BUILT_IN else ""
    if node.type == "unary_expression" and kernel[node.children[0]] in "+-":
        return value_type(kernel, node.children[1])
    if node.type == "cast_expression":
        kind = node.child_by_field_name("type")
        return _plain(kernel, kernel[kind]) if kind is not None else ""
    if node.type == "call_expression":
        return "float" if kernel.called(node).removeprefix("std::") in OF_FLOAT else ""
    if node.type == "binary_expression" and kernel[node.children[1]] in "+-*/":
        return _of_both(value_type(kernel, node.children[0]), value_type(kernel, node.children[2]))
    return ""


def _of_literal(text: str) -> str:
    if text.startswith("0x") or not any(sign in text for sign in ".e"):
        return "int"
    return "float" if text.endswith("f") else "double"


def _of_both(one: str, other: str) -> str:
    if not one or not other:
        return ""
    return next((kind for kind in ("double", "float") if kind in (one, other)), one if one == other else "")


def _of_variable(kernel: KernelSource, name: str) -> str:
    declared = kernel.declarators(name)
    if not declared:
        return next((_plain(kernel, p.type) for p in kernel.parameters if p.name == name and not p.pointer), "")
    kinds = set[str]()
    for one in declared:
        kind = one.parent.child_by_field_name("type") if one.parent is not None else None
        named = one.child_by_field_name("declarator") if one.type == "init_declarator" else one
        plain = named is not None and named.type == "identifier"
        kinds.add(_plain(kernel, kernel[kind]) if kind is not None and plain else "")
    return kinds.pop() if len(kinds) == 1 else ""


def _of_element(kernel: KernelSource, node: Node) -> str:
    """Of an array of the parameters, or a local one of one dimension."""
    name = kernel[node.children[0]]
    declared = kernel.declarators(name)
    if not declared:
        return next((_plain(kernel, p.type) for p in kernel.parameters if p.name == name and p.pointer), "")
    one = declared[0]
    kind = one.parent.child_by_field_name("type") if len(declared) == 1 and one.parent is not None else None
    array = one.child_by_field_name("declarator") if one.type == "init_declarator" else one
    flat = array is not None and array.type in ("array_declarator", "pointer_declarator")
    flat = flat and array is not None and array.child_by_field_name("declarator") is not None
    return _plain(kernel, kernel[kind]) if kind is not None and flat else ""


def _plain(kernel: KernelSource, kind: str) -> str:
    plain = kernel.plain_type(kind)
    return plain if plain in FLOATS else "int" if plain in INTEGERS else ""

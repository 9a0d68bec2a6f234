"""Macro expansion: a kernel with the macros of its file that are expressions written out, line by line.

For reading: what `IDX(r, c, w)` is an index of. Changes are made to the source as it is.
"""

from __future__ import annotations

from tree_sitter import Node

from warplens.errors import UsageError
from warplens.transform._change import Edit, edited
from warplens.transform.syntax.kernel_source import KernelSource
from warplens.transform.syntax.macro import WORD

DEEPEST = 8  # macros within macros


def with_macros_expanded(kernel: KernelSource) -> KernelSource:
    """The kernel as it is where nothing is to be expanded, or cannot be."""
    for _ in range(DEEPEST):
        edits = [edit for node in _outermost(kernel) if (edit := _expansion(kernel, node)) is not None]
        if not edits:
            break
        try:
            kernel = KernelSource(edited(kernel.text, edits), kernel.full_name)
        except UsageError:
            break
    return kernel


def _outermost(kernel: KernelSource) -> list[Node]:
    """Uses of macros that are not in the arguments of another one."""
    found: list[Node] = []
    for node in kernel.find("call_expression", "identifier"):
        name = kernel.called(node) if node.type == "call_expression" else kernel[node]
        if name in kernel.macros and not any(outer.start_byte <= node.start_byte < outer.end_byte for outer in found):
            found.append(node)
    return found


def _expansion(kernel: KernelSource, node: Node) -> Edit | None:
    name = kernel.called(node) if node.type == "call_expression" else kernel[node]
    macro = kernel.macros[name]
    if (
        macro.is_structure
        or name in WORD.findall(macro.text)
        or (node.type == "call_expression") != bool(macro.parameters)
    ):
        return None
    listed = node.child_by_field_name("arguments")
    arguments = [kernel[one] for one in listed.named_children] if listed is not None else []
    return Edit(node.start_byte, node.end_byte, macro.expanded(arguments))

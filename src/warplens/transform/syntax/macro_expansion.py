"""Macro expansion: a kernel with the macros of its file that are expressions written out, line by line.

For reading: what `IDX(r, c, w)` is an index of.  Changes are made to the source as it is, or, where macros hide the
number of the thread and nothing else can be changed, to the one with these written out.
"""

from __future__ import annotations

from collections.abc import Callable

from tree_sitter import Node

from warplens.errors import UsageError
from warplens.transform._change import Edit, edited
from warplens.transform.syntax.guarded_index import BUILT_IN
from warplens.transform.syntax.kernel_source import KernelSource
from warplens.transform.syntax.macro import WORD, Macro

DEEPEST = 8  # macros within macros
BUILT_IN_NAMES = frozenset(BUILT_IN)


def is_any(macro: Macro) -> bool:
    return True


def is_of_thread(macro: Macro) -> bool:
    """`#define ROW (blockIdx.y * blockDim.y + threadIdx.y)`."""
    return not macro.parameters and not BUILT_IN_NAMES.isdisjoint(WORD.findall(macro.text))


def with_macros_expanded(kernel: KernelSource, wanted: Callable[[Macro], bool] = is_any) -> KernelSource:
    """The kernel as it is where nothing is to be expanded, or cannot be."""
    for _ in range(DEEPEST):
        edits = [edit for node in _outermost(kernel, wanted) if (edit := _expansion(kernel, node)) is not None]
        if not edits:
            break
        try:
            kernel = KernelSource(edited(kernel.text, edits), kernel.full_name)
        except UsageError:
            break
    return kernel


def _outermost(kernel: KernelSource, wanted: Callable[[Macro], bool]) -> list[Node]:
    """Uses of macros that are not in the arguments of another one."""
    found: list[Node] = []
    for node in kernel.find("call_expression", "identifier"):
        name = kernel.called(node) if node.type == "call_expression" else kernel[node]
        known = name in kernel.macros and wanted(kernel.macros[name])
        if known and not any(outer.start_byte <= node.start_byte < outer.end_byte for outer in found):
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

"""Restrict pointers: `__restrict__` for all pointers, and const for those that are only read.

The compiler may then load before it stores, and keep what it has loaded.
"""

from __future__ import annotations

from tree_sitter import Node

from warplens.transform._change import Change, Edit, Proposals, Refusal, transform
from warplens.transform.syntax.kernel_source import KernelSource, LaunchFacts


@transform()
def restrict_pointers(kernel: KernelSource, launch: LaunchFacts) -> Proposals:
    pointers = [parameter for parameter in kernel.parameters if parameter.pointer]
    plain = [parameter for parameter in pointers if not parameter.restricted]
    if len(pointers) < 2 or not plain:
        return
    line = kernel.line(kernel.function)
    if launch.overlapping:
        yield Refusal("", line, "pointers are not made __restrict__: two arguments of this launch overlap")
        return
    edits = []
    for parameter in plain:
        declarator = parameter.node.child_by_field_name("declarator")
        if declarator is None or declarator.type != "pointer_declarator":
            yield Refusal("", line, f"{parameter.name} is not made __restrict__: it is not declared as a plain pointer")
            return
        inner = declarator.child_by_field_name("declarator")
        assert inner is not None
        if inner.type != "identifier":
            return
        edits.append(Edit(inner.start_byte, inner.start_byte, _spaced(kernel, inner)))
        if not parameter.constant and not _written(kernel, parameter.name):
            edits.append(Edit(parameter.node.start_byte, parameter.node.start_byte, "const "))
    names = ", ".join(parameter.name for parameter in pointers)
    yield Change(
        "", "make the pointers __restrict__, and const where they are only read", line, tuple(edits),
        promise=f"{names} must not overlap",
    )  # fmt: skip


def _spaced(kernel: KernelSource, inner: Node) -> str:
    before = kernel.data[inner.start_byte - 1 : inner.start_byte].decode()
    return "__restrict__ " if before.isspace() or before == "*" else " __restrict__ "


def _written(kernel: KernelSource, name: str) -> bool:
    """Whether something may be stored through a pointer: it is not only subscripted and read."""
    for use in kernel.uses(name):
        parent = use.parent
        if parent is None or parent.type != "subscript_expression" or parent.child_by_field_name("argument") != use:
            return True
        above = parent.parent
        if above is not None and (
            above.type in ("update_expression", "pointer_expression", "field_expression", "subscript_expression")
            or (above.type == "assignment_expression" and above.child_by_field_name("left") == parent)
        ):
            return True
    return False

"""Pad shared rows: one element more in each row of a shared array, so that a column lies in all 32 banks."""

from __future__ import annotations

from tree_sitter import Node

from warplens.transform._change import Change, Edit, Proposals, Refusal, transform
from warplens.transform.syntax.kernel_source import ELEMENT_BYTES, KernelSource, LaunchFacts

BANK_BYTES = 4


@transform("bank_conflicts")
def pad_shared_rows(kernel: KernelSource, launch: LaunchFacts) -> Proposals:
    for declaration in kernel.find("declaration"):
        words = [kernel[child] for child in declaration.children]
        if "__shared__" not in words or "extern" in words:
            continue
        element = next((kernel[child] for child in declaration.children if child.type.endswith("type")), "")
        for array in declaration.children_by_field_name("declarator"):
            if array.type != "array_declarator" or _dimensions(array) < 2:
                continue
            name = next(kernel[node] for node in kernel.find("identifier", within=array))
            line = kernel.line(array)
            if reason := _used_whole(kernel, name, _dimensions(array)):
                yield Refusal("", line, f"the rows of {name} are not padded: {reason}")
                continue
            size = array.child_by_field_name("size")
            assert size is not None
            more = max(BANK_BYTES // ELEMENT_BYTES.get(element, BANK_BYTES), 1)
            known = kernel.constant(size)
            text = str(known + more) if known is not None else f"{kernel[size]} + {more}"
            yield Change(
                "", f"pad each row of {name} by {more} element{'s' if more > 1 else ''}", line,
                (Edit(size.start_byte, size.end_byte, text),),
            )  # fmt: skip


def _dimensions(array: Node) -> int:
    count, node = 0, array
    while node is not None and node.type == "array_declarator":
        count, node = count + 1, node.child_by_field_name("declarator")  # type: ignore[assignment]
    return count


def _address_taken(kernel: KernelSource, element: Node) -> bool:
    """Whether a pointer to an element may reach others: not that of an atomic."""
    up = element.parent
    if up is None or up.type != "pointer_expression" or not kernel[up].startswith("&"):
        return False
    call = up.parent.parent if up.parent is not None and up.parent.type == "argument_list" else None
    return call is None or not kernel.called(call).startswith("atomic")


def _used_whole(kernel: KernelSource, name: str, dimensions: int) -> str:
    """Where the array is used other than element by element: its layout may matter there; "" if nowhere."""
    for use in kernel.uses(name):
        node, depth = use, 0
        while node.parent is not None and node.parent.type == "subscript_expression" and (
            node.parent.child_by_field_name("argument") == node
        ):  # fmt: skip
            node, depth = node.parent, depth + 1
        declared = node.parent is not None and node.parent.type == "array_declarator"
        if not declared and (depth < dimensions or _address_taken(kernel, node)):
            return f"line {kernel.line(use)} uses it as a pointer"
    return ""

"""Aligned struct: `alignas(16)` for a struct whose size is a multiple of it, so that one access moves 16 bytes.

A struct of floats is aligned as a float is, and the compiler must access each field by itself: 8 fields are 8 requests
of a sector a lane each.  Aligned, they are two.  The layout stays; another one, an array for each field, is no
mechanical change, as the callers' data would change with it.
"""

from __future__ import annotations

from tree_sitter import Node

from warplens.transform._change import Change, Edit, Proposals, transform
from warplens.transform.syntax.array_element import struct_bytes
from warplens.transform.syntax.kernel_source import KernelSource, LaunchFacts

WIDTHS = (16, 8)  # bytes of the widest accesses of a lane


@transform("uncoalesced_access", "unused_bytes")
def aligned_struct(kernel: KernelSource, launch: LaunchFacts) -> Proposals:
    pointed = {one.type.removeprefix("struct "): one.name for one in kernel.parameters if one.pointer}
    for struct in kernel.find("struct_specifier", within=kernel.root):
        name = _name(kernel, struct)
        body = struct.child_by_field_name("body")
        if name not in pointed or body is None:
            continue
        size = struct_bytes(kernel, name)
        width = next((width for width in WIDTHS if size and size % width == 0), 0)
        if not width or "align" in kernel[struct].partition("{")[0] or _widest(kernel, body) >= width:
            continue
        keyword = struct.children[0]
        yield Change(
            "", f"align {name} to {width} bytes, which one access then moves", kernel.line(struct),
            (Edit(keyword.end_byte, keyword.end_byte, f" alignas({width})"),),
            promise=f"{pointed[name]} begins at a multiple of {width} bytes",
        )  # fmt: skip


def _name(kernel: KernelSource, struct: Node) -> str:
    """`struct A {` or `typedef struct {...} A;`."""
    named = struct.child_by_field_name("name")
    if named is None and struct.parent is not None and struct.parent.type == "type_definition":
        named = struct.parent.child_by_field_name("declarator")
    return kernel[named] if named is not None else ""


def _widest(kernel: KernelSource, body: Node) -> int:
    kinds = [field.child_by_field_name("type") for field in body.named_children]
    return max((kernel.element_bytes(kernel[kind]) or 0 for kind in kinds if kind is not None), default=0)

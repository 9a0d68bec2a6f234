"""Float literals: an f behind the literals of an expression on floats, which else is computed in double precision."""

from __future__ import annotations

from tree_sitter import Node

from warplens.transform._change import Change, Edit, Proposals, Refusal, transform
from warplens.transform.syntax.kernel_source import KernelSource, LaunchFacts


@transform("double_literal")
def float_literals(kernel: KernelSource, launch: LaunchFacts) -> Proposals:
    edits, first = [], None
    for literal in kernel.find("number_literal"):
        text = kernel[literal]
        if not _is_double(text):
            continue
        if _declared_double(kernel, literal):
            yield Refusal("", kernel.line(literal), f"{text} keeps its type: it belongs to a double")
            continue
        first = first or literal
        edits.append(Edit(literal.end_byte, literal.end_byte, "f"))
    if first is not None:
        title = f"write {len(edits)} double literal{'s' if len(edits) > 1 else ''} as float"
        yield Change("", title, kernel.line(first), tuple(edits), effect="rounding")


def _is_double(text: str) -> bool:
    lower = text.lower()
    return not lower.startswith("0x") and lower[-1] not in "fl" and ("." in lower or "e" in lower)


def _declared_double(kernel: KernelSource, literal: Node) -> bool:
    node = literal.parent
    while node is not None and node.id != kernel.body.id:
        if node.type == "declaration" and "double" in kernel[node].split("=")[0].split():
            return True
        if node.type == "cast_expression" and "double" in kernel[node].split(")")[0]:
            return True
        node = node.parent
    return False

"""Float literals: an f behind the literals of an expression on floats, which else is computed in double precision.

Also in functions of the file that only this kernel calls.
"""

from __future__ import annotations

from tree_sitter import Node

from warplens.transform._change import Change, Edit, Proposals, Refusal, transform
from warplens.transform.syntax.kernel_source import KernelSource, LaunchFacts


@transform("double_literal")
def float_literals(kernel: KernelSource, launch: LaunchFacts) -> Proposals:
    edits, first = [], None
    parts = [*_own_functions(kernel), kernel.body]
    for literal in (node for part in parts for node in kernel.find("number_literal", within=part)):
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


def _own_functions(kernel: KernelSource) -> list[Node]:
    """Functions without doubles of their own that the kernel calls, and nothing else but these does."""
    found: dict[str, Node] = {}
    todo = [kernel.body]
    while todo:
        for call in kernel.find("call_expression", within=todo.pop()):
            name = kernel.called(call).partition("<")[0]
            if name in kernel.functions and name not in found:
                found[name] = kernel.functions[name]
                todo.append(found[name])
    own = [kernel.function, *found.values()]
    for node in kernel.functions.values():
        if node not in own:
            calls = kernel.find("call_expression", within=node)
            for name in {kernel.called(call).partition("<")[0] for call in calls} & found.keys():
                del found[name]
    nodes = sorted(found.values(), key=lambda node: node.start_byte)
    types = {node: {kernel[one] for one in kernel.find("primitive_type", within=node)} for node in nodes}
    return [node for node in nodes if "double" not in types[node]]


def _is_double(text: str) -> bool:
    lower = text.lower()
    return not lower.startswith("0x") and lower[-1] not in "fl" and ("." in lower or "e" in lower)


def _declared_double(kernel: KernelSource, literal: Node) -> bool:
    node = literal.parent
    while node is not None and node.type != "function_definition":
        if node.type == "declaration" and "double" in kernel[node].split("=")[0].split():
            return True
        if node.type == "cast_expression" and "double" in kernel[node].split(")")[0]:
            return True
        node = node.parent
    return False

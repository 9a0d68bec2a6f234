"""Vector loads: 4 or 2 neighbouring elements that a thread reads one by one, x[4 * i] to x[4 * i + 3], in one load.

The lanes of a warp then read 512 bytes in a row, where each of the 4 loads touched all of these sectors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from warplens.transform._change import Change, Edit, Proposals, Refusal, transform
from warplens.transform.syntax.canonical_form import unwrapped
from warplens.transform.syntax.guarded_index import NotSafe
from warplens.transform.syntax.kernel_source import KernelParameter, KernelSource, LaunchFacts
from warplens.transform.syntax.wide_types import PAIRS, VECTORS, lanes_of


@dataclass(frozen=True)
class Element:
    """x[lanes * base + lane].  base: the expression that is multiplied;  node: of the whole element"""

    node: Node
    base: Node
    lane: int


@transform("uncoalesced_access", "unused_bytes", "narrow_access")
def vector_loads(kernel: KernelSource, launch: LaunchFacts) -> Proposals:
    for parameter in kernel.parameters:
        if not parameter.pointer or parameter.type not in VECTORS or "volatile" in kernel[parameter.node]:
            continue
        for wide in (VECTORS[parameter.type], PAIRS.get(parameter.type)):
            lanes = lanes_of(wide) if wide is not None else 0
            elements = _elements(kernel, parameter, lanes)
            if wide is None or {element.lane for element in elements} != set(range(lanes)):
                continue
            try:
                yield _change(kernel, launch, parameter, wide, elements)
            except NotSafe as reason:
                yield Refusal("", reason.line, f"{parameter.name} is not loaded {lanes} at a time: {reason.reason}")


def _elements(kernel: KernelSource, parameter: KernelParameter, lanes: int) -> list[Element]:
    """() where the array is used in another way than by such elements."""
    found = []
    for use in kernel.uses(parameter.name):
        up = use.parent
        if up is None or up.type != "subscript_expression" or up.children[0] != use:
            return []
        parts = _parts(kernel, unwrapped(up.children[1].named_children[0]), lanes)
        if parts is None:
            return []
        found.append(Element(up, *parts))
    return found


def _parts(kernel: KernelSource, index: Node, lanes: int) -> tuple[Node, int] | None:
    """Base and lane of `lanes * base + lane`."""
    lane = 0
    if index.type == "binary_expression" and kernel[index.children[1]] == "+":
        sides = (index.children[0], index.children[2])
        number = next((value for side in sides if (value := kernel.constant(side)) is not None), None)
        if number is None or not 0 <= number < lanes:
            return None
        lane = number
        index = unwrapped(next(side for side in sides if kernel.constant(side) is None))
    if index.type != "binary_expression" or kernel[index.children[1]] != "*":
        return None
    sides = (index.children[0], index.children[2])
    if lanes not in [kernel.constant(side) for side in sides]:
        return None
    return unwrapped(next(side for side in sides if kernel.constant(side) != lanes)), lane


def _change(
    kernel: KernelSource, launch: LaunchFacts, parameter: KernelParameter, wide: str, elements: list[Element]
) -> Change:  # fmt: skip
    lanes = lanes_of(wide)
    first = elements[0]
    line, base = kernel.line(first.node), kernel[first.base]
    if len({kernel[element.base] for element in elements}) > 1:
        raise NotSafe(line, "the threads' elements do not lie together")
    if launch.overlapping:
        raise NotSafe(line, "two arguments of this launch overlap")
    statements = [_statement(kernel, element.node) for element in elements]
    if len({statement.parent for statement in statements if statement.parent}) > 1:
        raise NotSafe(line, "they are read in different blocks")
    for node in _stores(kernel, [element.node for element in elements]):
        raise NotSafe(kernel.line(node), f"{kernel[node]} is changed")
    for name in kernel.reached(first.base):
        for written in kernel.written(name):
            if statements[0].start_byte < written.start_byte < statements[-1].end_byte:
                raise NotSafe(kernel.line(written), f"{name} is changed between them")
    if not kernel.begins_line(statements[0]):
        raise NotSafe(line, "the statement does not begin a line")
    local, start = kernel.fresh(f"{parameter.name}{lanes}"), kernel.line_start(statements[0])
    constant = "const " if parameter.constant else ""
    load = f"{wide} {local} = reinterpret_cast<{constant}{wide}*>({parameter.name})[{base}];"
    edits = [Edit(start, start, f"{kernel.indent(statements[0])}{load}\n")]
    edits += [Edit(e.node.start_byte, e.node.end_byte, f"{local}.{'xyzw'[e.lane]}") for e in elements]
    return Change(
        "", f"load {lanes} elements of {parameter.name} at once", line, tuple(edits),
        promise=f"{parameter.name} begins at a multiple of {lanes} elements",
    )  # fmt: skip


def _statement(kernel: KernelSource, element: Node) -> Node:
    """In which it stands.  NotSafe where it is not always read there."""
    node = element
    while node.parent is not None and node.parent.type != "compound_statement":
        up = node.parent
        if kernel.is_condition(up):
            raise NotSafe(kernel.line(element), f"{kernel[element]} is read under a condition")
        node = up
    return node


def _stores(kernel: KernelSource, elements: list[Node]) -> Iterator[Node]:
    for element in elements:
        up = element.parent
        if up is None or up.type in ("update_expression", "pointer_expression", "field_expression") or (
            up.type == "assignment_expression" and up.children[0] == element
        ):  # fmt: skip
            yield element

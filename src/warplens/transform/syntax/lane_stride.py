"""Lane stride: by how much an index grows from one thread to the next, or from one round of a loop to the next.

Of `in[r * cols + c]` with r = blockIdx.x * blockDim.x + threadIdx.x it is `cols` in threadIdx.x, and 1 in c.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tree_sitter import Node

from warplens.transform.syntax.canonical_form import canonical, unwrapped, without_casts
from warplens.transform.syntax.for_loop import LOOPS
from warplens.transform.syntax.kernel_source import KernelSource

PASSED_THROUGH = ("min", "max", "abs")  # of whose arguments one depends on the thread


@dataclass(frozen=True)
class Stride:
    """text: as an expression of the kernel's names;  value: its number, None where it is not known"""

    text: str
    value: int | None


NONE, ONE = Stride("0", 0), Stride("1", 1)


def stride(kernel: KernelSource, node: Node, along: str, numbers: Mapping[str, int | float]) -> Stride | None:
    """The stride of an integer expression in `along`, "threadIdx.x" or a variable; None where it has no fixed one.

    numbers   of the arguments, by parameter
    """
    node = without_casts(kernel, node)
    if kernel[node] == along:
        return ONE
    if node.type in ("number_literal", "field_expression"):
        return NONE
    if node.type == "identifier":
        return _of_variable(kernel, node, along, numbers)
    if node.type == "binary_expression":
        return _of_binary(kernel, node, along, numbers)
    if node.type == "call_expression" and kernel.called(node) in PASSED_THROUGH:
        listed = node.child_by_field_name("arguments")
        parts = [stride(kernel, part, along, numbers) for part in (listed.named_children if listed else ())]
        moving = [part for part in parts if part != NONE]
        return moving[0] if len(moving) == 1 else None if moving else NONE
    return None if along.partition(".")[0] in kernel.reached(node) else NONE


def _of_variable(kernel: KernelSource, node: Node, along: str, numbers: Mapping[str, int | float]) -> Stride | None:
    name = kernel[node]
    declared = kernel.declarators(name)
    if along.partition(".")[0] not in kernel.reached(node):
        return NONE
    value = declared[0].child_by_field_name("value") if len(declared) == 1 else None
    writes = [use.parent for use in kernel.written(name) if use.parent is not None]
    assigned = [write for write in writes if write.type == "assignment_expression"]
    if value is None and len(writes) == len(assigned) == 1 and kernel[writes[0].children[1]] == "=":  # int i; i = ...;
        return stride(kernel, writes[0].children[2], along, numbers)
    steps = [write.child_by_field_name("right") for write in assigned]
    steady = all(step is None or stride(kernel, step, along, numbers) == NONE for step in steps)
    return stride(kernel, value, along, numbers) if value is not None and steady else None


def _of_binary(kernel: KernelSource, node: Node, along: str, numbers: Mapping[str, int | float]) -> Stride | None:
    left, operator, right = node.children[0], kernel[node.children[1]], node.children[2]
    one, other = stride(kernel, left, along, numbers), stride(kernel, right, along, numbers)
    if one is None or other is None:
        return None
    if one == NONE and other == NONE:
        return NONE
    if operator in ("+", "-"):
        return _sum(one, other, operator)
    if operator == "*" and NONE in (one, other):
        return _product(one, right, kernel, numbers) if other == NONE else _product(other, left, kernel, numbers)
    if operator == "<<" and (shift := kernel.constant(right)) is not None:
        return Stride(f"{_factor(one)}{1 << shift}", None if one.value is None else one.value << shift)
    if operator == "%" and other == NONE:
        return one  # but where it begins again
    return NONE if operator in ("/", ">>") and other == NONE and one.value == 1 else None


def _sum(one: Stride, other: Stride, operator: str) -> Stride:
    if other == NONE:
        return one
    sign = 1 if operator == "+" else -1
    value = None if one.value is None or other.value is None else one.value + sign * other.value
    if one == NONE:
        return Stride(other.text if sign == 1 else f"-{other.text}", value)
    return Stride(f"{one.text} {operator} {other.text}", value)


def _product(one: Stride, factor: Node, kernel: KernelSource, numbers: Mapping[str, int | float]) -> Stride:
    value = number_of(kernel, factor, numbers)
    text = kernel[unwrapped(factor)]
    return Stride(f"{_factor(one)}{text}", None if value is None or one.value is None else one.value * value)


def _factor(one: Stride) -> str:
    return "" if one == ONE else f"{one.text} * " if " + " not in one.text else f"({one.text}) * "


def number_of(kernel: KernelSource, node: Node, numbers: Mapping[str, int | float]) -> int | None:
    """The value of an expression of arguments and constants."""
    node = unwrapped(node)
    if node.type == "binary_expression":
        one, other = (number_of(kernel, node.children[place], numbers) for place in (0, 2))
        if one is None or other is None:
            return None
        operator = kernel[node.children[1]]
        return {"+": one + other, "-": one - other, "*": one * other}.get(operator)
    found = numbers.get(kernel[node])
    if isinstance(found, int):
        return found
    form = canonical(kernel, node)
    return int(form) if form.isdigit() else None


def loops_around(kernel: KernelSource, node: Node) -> list[tuple[Node, str]]:
    """The `for` loops that a node is in, innermost first, each with the variable that it counts, "" for none."""
    found = []
    up = node.parent
    while up is not None and up.id != kernel.body.id:
        if up.type in LOOPS:
            update = up.child_by_field_name("update")
            counted = next((kernel[leaf] for leaf in kernel.find("identifier", within=update)), "") if update else ""
            found.append((up, counted))
        up = up.parent
    return found

"""Cyclic distribution: each thread takes every n-th element, where it worked on a contiguous part of its own.

Neighbouring lanes then access neighbours, instead of each a sector of its own.
"""

from __future__ import annotations

import re

from tree_sitter import Node

from warplens.transform._change import Change, Edit, Proposals, Refusal, transform
from warplens.transform.syntax.accumulation import STEPS
from warplens.transform.syntax.canonical_form import canonical, comparison, is_grid_index, is_grid_size, unwrapped
from warplens.transform.syntax.guarded_index import LARGEST, NotSafe, inside
from warplens.transform.syntax.kernel_source import KernelSource, LaunchFacts


@transform("uncoalesced_access")
def cyclic_distribution(kernel: KernelSource, launch: LaunchFacts) -> Proposals:
    for loop in kernel.body.named_children:
        part = _part(kernel, launch, loop)
        if part is None:
            continue
        try:
            yield _change(kernel, launch, loop, part)
        except NotSafe as reason:
            yield Refusal("", reason.line, f"each thread keeps its contiguous part: {reason.reason}")


def _part(kernel: KernelSource, launch: LaunchFacts, loop: Node) -> str | None:
    """The number of elements of a thread, where a loop counts up from it times the thread's number; else None."""
    begin, update = loop.child_by_field_name("initializer"), loop.child_by_field_name("update")
    if loop.type != "for_statement" or begin is None or update is None or begin.type != "declaration":
        return None
    start = begin.children_by_field_name("declarator")[0].child_by_field_name("value")
    if start is None:
        return None
    factors = _product(kernel, start)
    numbers = [node for node in factors if is_grid_index(canonical(kernel, node), launch)]
    others = [node for node in factors if node not in numbers]
    if len(numbers) != 1 or len(others) != 1 or kernel.reached(others[0]) & {"threadIdx", "blockIdx"}:
        return None
    return kernel[others[0]]


def _product(kernel: KernelSource, node: Node) -> list[Node]:
    """The factors of an expression, also of a variable that is one."""
    node = unwrapped(node)
    while node.type == "identifier" and (value := kernel.value(kernel[node])) is not None:
        node = unwrapped(value)
    if node.type != "binary_expression" or kernel[node.children[1]] != "*":
        return []
    return [node.children[0], node.children[2]]


def _change(kernel: KernelSource, launch: LaunchFacts, loop: Node, part: str) -> Change:
    line = kernel.line(loop)
    begin, condition, update, body = (
        loop.child_by_field_name(name) for name in ("initializer", "condition", "update", "body")
    )
    assert begin is not None
    assert condition is not None
    assert update is not None
    assert body is not None
    (declarator, *_) = begin.children_by_field_name("declarator")
    named, start = declarator.child_by_field_name("declarator"), declarator.child_by_field_name("value")
    assert named is not None
    assert start is not None
    counter, compared = kernel[named], comparison(kernel, condition)
    plain = "".join(kernel[update].split()) in [step.format(k=counter) for step in STEPS]
    if not plain or compared is None or compared[1] != "<" or kernel[compared[0]] != counter:
        raise NotSafe(line, "the loop does not count upwards one by one")
    if launch.grid[0] * launch.threads * 2 > LARGEST:
        raise NotSafe(line, f"{counter} may exceed {LARGEST:,}")
    whole = _whole(kernel, compared[2], start, part)
    if whole is None:
        raise NotSafe(line, f"where all parts end is not clear from {kernel[compared[2]]}")
    _check_body(kernel, body, counter)
    number = next(n for n in _product(kernel, start) if is_grid_index(canonical(kernel, n), launch))
    first = kernel[number]
    stride = _stride(kernel, launch) or "gridDim.x * blockDim.x"
    edits = [
        Edit(start.start_byte, start.end_byte, first),
        Edit(compared[2].start_byte, compared[2].end_byte, whole),
        Edit(update.start_byte, update.end_byte, f"{counter} += {stride}"),
    ]
    kept = set(re.findall(r"\w+", f"{first} {whole} {stride}"))
    edits += _unused(kernel, [start, compared[2]], kept)
    title = "every thread takes neighbours of the other threads' elements, not a contiguous part"
    return Change("", title, line, tuple(edits), effect="order" if kernel.adds_floats else "exact")


def _whole(kernel: KernelSource, bound: Node, start: Node, part: str) -> str | None:
    """Where the last part ends: n of `min(begin + part, n)`, or the size of the grid times the part."""
    node = unwrapped(bound)
    while node.type == "identifier" and (value := kernel.value(kernel[node])) is not None:
        node = unwrapped(value)
    if node.type == "conditional_expression":  # begin + part < n ? begin + part : n
        parts = [node.named_children[1], node.named_children[2]]
    elif node.type == "call_expression" and kernel.called(node).removeprefix("std::") == "min":
        listed = node.child_by_field_name("arguments")
        parts = list(listed.named_children) if listed else []
    else:
        parts = []
    rest = [one for one in parts if not _is_end(kernel, one, start, part)]
    if len(parts) == 2 and len(rest) == 1:
        return kernel[rest[0]]
    return f"gridDim.x * blockDim.x * {part}" if _is_end(kernel, node, start, part) else None


def _is_end(kernel: KernelSource, node: Node, start: Node, part: str) -> bool:
    """Whether it is where the part of the thread ends: start + part."""
    node = unwrapped(node)
    if node.type != "binary_expression" or kernel[node.children[1]] != "+":
        return False
    whole = next(factor for factor in _product(kernel, start) if kernel[factor] == part)
    sides = {canonical(kernel, node.children[0]), canonical(kernel, node.children[2])}
    return sides == {canonical(kernel, start), canonical(kernel, whole)}


def _check_body(kernel: KernelSource, body: Node, counter: str) -> None:
    """NotSafe where a round needs what the one before it has left, or its place in the part."""
    written = {kernel[node.children[0]] for node in kernel.find("subscript_expression", within=body) if _stored(node)}
    for node in kernel.find("subscript_expression", within=body):
        if kernel[node.children[0]] in written and canonical(kernel, node.children[1].named_children[0]) != counter:
            raise NotSafe(kernel.line(node), f"{kernel[node.children[0]]} is also used at another place than {counter}")
    for node in kernel.find("break_statement", "return_statement", "goto_statement", within=body):
        raise NotSafe(kernel.line(node), f"{kernel[node].split()[0].rstrip(';')} ends the loop")
    for node in kernel.find("assignment_expression", "update_expression", within=body):
        target = node.child_by_field_name("left") or node.named_children[0]
        if target.type == "identifier":
            local = [one for one in kernel.declarators(kernel[target]) if inside(one, body)]
            if not local:
                raise NotSafe(kernel.line(node), f"{kernel[target]} keeps something from one element to the next")
        elif target.type != "subscript_expression":
            raise NotSafe(kernel.line(node), f"{kernel[target]} is more than an element")


def _stored(element: Node) -> bool:
    up = element.parent
    if up is None:
        return False
    return up.type == "update_expression" or (up.type == "assignment_expression" and up.children[0] == element)


def _stride(kernel: KernelSource, launch: LaunchFacts) -> str:
    """A variable of the kernel that holds the number of all threads."""
    for declaration in kernel.find("declaration"):
        for one in declaration.children_by_field_name("declarator"):
            named, value = one.child_by_field_name("declarator"), one.child_by_field_name("value")
            if named is not None and value is not None and is_grid_size(canonical(kernel, value), launch):
                return kernel[named]
    return ""


def _unused(kernel: KernelSource, gone: list[Node], kept: set[str]) -> list[Edit]:
    """Declarations that nothing needs when these expressions are gone, and what only they needed.  kept: names"""
    removed: list[Node] = []
    while True:
        found = None
        for declaration in kernel.body.named_children:
            named = declaration.children_by_field_name("declarator") if declaration.type == "declaration" else []
            if len(named) != 1 or declaration in removed or named[0].type != "init_declarator":
                continue
            name = next((kernel[node] for node in kernel.find("identifier", within=named[0])), "")
            uses = [use for use in kernel.uses(name) if not inside(use, declaration)]
            if uses and name not in kept and all(any(inside(use, part) for part in (*gone, *removed)) for use in uses):
                found = declaration
                break
        if found is None:
            return [Edit(*kernel.whole_line(node), "") for node in removed]
        removed.append(found)

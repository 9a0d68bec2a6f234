"""For loop: a loop whose index is declared before it, written as a `for` that declares it.

`int i = a; while (i < n) { ...; i += b; }` and `int i = a; for (; i < n; i += b) ...` become
`for (int i = a; i < n; i += b) ...`: the one form that transforms know.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from tree_sitter import Node

from warplens.transform._change import Change, Edit, Proposals, edited
from warplens.transform.syntax.canonical_form import unwrapped
from warplens.transform.syntax.kernel_source import KernelSource

LOOPS = ("for_statement", "while_statement", "do_statement")


def with_for_loops(kernel: KernelSource, wanted: Callable[[KernelSource, Node], bool]) -> KernelSource:
    """The kernel with those loops that are wanted in this form."""
    for loop in kernel.find("while_statement", "for_statement"):
        edits = _edits(kernel, loop) if wanted(kernel, loop) else []
        if edits:
            return with_for_loops(KernelSource(edited(kernel.text, edits), kernel.full_name), wanted)
    return kernel


def is_first(kernel: KernelSource, loop: Node) -> bool:
    """Whether it is the first loop at the top of the kernel."""
    return next((node for node in kernel.body.named_children if node.type in LOOPS), None) == loop


def is_last(kernel: KernelSource, loop: Node) -> bool:
    """Whether the kernel has one loop at the top, with which it ends."""
    return (
        [node for node in kernel.body.named_children if node.type in LOOPS]
        == [kernel.body.named_children[-1]]
        == [loop]
    )


def of_whole(kernel: KernelSource, plain: KernelSource, found: Proposals) -> Proposals:
    """What was proposed for a kernel with other loops, as changes of the kernel itself."""
    for one in found:
        if plain is kernel:
            yield one
        elif isinstance(one, Change):
            whole = Edit(0, len(kernel.data), edited(plain.text, one.edits))
            yield replace(one, edits=(whole,), line=_line(kernel, plain, one.line))
        else:
            yield replace(one, line=_line(kernel, plain, one.line))


def _line(kernel: KernelSource, plain: KernelSource, line: int) -> int:
    """Where a line of the kernel with other loops is in the kernel: at most as many lines further down as that lost.

    The line itself is there, or, of a loop's head, the line after it.
    """
    old, new = kernel.text.split("\n"), plain.text.split("\n")
    places = range(line, line + len(old) - len(new) + 1)
    here, after = new[line - 1], new[line : line + 1]
    return next((at for at in places if old[at - 1] == here or old[at : at + 1] == after), line)


def _edits(kernel: KernelSource, loop: Node) -> list[Edit]:
    """[] where it has the form already, or cannot have it."""
    condition, body = loop.child_by_field_name("condition"), loop.child_by_field_name("body")
    if condition is None or body is None or loop.child_by_field_name("initializer"):
        return []
    for name in dict.fromkeys(kernel[node] for node in kernel.find("identifier", within=condition)):
        declared, written = kernel.declarators(name), kernel.written(name)
        step = written[0].parent if len(written) == 1 else None
        declaration = declared[0].parent if len(declared) == 1 else None
        start = declared[0].child_by_field_name("value") if declaration else None
        if step is None or declaration is None or start is None or declaration.parent != loop.parent:
            continue
        first, last = declaration.start_byte, loop.end_byte
        if any(not first <= use.start_byte < last for use in kernel.uses(name)):
            continue
        removed = _without(kernel, loop, body, step, declaration, (name, start))
        if removed:
            kind = declaration.child_by_field_name("type")
            test = kernel[unwrapped(condition)].rstrip(";")
            head = f"for ({kernel[kind] if kind else 'int'} {name} = {kernel[start]}; {test}; {kernel[step]})"
            return [*removed, Edit(loop.start_byte, _head_end(loop, condition), head)]
    return []


def _without(
    kernel: KernelSource, loop: Node, body: Node, step: Node, declaration: Node, index: tuple[str, Node]
) -> list[Edit]:
    """The declaration and, of a `while`, the step taken away; [] where they cannot be."""
    name, start = index
    between = [use for other in kernel.reached(start) for use in kernel.written(other)]
    moved = [use for use in between if declaration.end_byte < use.start_byte < loop.start_byte]
    used = [use for use in kernel.uses(name) if declaration.end_byte < use.start_byte < loop.start_byte]
    if moved or used or len(declaration.children_by_field_name("declarator")) != 1:
        return []
    edits = [Edit(*kernel.whole_line(declaration), "")]
    if loop.type == "for_statement":
        return edits if step == loop.child_by_field_name("update") else []
    last = next((node for node in reversed(body.named_children) if node.type != "comment"), None)
    stays = body.type == "compound_statement" and last is not None and step.parent == last
    leaves = any(_loop_of(node) == loop for node in kernel.find("continue_statement", within=body))
    if not stays or leaves or last is None or step.type not in ("assignment_expression", "update_expression"):
        return []
    return [*edits, Edit(*kernel.whole_line(last), "")]


def _loop_of(node: Node) -> Node | None:
    up = node.parent
    while up is not None and up.type not in LOOPS:
        up = up.parent
    return up


def _head_end(loop: Node, condition: Node) -> int:
    closed: Iterable[Node] = reversed(loop.children) if loop.type == "for_statement" else (condition,)
    return next(node for node in closed if node == condition or node.type == ")").end_byte

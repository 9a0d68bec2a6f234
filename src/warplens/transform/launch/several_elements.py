"""Several elements: a grid-stride loop in place of one element a thread, with as many blocks as the GPU holds; where
there is a loop already, no more blocks than that.

Blocks are started one after the other, and each begins with computing what all of them need; a thread that goes on to
the next element does it once.
"""

from __future__ import annotations

from dataclasses import replace

from tree_sitter import Node

from warplens.transform._change import (
    SAME_LAUNCH,
    Change,
    Edit,
    Effect,
    LaunchChange,
    Proposals,
    Refusal,
    edited,
    transform,
)
from warplens.transform.syntax.canonical_form import canonical
from warplens.transform.syntax.for_loop import is_last, with_for_loops
from warplens.transform.syntax.guarded_index import GuardedIndex, NotSafe, guarded_index
from warplens.transform.syntax.kernel_source import KernelSource, LaunchFacts, walk

LONGEST = 110  # characters of a line, without its indentation


@transform()
def several_elements(kernel: KernelSource, launch: LaunchFacts) -> Proposals:
    blocks = launch.multiprocessors * launch.resident
    small = launch.grid[0] < launch.multiprocessors
    if launch.grid[0] < 2 * blocks and not small:
        return
    try:
        index = guarded_index(with_for_loops(kernel, is_last), launch)
    except NotSafe as reason:
        yield Refusal("", reason.line, f"no loop over several elements: {reason.reason}")
        return
    if index is None or (small and index.form != "loop"):
        return
    line, fewer = kernel.line(index.guard), f"{blocks:,} blocks instead of {launch.grid[0]:,}"
    grid = LaunchChange(grid=(blocks, 1, 1))
    effect: Effect = "order" if kernel.adds_floats else "exact"
    if index.form == "loop":
        yield Change("", fewer, line, (), grid, effect)
        return
    if not kernel.begins_line(index.guard):
        yield Refusal("", line, f"no loop over several elements: {kernel[index.guard]} does not begin a line")
        return
    edits = (*_without_declaration(kernel, index), _loop(kernel, index))
    yield Change("", f"a grid-stride loop with {fewer}", line, edits, grid, effect)


def with_loop(kernel: KernelSource, launch: LaunchFacts) -> tuple[KernelSource, Change] | None:
    """The kernel with the loop, for changes that pay only there; None where it gets none."""
    for change in several_elements.propose(kernel, launch):
        if isinstance(change, Change):
            return KernelSource(edited(kernel.text, change.edits), kernel.full_name), change
    return None


def combined(kernel: KernelSource, first: Change, changed: KernelSource, then: Change) -> Change:
    """A change, and one of the kernel that has it, as one change of the kernel; one of them may change the launch."""
    text = edited(changed.text, then.edits)
    effect: Effect = then.effect if first.effect == "exact" else first.effect
    title, edit = f"{then.title}; {first.title}", Edit(0, len(kernel.data), text)
    launch = first.launch if then.launch == SAME_LAUNCH else then.launch
    promise = "; ".join(filter(None, (first.promise, then.promise)))
    return replace(
        then, title=title, line=first.line, edits=(edit,), launch=launch, effect=effect, promise=promise
    )  # fmt: skip


def _without_declaration(kernel: KernelSource, index: GuardedIndex) -> list[Edit]:
    """The index is declared by the loop."""
    declaration = index.declarator.parent
    assert declaration is not None
    others = [node for node in declaration.children_by_field_name("declarator") if node != index.declarator]
    if not others:
        return [Edit(*kernel.whole_line(declaration), "")]
    before, after = index.declarator.prev_sibling, index.declarator.next_sibling
    if before is not None and before.type == ",":
        return [Edit(before.start_byte, index.declarator.end_byte, "")]
    assert after is not None
    following = after.next_sibling
    assert following is not None
    return [Edit(index.declarator.start_byte, following.start_byte, "")]


def _loop(kernel: KernelSource, index: GuardedIndex) -> Edit:
    i, bound = index.name, kernel[index.bound]
    names = [node for node in walk(index.start) if node.type == "field_expression"]
    block = next((kernel[node] for node in names if kernel[node] == "blockDim.x"), None) or _block(kernel, index.start)
    head = f"for ({index.type} {i} = {kernel[index.start]}; {i} < {bound}; {i} += {block} * gridDim.x)"
    indent = kernel.indent(index.guard)
    if index.form == "return":
        body = kernel.moved(index.body, indent + kernel.step)
        if len(index.body) == 1 and index.body[0].type == "expression_statement" and "\n" not in body:
            line_break = "\n" + indent + kernel.step if len(head) + len(body) > LONGEST else " "
            return Edit(index.guard.start_byte, index.body[-1].end_byte, f"{head}{line_break}{body}")
        text = f"{head} {{\n{indent}{kernel.step}{body}\n{indent}}}"
        return Edit(index.guard.start_byte, index.body[-1].end_byte, text)
    then = index.guard.child_by_field_name("consequence")
    assert then is not None
    if index.others:
        others = " && ".join(kernel[node] for node in index.others)
        head += f"\n{indent}{kernel.step}if ({others})"
        return Edit(index.guard.start_byte, then.end_byte, f"{head} {kernel.moved([then], indent + kernel.step)}")
    return Edit(index.guard.start_byte, then.start_byte, f"{head} " if then.start_point[0] == index.guard.start_point[0]
                else f"{head}\n{kernel.indent(then)}")  # fmt: skip


def _block(kernel: KernelSource, start: Node) -> str:
    """The block size as the index is computed with: a number or a constant."""
    for node in walk(start):
        if node.type == "binary_expression" and kernel[node.children[1]] == "*":
            sides = (node.children[0], node.children[2])
            return next((kernel[side] for side in sides if canonical(kernel, side) != "blockIdx.x"), "blockDim.x")
    return "blockDim.x"

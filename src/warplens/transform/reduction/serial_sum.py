"""Serial sum: a block's elements that one thread adds up in a loop are reduced by all threads, in a tree.

While thread 0 walks through shared memory the others wait; by halves the sum takes log2 of as many rounds.
"""

from __future__ import annotations

from tree_sitter import Node

from warplens.transform._change import Change, Edit, Proposals, Refusal, edited, transform
from warplens.transform.launch.several_elements import combined
from warplens.transform.reduction.several_inputs import several_inputs
from warplens.transform.syntax.accumulation import STEPS
from warplens.transform.syntax.block_reduction import BARRIER, FIRST_THREAD, is_barrier
from warplens.transform.syntax.canonical_form import canonical, comparison, conjuncts, is_block_size
from warplens.transform.syntax.guarded_index import NotSafe, statements_of
from warplens.transform.syntax.kernel_source import KernelSource, LaunchFacts


@transform("inactive_lanes", "barrier_stalls")
def serial_sum(kernel: KernelSource, launch: LaunchFacts) -> Proposals:
    for test in kernel.body.named_children:
        loop = _loop(kernel, launch, test)
        if loop is None:
            continue
        try:
            tree = _change(kernel, launch, test, loop)
            yield tree
            # the blocks' results may meet in an atomic: with fewer blocks the tree is worth more
            changed = KernelSource(edited(kernel.text, tree.edits), kernel.full_name)
            for then in several_inputs.propose(changed, launch):
                if isinstance(then, Change):
                    yield combined(kernel, tree, changed, then)
        except NotSafe as reason:
            yield Refusal("", reason.line, f"one thread goes on to add up alone: {reason.reason}")


def _loop(kernel: KernelSource, launch: LaunchFacts, test: Node) -> Node | None:
    """The loop over the block in an `if` of its first thread, behind a barrier."""
    condition, then = test.child_by_field_name("condition"), test.child_by_field_name("consequence")
    if test.type != "if_statement" or condition is None or then is None or test.child_by_field_name("alternative"):
        return None
    if not any(canonical(kernel, part) in FIRST_THREAD for part in conjuncts(kernel, condition)):
        return None
    loops = [node for node in statements_of(then) if node.type == "for_statement"]
    bounds = [comparison(kernel, node.child_by_field_name("condition") or node) for node in loops]
    found = [
        loop for loop, bound in zip(loops, bounds, strict=True)
        if bound is not None and bound[1] == "<" and is_block_size(canonical(kernel, bound[2]), launch)
    ]  # fmt: skip
    return found[0] if len(found) == 1 else None


def _change(kernel: KernelSource, launch: LaunchFacts, test: Node, loop: Node) -> Change:
    line = kernel.line(loop)
    if launch.block[1:] != (1, 1) or launch.block[0] & (launch.block[0] - 1):
        raise NotSafe(line, f"a block of {launch.threads} threads is not halved evenly")
    before = test.prev_named_sibling
    while before is not None and before.type == "comment":
        before = before.prev_named_sibling
    if before is None or not is_barrier(kernel, before):
        raise NotSafe(line, "no barrier stands before it")
    for leave in kernel.find("return_statement"):
        if leave.start_byte < test.start_byte:
            raise NotSafe(kernel.line(leave), "threads leave before it")
    element = _added(kernel, loop)
    array, indent, step = kernel[element.children[0]], kernel.indent(test), kernel.step
    behind = [use for use in kernel.uses(array) if use.start_byte > loop.end_byte]
    if behind:
        raise NotSafe(kernel.line(behind[0]), f"{array} is used afterwards")
    s, t = kernel.fresh("s", "half"), "threadIdx.x"
    (bound,) = [side for side in [comparison(kernel, loop.child_by_field_name("condition") or loop)] if side]
    halves = launch.block[0] // 2 if canonical(kernel, bound[2]).isdecimal() else 0
    first = f"{kernel[bound[2]]} / 2" if not halves or not kernel[bound[2]].isdecimal() else str(halves)
    tree = (
        f"for (int {s} = {first}; {s} > 0; {s} /= 2) {{\n"
        f"{indent}{step}if ({t} < {s}) {array}[{t}] += {array}[{t} + {s}];\n"
        f"{indent}{step}{BARRIER}();\n{indent}}}\n{indent}"
    )
    body = loop.child_by_field_name("body")
    assert body is not None
    (statement,) = statements_of(body)
    whole = kernel.replaced(statement, lambda node: f"{array}[0]" if node == element else None)
    edits = (Edit(test.start_byte, test.start_byte, tree), Edit(loop.start_byte, loop.end_byte, whole))
    return Change("", "reduce in a tree instead of one thread's loop", line, edits, effect="order",
                  promise="blocks of a power of two threads, all of which take part")  # fmt: skip


def _added(kernel: KernelSource, loop: Node) -> Node:
    """The element x[i] of `sum += x[i]`, the only statement of a loop from 0 on.  NotSafe for another one."""
    begin, update, body = (loop.child_by_field_name(name) for name in ("initializer", "update", "body"))
    line = kernel.line(loop)
    statements = statements_of(body) if body is not None else ()
    inner = statements[0].named_children[0] if len(statements) == 1 and statements[0].named_children else None
    if begin is None or update is None or inner is None or inner.type != "assignment_expression":
        raise NotSafe(line, "the loop is more than a sum")
    value = inner.children[2]
    counter = next((kernel[node] for node in kernel.find("identifier", within=begin)), "")
    steps = "".join(kernel[update].split()) in [step.format(k=counter) for step in STEPS]
    from_zero = kernel[begin].rstrip(";").rpartition("=")[2].strip() == "0"
    plain = value.type == "subscript_expression" and kernel[value.children[1].named_children[0]] == counter
    array = kernel[value.children[0]] if plain else ""
    shared = any("__shared__" in kernel[one.parent] for one in kernel.declarators(array) if one.parent)
    if not (steps and from_zero and plain and shared and kernel[inner.children[1]] == "+="):
        raise NotSafe(line, "the loop is more than the sum of an array in shared memory")
    return value

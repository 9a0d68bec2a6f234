"""Serial loop: what one thread of a block adds up alone, all threads of the block do together.

`if (threadIdx.x == 0) { float s = 0; for (int i = 0; i < n; ++i) s += x[i]; mean = s / n; }` keeps a whole block
waiting for one thread, which waits for one load after the other.
"""

from __future__ import annotations

from tree_sitter import Node

from warplens.transform._change import Change, Edit, Effect, Proposals, Refusal, edited, transform
from warplens.transform.syntax.accumulation import RowLoop, is_shared, row_loops
from warplens.transform.syntax.block_reduction import BARRIER, FIRST_THREAD, is_barrier
from warplens.transform.syntax.canonical_form import canonical, unwrapped
from warplens.transform.syntax.for_loop import LOOPS
from warplens.transform.syntax.guarded_index import NotSafe, inside, statements_of
from warplens.transform.syntax.joined_parts import Team, shared_out
from warplens.transform.syntax.kernel_source import INTEGERS, KernelSource, LaunchFacts

MOST_SHARED = 48 * 1024


@transform("inactive_lanes", "barrier_stalls", "latency_bound", "uncoalesced_access")
def serial_loop(kernel: KernelSource, launch: LaunchFacts) -> Proposals:
    for test in kernel.body.named_children:
        body = _of_first_thread(kernel, test)
        if not any(node.type in LOOPS for node in body):
            continue
        try:
            loops = row_loops(kernel, body, innermost=True)
            if any(loop.sums for loop in loops):
                yield _change(kernel, launch, test, loops)
        except NotSafe as reason:
            yield Refusal("", reason.line, f"one thread goes on alone: {reason.reason}")


def _of_first_thread(kernel: KernelSource, test: Node) -> tuple[Node, ...]:
    """The statements under `if (threadIdx.x == 0)`; () where it is another statement."""
    condition, then = test.child_by_field_name("condition"), test.child_by_field_name("consequence")
    if test.type != "if_statement" or condition is None or then is None or test.child_by_field_name("alternative"):
        return ()
    alone = canonical(kernel, unwrapped(condition)) in FIRST_THREAD
    return tuple(node for node in statements_of(then) if node.type != "comment") if alone else ()


def _change(kernel: KernelSource, launch: LaunchFacts, test: Node, loops: list[RowLoop]) -> Change:
    threads, line = launch.block[0], kernel.line(loops[0].loop)
    body = _of_first_thread(kernel, test)
    if launch.block[1:] != (1, 1) or threads & (threads - 1) or threads == 1:
        raise NotSafe(line, f"a block of {launch.threads} threads is not halved evenly")
    for leave in kernel.find("return_statement"):
        if leave.start_byte < test.start_byte:
            raise NotSafe(kernel.line(leave), "threads leave before it")
    sizes = [kernel.element_bytes(one.type) or 8 for loop in loops for one in loop.sums]
    if sum(sizes) * threads + launch.shared > MOST_SHARED:
        raise NotSafe(line, "what the threads have added up does not fit into shared memory")
    together = [node for node in body if _is_done_by_all(kernel, test, node, loops)]
    once = [node for node in body if node not in together]
    _check(kernel, test, together, loops)
    stored = {kernel[node] for one in once for node in kernel.find("identifier", within=one)}
    stored |= {kernel[one.name] for loop in loops for one in loop.sums if not one.local}
    team = Team("threadIdx.x", "blockDim.x", "blockDim.x / 2", f"[{threads}]", "[threadIdx.x]",
                "[threadIdx.x + {half}]", "[0]", "threadIdx.x == 0")  # fmt: skip
    edits = [edit for loop in loops for edit in shared_out(kernel, loop, team, "thread")]
    for place, node in enumerate(body):
        if node in once:
            edits.append(Edit(node.start_byte, node.start_byte, f"if ({team.first}) "))
        behind = {name for later in body[place + 1 :] if later in together for name in _names(kernel, later)}
        behind -= {kernel[one.name] for loop in loops if loop.loop.start_byte > node.start_byte for one in loop.sums}
        writes = node in once or any(not one.local for loop in loops if loop.around == node for one in loop.sums)
        if writes and stored & _written(kernel, node) & behind:
            edits.append(Edit(node.end_byte, node.end_byte, f"\n{kernel.indent(node)}{BARRIER}();"))
    whole = all(kernel.plain_type(one.type) in INTEGERS for loop in loops for one in loop.sums)
    effect: Effect = "exact" if whole else "order"
    return Change(
        "", f"all threads share the loop over {loops[0].counter}, not thread 0 alone", line,
        _unwrapped(kernel, test, edits), effect=effect,
        promise=f"blocks of a power of two threads, {threads} at most, all of which take part",
    )  # fmt: skip


def _is_done_by_all(kernel: KernelSource, test: Node, statement: Node, loops: list[RowLoop]) -> bool:
    """Whether it is a loop, or changes variables that are declared under the test only."""
    if statement in [loop.around for loop in loops] or statement.type in ("declaration", "preproc_call"):
        return True
    assigned = statement.named_children[0] if statement.type == "expression_statement" else None
    if assigned is None or assigned.type != "assignment_expression" or assigned.children[0].type != "identifier":
        return False
    return all(inside(one, test) for one in kernel.declarators(kernel[assigned.children[0]]))


def _check(kernel: KernelSource, test: Node, together: list[Node], loops: list[RowLoop]) -> None:
    """NotSafe where the other threads would work on something else, or on what is not there yet."""
    before = test.prev_named_sibling
    while before is not None and before.type == "comment":
        before = before.prev_named_sibling
    waited = before is not None and is_barrier(kernel, before)
    changed = [node.child_by_field_name("left") or node.named_children[0]
               for node in kernel.find("assignment_expression", "update_expression") if node.end_byte < test.start_byte]
    elements = {kernel[node.children[0]] for node in changed if node.type == "subscript_expression"}
    for node in together:
        if not waited and (read := sorted(kernel.reached(node) & elements)):
            raise NotSafe(kernel.line(node), f"no barrier stands before it, and {read[0]} is written to")
        for name in _names(kernel, node):
            declared = kernel.declarators(name)
            same = any(inside(one, test) or is_shared(kernel, one) for one in declared)
            if name == "threadIdx" or (declared and not same and "threadIdx" in kernel.reached(declared[0])):
                raise NotSafe(kernel.line(node), f"{name} is another one in other threads")
    for one in (one for loop in loops for one in loop.sums if one.local):
        if not all(inside(declared, test) for declared in kernel.declarators(kernel[one.name])):
            raise NotSafe(kernel.line(one.target), f"{kernel[one.target]} is kept by thread 0")


def _names(kernel: KernelSource, node: Node) -> set[str]:
    return {kernel[leaf] for leaf in kernel.find("identifier", within=node)}


def _written(kernel: KernelSource, node: Node) -> set[str]:
    changed = kernel.find("assignment_expression", "update_expression", within=node)
    targets = [one.child_by_field_name("left") or one.named_children[0] for one in changed]
    return {kernel[next(kernel.find("identifier", within=target), target)] for target in targets}


def _unwrapped(kernel: KernelSource, test: Node, edits: list[Edit]) -> tuple[Edit, ...]:
    """The edits, and the `if` taken away; its braces too, where no name is declared elsewhere."""
    then = test.child_by_field_name("consequence")
    assert then is not None
    declared = [one for node in statements_of(then) for one in node.children_by_field_name("declarator")]
    names = [kernel[next(kernel.find("identifier", within=one), one)] for one in declared]
    if then.type == "compound_statement" and any(len(kernel.declarators(name)) > 1 for name in names):
        return (Edit(test.start_byte, then.start_byte, ""), *edits)
    changed = KernelSource(edited(kernel.text, edits), kernel.full_name)
    again = next(node for node in changed.body.named_children if node.start_byte == test.start_byte)
    inner = again.child_by_field_name("consequence")
    assert inner is not None
    text = changed.moved(statements_of(inner), changed.indent(again))
    whole = edited(changed.text, [Edit(again.start_byte, again.end_byte, text)])
    return (Edit(0, len(kernel.data), whole),)

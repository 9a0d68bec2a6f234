"""Warp per row: what a thread adds up in a loop along a row, the 32 lanes of a warp add up together.

Where each thread walks along a row of its own, the lanes stand in 32 rows at any moment, each in a sector of its own.
Lanes that take every 32nd element of one row read neighbours, and shuffles join what they have added up.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tree_sitter import Node

from warplens.transform._change import Change, Edit, LaunchChange, Proposals, Refusal, transform
from warplens.transform.syntax.block_reduction import EITHER
from warplens.transform.syntax.canonical_form import canonical, comparison
from warplens.transform.syntax.guarded_index import (
    LARGEST,
    LOOPS,
    GuardedIndex,
    NotSafe,
    guarded_index,
    inside,
    statements_of,
)
from warplens.transform.syntax.kernel_source import ELEMENT_BYTES, INTEGERS, KernelSource, LaunchFacts

WARP = 32
ALL = "0xffffffff"  # lanes that take part
ZERO = ("0", "0.", "0.0", "0.f", "0.0f", "0u")
STEPS = ("{k}++", "++{k}", "{k}+=1", "{k}={k}+1")


@dataclass(frozen=True)
class Sum:
    """One `sum += value` of a loop, or `sum = max(sum, value)`.

    statement   of it;  target: the variable, or the element of an array;  type: of what is added up
    whole       whether lanes may begin with what the variable has before the loop
    """

    statement: Node
    target: Node
    type: str
    whole: bool


@dataclass(frozen=True)
class RowLoop:
    """A loop along the row.  start: of `counter`;  sums: () where each round stores an element of its own"""

    loop: Node
    counter: str
    start: Node
    sums: tuple[Sum, ...] = field(default=())


@transform("uncoalesced_access")
def warp_per_row(kernel: KernelSource, launch: LaunchFacts) -> Proposals:
    try:
        index = guarded_index(kernel, launch)
        if index is None or index.form == "loop":
            return
        loops = _loops(kernel, index)
        if not any(loop.sums for loop in loops):
            return
        yield _change(kernel, launch, index, loops)
    except NotSafe as reason:
        yield Refusal("", reason.line, f"no warp for each row: {reason.reason}")


def _loops(kernel: KernelSource, index: GuardedIndex) -> list[RowLoop]:
    """Those of the body, which all run along the row.  NotSafe for another one."""
    found = [_row_loop(kernel, index, node) for node in index.body if node.type in LOOPS]
    for statement in index.body:
        if statement.type in LOOPS:
            continue
        if next(kernel.find(*LOOPS, within=statement), None) is not None:
            raise NotSafe(kernel.line(statement), "a loop stands under a condition")
        for name in {loop.counter for loop in found}:
            if statement.type != "declaration" and kernel.uses(name, statement):
                raise NotSafe(kernel.line(statement), f"{name} is used behind its loop")
    return found


def _row_loop(kernel: KernelSource, index: GuardedIndex, loop: Node) -> RowLoop:
    line = kernel.line(loop)
    begin, condition, update, body = (
        loop.child_by_field_name(name) for name in ("initializer", "condition", "update", "body")
    )
    compared = comparison(kernel, condition) if condition is not None else None
    named, start = _begin(begin) if begin is not None else (None, None)
    if start is None or named is None or compared is None or update is None or body is None:
        raise NotSafe(line, "the loop does not count upwards")
    counter = kernel[named]
    plain = "".join(kernel[update].split()) in [step.format(k=counter) for step in STEPS]
    if not plain or kernel[compared[0]] != counter or compared[1] != "<" or kernel.written(counter, body):
        raise NotSafe(line, "the loop does not count upwards one by one")
    if next(kernel.find(*LOOPS, "if_statement", within=body), None) is not None:
        raise NotSafe(line, "the loop is more than a sum")
    statements = [node for node in statements_of(body) if node.type not in ("comment", "declaration")]
    sums = [_sum(kernel, index, loop, counter, node) for node in statements]
    if all(sums):
        return RowLoop(loop, counter, start, tuple(one for one in sums if one))
    for node in statements:
        _check_stores_own(kernel, counter, node)
    return RowLoop(loop, counter, start)


def _begin(begin: Node) -> tuple[Node | None, Node | None]:
    """Counter and first value of `int k = 0` or `k = 0`."""
    if begin.type == "assignment_expression":
        return begin.children[0], begin.children[2]
    declared = begin.children_by_field_name("declarator") if begin.type == "declaration" else []
    if len(declared) != 1:
        return None, None
    return declared[0].child_by_field_name("declarator"), declared[0].child_by_field_name("value")


def _sum(kernel: KernelSource, index: GuardedIndex, loop: Node, counter: str, statement: Node) -> Sum | None:
    """None for a statement that is no sum.  NotSafe for one that the lanes cannot share."""
    assigned = statement.named_children[0] if statement.type == "expression_statement" else None
    if assigned is None or assigned.type != "assignment_expression":
        return None
    target, operator, value = assigned.children[0], kernel[assigned.children[1]], assigned.children[2]
    least = operator == "=" and value.type == "call_expression" and (
        kernel.called(value).removeprefix("std::") in EITHER
        and canonical(kernel, target) in [canonical(kernel, node) for node in _arguments(value)]
    )  # fmt: skip
    local = target.type == "identifier"
    if (operator != "+=" and not least) or not (local or target.type == "subscript_expression"):
        return None
    if not local and counter in kernel.reached(target.children[1]):
        return None
    kind = _type(kernel, target)
    if not kind or ELEMENT_BYTES.get(kernel.plain_type(kind), 4) < 4 or (least and not local):
        raise NotSafe(kernel.line(statement), f"{kernel[target]} may not be shuffled")
    uses = kernel.uses(kernel[target] if local else kernel[target.children[0]], loop)
    if len(uses) > (2 if least else 1):
        raise NotSafe(kernel.line(statement), f"the loop reads {kernel[target]}")
    return Sum(statement, target, kind, least or (local and _begins_with_zero(kernel, target, loop)))


def _arguments(call: Node) -> list[Node]:
    listed = call.child_by_field_name("arguments")
    return list(listed.named_children) if listed else []


def _type(kernel: KernelSource, target: Node) -> str:
    """Of a local variable, or of an element of a parameter; "" where it is not known."""
    if target.type == "subscript_expression":
        return next((p.type for p in kernel.parameters if p.pointer and p.name == kernel[target.children[0]]), "")
    declared = kernel.declarators(kernel[target]) if target.type == "identifier" else []
    kinds = [one.parent.child_by_field_name("type") for one in declared if one.parent]
    return kernel[kinds[0]] if len(kinds) == 1 and kinds[0] is not None else ""


def _begins_with_zero(kernel: KernelSource, target: Node, loop: Node) -> bool:
    name = kernel[target]
    (declarator,) = kernel.declarators(name)
    value = declarator.child_by_field_name("value")
    earlier = [use for use in kernel.written(name) if use.start_byte < loop.start_byte]
    return value is not None and kernel[value] in ZERO and not earlier


def _check_stores_own(kernel: KernelSource, counter: str, statement: Node) -> None:
    """NotSafe for a round that does more than to store elements of its own."""
    assigned = statement.named_children[0] if statement.type == "expression_statement" else statement
    target = assigned.children[0] if assigned.type == "assignment_expression" else None
    own = target is not None and target.type == "subscript_expression" and counter in kernel.reached(target.children[1])
    if target is None or not own:
        raise NotSafe(kernel.line(statement), "a loop does more than to add up or to store elements of its own")
    array = target.children[0]
    for use in kernel.uses(kernel[array]):
        if use.parent is None or canonical(kernel, use.parent) != canonical(kernel, target):
            raise NotSafe(kernel.line(use), f"{kernel[array]} is used other than as {kernel[target]}")


def _change(kernel: KernelSource, launch: LaunchFacts, index: GuardedIndex, loops: list[RowLoop]) -> Change:
    line = kernel.line(loops[0].loop)
    if launch.block[0] % WARP:
        raise NotSafe(line, f"blocks of {launch.block[0]} threads are no whole warps")
    if launch.grid[0] * launch.block[0] * WARP > LARGEST:
        raise NotSafe(line, f"the number of a thread may exceed {LARGEST:,}")
    declaration = index.declarator.parent
    assert declaration is not None
    lane, indent = kernel.fresh("lane", "lane_of_warp"), kernel.indent(declaration)
    edits = [
        Edit(index.start.start_byte, index.start.end_byte, f"({kernel[index.start]}) / {WARP}"),
        Edit(declaration.end_byte, declaration.end_byte, f"\n{indent}int {lane} = threadIdx.x % {WARP};"),
    ]
    for loop in loops:
        edits += _shared_loop(kernel, loop, lane)
    edits += _first_lane_only(kernel, index, loops, lane)
    whole = all(kernel.plain_type(one.type) in INTEGERS for loop in loops for one in loop.sums)
    return Change(
        "", f"a warp for each {index.name}: its lanes share the loop over {loops[0].counter}", line, tuple(edits),
        LaunchChange(grid_times=WARP), "exact" if whole else "order",
        f"blocks of a multiple of {WARP} threads, {WARP} for each {index.name}",
    )  # fmt: skip


def _shared_loop(kernel: KernelSource, loop: RowLoop, lane: str) -> list[Edit]:
    """The loop from the lane's number on in steps of a warp, and behind it the sum of all lanes."""
    update = loop.loop.child_by_field_name("update")
    assert update is not None
    first = lane if canonical(kernel, loop.start) == "0" else f"{kernel[loop.start]} + {lane}"
    edits = [
        Edit(loop.start.start_byte, loop.start.end_byte, first),
        Edit(update.start_byte, update.end_byte, f"{loop.counter} += {WARP}"),
    ]
    indent, before, behind = kernel.indent(loop.loop), "", ""
    for one in loop.sums:
        name = kernel[one.target] if one.whole else _fresh_sum(kernel, loop, one)
        offset, other = kernel.fresh("offset", "lanes"), f"__shfl_xor_sync({ALL}, {name}, "
        assigned = one.statement.named_children[0]
        value = assigned.children[2]
        if value.type == "call_expression" and kernel[assigned.children[1]] == "=":
            joined = f"{name} = {kernel.called(value)}({name}, {other}{offset}))"
        else:
            joined = f"{name} += {other}{offset})"
        head = f"for (int {offset} = {WARP // 2}; {offset} > 0; {offset} /= 2)"
        behind += f"\n{indent}{head} {joined};"
        if not one.whole:
            before += f"{indent}{one.type} {name} = 0;\n"
            edits.append(Edit(one.target.start_byte, one.target.end_byte, name))
            guard = "" if one.target.type == "identifier" else f"if ({lane} == 0) "
            behind += f"\n{indent}{guard}{kernel[one.target]} += {name};"
    pragma = loop.loop.prev_named_sibling
    top = pragma if pragma is not None and pragma.type == "preproc_call" else loop.loop
    if before:
        if not kernel.begins_line(top):
            raise NotSafe(kernel.line(top), "the loop does not begin a line")
        edits.append(Edit(kernel.line_start(top), kernel.line_start(top), before))
    return [*edits, Edit(loop.loop.end_byte, loop.loop.end_byte, behind)] if behind else edits


def _fresh_sum(kernel: KernelSource, loop: RowLoop, one: Sum) -> str:
    if len(loop.sums) == 1:
        return kernel.fresh("sum", "total", "part")
    return kernel.fresh(f"sum_of_{kernel[one.target if one.target.type == 'identifier' else one.target.children[0]]}")


def _first_lane_only(kernel: KernelSource, index: GuardedIndex, loops: list[RowLoop], lane: str) -> list[Edit]:
    """Stores outside of the loops are done once.  NotSafe where other lanes need what the first one does there."""
    once = [
        node for node in index.body
        if node not in [loop.loop for loop in loops] and node.type not in ("comment", "declaration", "preproc_call")
        and _stores(kernel, node)
    ]  # fmt: skip
    elements = [one.target for loop in loops for one in loop.sums if one.target.type == "subscript_expression"]
    stored = [node for statement in once for node in _stores(kernel, statement)] + elements
    for statement in once:
        for node in kernel.find("assignment_expression", "update_expression", within=statement):
            if node.named_children[0].type == "identifier":
                raise NotSafe(kernel.line(node), f"{kernel[node.named_children[0]]} is changed beside a store")
    for element in stored:
        name = next((kernel[node] for node in kernel.find("identifier", within=element)), "")
        for use in kernel.uses(name):
            if use.start_byte > element.end_byte and not any(inside(use, part) for part in (*once, *elements)):
                raise NotSafe(kernel.line(use), f"{name} is read behind a store")
    return [Edit(node.start_byte, node.start_byte, f"if ({lane} == 0) ") for node in once]


def _stores(kernel: KernelSource, statement: Node) -> list[Node]:
    """What a statement stores to, or updates by an atomic."""
    stored = [node for node in kernel.find("subscript_expression", "pointer_expression", within=statement)
              if _is_stored(kernel, node)]  # fmt: skip
    calls = kernel.find("call_expression", within=statement)
    return stored + [call for call in calls if kernel.called(call).startswith("atomic")]


def _is_stored(kernel: KernelSource, node: Node) -> bool:
    up = node.parent
    if up is None or (node.type == "pointer_expression" and kernel[node].startswith("&")):
        return False
    return up.type == "update_expression" or (up.type == "assignment_expression" and up.children[0] == node)

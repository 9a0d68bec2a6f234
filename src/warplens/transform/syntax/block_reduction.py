"""Block reduction: the loop in which a block adds up (or takes the least of ...) an array, half as many values a round.

for (s = 1; s < blockDim.x; s *= 2) if (t % (2 * s) == 0) d[t] += d[t + s];      "neighbours"
for (s = blockDim.x / 2; s > 0; s /= 2) if (t < s) d[t] += d[t + s];             "halves"
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from tree_sitter import Node

from warplens.transform.syntax.canonical_form import (
    canonical,
    comparison,
    conjuncts,
    is_block_size,
    is_grid_index,
    unwrapped,
)
from warplens.transform.syntax.for_loop import with_for_loops
from warplens.transform.syntax.guarded_index import NotSafe, statements_of
from warplens.transform.syntax.kernel_source import KernelSource, LaunchFacts, walk

BARRIER = "__syncthreads"
COMMUTATIVE = ("+", "*", "&", "|", "^")
FIRST_THREAD = ("0==threadIdx.x", "threadIdx.x<1", "!threadIdx.x")
EITHER = ("min", "max", "fmin", "fmax", "fminf", "fmaxf")


@dataclass(frozen=True)
class BlockReduction:
    """The loop of a reduction.

    step       variable of the loop, half or twice as large in the next round;  thread: the text of the thread's number
    array      that is reduced, its name, and the type of its elements
    test       the `if` of a round;  update: its statement;  left, right: the two elements in it
    helper     the declaration of the index 2 * s * t, None where there is none;  barrier: the one of a round
    local      variable that holds the thread's element besides, of `d[t] = v = v + d[t + s]`, "" where there is none
    """

    form: Literal["neighbours", "halves"]
    loop: Node
    step: str
    thread: str
    array: str
    element: str
    test: Node
    update: Node
    left: Node
    right: Node
    helper: Node | None
    barrier: Node
    local: str = ""

    @property
    def operation(self) -> Node:
        """The assignment that joins the two elements."""
        assigned = self.update.named_children[0]
        return assigned.children[2] if self.local else assigned

    @property
    def barrier_first(self) -> bool:
        return self.barrier.start_byte < self.test.start_byte


def block_reductions(kernel: KernelSource, launch: LaunchFacts) -> list[BlockReduction]:
    """The loops of this form.  NotSafe where the block is no power of two, or rows of it reduce on their own."""
    found = [one for loop in kernel.find("for_statement") if (one := _reduction(kernel, launch, loop))]
    for one in found:
        if launch.block[1:] != (1, 1) or launch.block[0] & (launch.block[0] - 1):
            raise NotSafe(kernel.line(one.loop), f"a block of {launch.threads} threads is not halved evenly")
        behind = [use for use in kernel.uses(one.local) if use.start_byte > one.loop.end_byte] if one.local else []
        for use in behind:
            if not _only_first_thread(kernel, use, one.thread):
                raise NotSafe(kernel.line(use), f"{kernel[use]} is used after the loop, not by the first thread alone")
        for use in _later(kernel, one):
            if not _is_first(kernel, one, use):
                raise NotSafe(kernel.line(use), f"{kernel[use]} is used after the loop, besides {one.array}[0]")
    return found


def with_for(kernel: KernelSource) -> KernelSource:
    """The kernel with its loops with barriers as `for`."""
    return with_for_loops(kernel, lambda source, loop: bool(source.calls(BARRIER, within=loop)))


def is_barrier(kernel: KernelSource, statement: Node) -> bool:
    return statement.type == "expression_statement" and bool(kernel.calls(BARRIER, within=statement))


def _later(kernel: KernelSource, reduction: BlockReduction) -> list[Node]:
    """Uses of the array behind the loop, also of the one into which it points."""
    pointers = {parameter.name for parameter in kernel.parameters if parameter.pointer}
    (declarator, *_) = [*kernel.declarators(reduction.array), None]
    names = {reduction.array} | (kernel.reached(declarator) & pointers if declarator else set())
    return [use for name in names for use in kernel.uses(name) if use.start_byte > reduction.loop.end_byte]


def check_all_take_part(kernel: KernelSource, launch: LaunchFacts, reduction: BlockReduction) -> str:
    """The promise by which no thread leaves before the loop, "" where none can.  NotSafe where some do."""
    promise = ""
    for leave in kernel.find("return_statement"):
        test = leave.parent
        while test is not None and test.type != "if_statement":
            test = test.parent
        condition = test.child_by_field_name("condition") if test else None
        if leave.start_byte > reduction.loop.start_byte or condition is None:
            continue
        compared = comparison(kernel, condition)
        if compared is None or not kernel.reached(condition) & {"threadIdx"}:
            raise NotSafe(kernel.line(leave), "a thread may leave before the loop")
        bound = kernel[compared[0]]
        whole = is_grid_index(canonical(kernel, compared[2]), launch) and bound in launch.numbers
        if not whole or launch.numbers[bound] % launch.block[0]:
            raise NotSafe(kernel.line(leave), "some threads of a block leave before the loop")
        promise = f"{bound} is a multiple of the block"
    return promise


def _is_first(kernel: KernelSource, reduction: BlockReduction, use: Node) -> bool:
    """Whether it is the use of the first element, or another variable of the same name."""
    up = use.parent
    if up is None or up.type != "subscript_expression":
        return False
    index = up.children[1].named_children[0]
    return canonical(kernel, index) == "0" or (
        canonical(kernel, index) == "threadIdx.x" and _only_first_thread(kernel, up, reduction.thread)
    )


def _only_first_thread(kernel: KernelSource, node: Node, thread: str) -> bool:
    up = node.parent
    while up is not None and up != kernel.body:
        condition = up.child_by_field_name("condition") if up.type == "if_statement" else None
        parts = conjuncts(kernel, condition) if condition else []
        if any(canonical(kernel, part) in (*FIRST_THREAD, f"!{thread}") for part in parts):
            return True
        up = up.parent
    return False


def first_thread_only(kernel: KernelSource, reduction: BlockReduction) -> bool:
    """Whether what follows the loop reads the result in thread 0 alone."""
    return all(_only_first_thread(kernel, use, reduction.thread) for use in _later(kernel, reduction))


def swapped(one: BlockReduction, left: str, right: str) -> Callable[[Node], str | None]:
    """For KernelSource.replaced: other texts for the two elements of an update."""

    def swap(node: Node) -> str | None:
        if node.type != "subscript_expression":
            return None
        return right if node == one.right else left

    return swap


def value_names(kernel: KernelSource, one: BlockReduction) -> tuple[str, ...]:
    """Names for what a thread has added up so far."""
    text = kernel[one.update.named_children[0]]
    for sign, names in (("min", ("least",)), ("max", ("greatest",)), ("+", ("sum", "total"))):
        if sign in text:
            return names
    return ("value",)


def _reduction(kernel: KernelSource, launch: LaunchFacts, loop: Node) -> BlockReduction | None:
    begin, condition = loop.child_by_field_name("initializer"), loop.child_by_field_name("condition")
    update, body = loop.child_by_field_name("update"), loop.child_by_field_name("body")
    if begin is None or condition is None or update is None or body is None or update.type != "assignment_expression":
        return None
    named, first = _begin(kernel, begin)
    form = _form(kernel, launch, named, first, condition, update)
    if form is None:
        return None
    statements = [node for node in statements_of(body) if node.type not in ("comment", "preproc_call")]
    barriers = [node for node in statements if is_barrier(kernel, node)]
    tests = [node for node in statements if node.type == "if_statement" and not node.child_by_field_name("alternative")]
    helpers = [node for node in statements if node.type == "declaration"]
    if len(barriers) != 1 or len(tests) != 1 or len(statements) != 2 + len(helpers) or len(helpers) > 1:
        return None
    (test,), (barrier,), helper = tests, barriers, helpers[0] if helpers else None
    guard, then = test.child_by_field_name("condition"), test.child_by_field_name("consequence")
    assert guard is not None
    assert then is not None
    inside = [node for node in statements_of(then) if node.type != "comment"]
    local = _local(kernel, inside[0], loop) if len(inside) == 1 else ""
    pair = _pair(kernel, inside[0], local) if len(inside) == 1 else None
    if pair is None or not _guards(kernel, launch, form, named, guard, pair, helpers):
        return None
    left, right = pair
    array = kernel[left.children[0]]
    thread = _thread(kernel, guard) or "threadIdx.x"
    element = _element(kernel, array)
    return BlockReduction(
        form, loop, named, thread, array, element, test, inside[0], left, right, helper, barrier, local
    )


def _begin(kernel: KernelSource, begin: Node) -> tuple[str, Node | None]:
    """Name and first value of the loop's variable."""
    if begin.type == "declaration":
        declared = begin.children_by_field_name("declarator")
        if len(declared) != 1 or declared[0].type != "init_declarator":
            return "", None
        named, value = declared[0].child_by_field_name("declarator"), declared[0].child_by_field_name("value")
        return (kernel[named] if named else ""), value
    if begin.type == "assignment_expression":
        return kernel[begin.children[0]], begin.children[2]
    return "", None


def _form(
    kernel: KernelSource, launch: LaunchFacts, name: str, first: Node | None, condition: Node, update: Node
) -> Literal["neighbours", "halves"] | None:
    compared = _end(kernel, condition)
    operator, factor = kernel[update.children[1]], kernel.constant(update.children[2])
    if first is None or compared is None or kernel[update.children[0]] != name:
        return None
    low, relation, high = compared
    ups, downs = (("*=", 2), ("<<=", 1)), (("/=", 2), (">>=", 1))
    begin = canonical(kernel, first)
    if begin == "1" and (operator, factor) in ups and kernel[low] == name and relation == "<":
        return "neighbours" if is_block_size(canonical(kernel, high), launch) else None
    ends = (canonical(kernel, low), relation) in (("0", "<"), ("0", "!="), ("1", "<="))
    half = begin == str(launch.block[0] // 2) or (begin.endswith("/2") and is_block_size(begin[:-2], launch))
    if half and (operator, factor) in downs and kernel[high] == name and ends:
        return "halves"
    return None


def _end(kernel: KernelSource, condition: Node) -> tuple[Node, str, Node] | None:
    """A comparison as that function has it, or `0 != s`."""
    node = unwrapped(condition)
    if node.type == "binary_expression" and kernel[node.children[1]] == "!=":
        left, right = node.children[0], node.children[2]
        return (left, "!=", right) if canonical(kernel, left) == "0" else (right, "!=", left)
    return comparison(kernel, node)


def _local(kernel: KernelSource, statement: Node, loop: Node) -> str:
    """v of `d[t] = v = v + d[t + s]`, where `d[t] = v` stands before the loop; "" for another update."""
    outer = statement.named_children[0] if statement.type == "expression_statement" else None
    inner = outer.children[2] if outer is not None and outer.type == "assignment_expression" else None
    if outer is None or inner is None or inner.type != "assignment_expression":
        return ""
    name, same = kernel[inner.children[0]], f"{canonical(kernel, outer.children[0])}={kernel[inner.children[0]]}"
    for node in kernel.find("assignment_expression"):
        before = f"{canonical(kernel, node.children[0])}={kernel[node.children[2]]}"
        if node.end_byte < loop.start_byte and before == same and inner.children[0].type == "identifier":
            return name
    return ""


def _pair(kernel: KernelSource, statement: Node, local: str) -> tuple[Node, Node] | None:
    """The two elements of a commutative update: d[a] += d[b], d[a] = d[a] + d[b], d[a] = max(d[a], d[b])."""
    assigned = statement.named_children[0] if statement.type == "expression_statement" else None
    if assigned is None or assigned.type != "assignment_expression":
        return None
    left, operator, right = assigned.children[0], kernel[assigned.children[1]], unwrapped(assigned.children[2])
    if left.type != "subscript_expression" or left.children[0].type != "identifier":
        return None
    mine = canonical(kernel, left)
    if local:
        operator, right, mine = kernel[right.children[1]], unwrapped(right.children[2]), local
    if operator == "=":
        if right.type == "binary_expression" and kernel[right.children[1]] in COMMUTATIVE:
            sides = [right.children[0], right.children[2]]
        elif right.type == "call_expression" and kernel.called(right).removeprefix("std::") in EITHER:
            listed = right.child_by_field_name("arguments")
            sides = list(listed.named_children) if listed else []
        else:
            return None
        others = [side for side in sides if canonical(kernel, side) != mine]
        if len(sides) != 2 or len(others) != 1:
            return None
        right = others[0]
    elif operator[:-1] not in COMMUTATIVE:
        return None
    same = right.type == "subscript_expression" and kernel[right.children[0]] == kernel[left.children[0]]
    return (left, right) if same else None


def _guards(
    kernel: KernelSource, launch: LaunchFacts, form: str, step: str, guard: Node, pair: tuple[Node, Node],
    helpers: list[Node],
) -> bool:  # fmt: skip
    """Whether the threads that work, and the two elements, are those of the form."""
    at, other = (canonical(kernel, element.children[1].named_children[0]) for element in pair)
    if "+".join(sorted([*at.split("+"), step])) != other:
        return False
    # the second element lies in the block wherever the first does: that it does may be tested besides
    conditions = [part for part in conjuncts(kernel, guard) if not _in_block(kernel, launch, part, other)]
    if not conditions:
        conditions = conjuncts(kernel, guard)[:1] if form == "neighbours" and at != "threadIdx.x" else []
    if len(conditions) != 1:
        return False
    found = canonical(kernel, conditions[0])
    if form == "halves":
        return at == "threadIdx.x" and found == f"threadIdx.x<{step}" and not helpers
    if at == "threadIdx.x":
        twice = f"2*{step}"
        return not helpers and found in (f"0==(threadIdx.x%({twice}))", f"0==((2*{step}+-1)&threadIdx.x)")
    if at != "*".join(["2", *sorted((step, "threadIdx.x"))]):
        return False
    return _in_block(kernel, launch, conditions[0], at) or _in_block(kernel, launch, conditions[0], other)


def _in_block(kernel: KernelSource, launch: LaunchFacts, condition: Node, index: str) -> bool:
    compared = comparison(kernel, condition)
    return (
        compared is not None and compared[1] == "<" and canonical(kernel, compared[0]) == index
        and is_block_size(canonical(kernel, compared[2]), launch)
    )  # fmt: skip


def _thread(kernel: KernelSource, node: Node) -> str:
    """What the thread's number is called there."""
    for part in walk(node):
        if part.type in ("identifier", "field_expression") and canonical(kernel, part) == "threadIdx.x":
            return kernel[part]
    for part in kernel.find("identifier", within=node):  # inside of an index that was declared before
        if (value := kernel.value(kernel[part])) is not None and (found := _thread(kernel, value)):
            return found
    return ""


def _element(kernel: KernelSource, array: str) -> str:
    """Type of the elements of an array or pointer, "" where it is not known."""
    for parameter in kernel.parameters:
        if parameter.name == array:
            return parameter.type
    for declarator in kernel.declarators(array):
        kind = declarator.parent.child_by_field_name("type") if declarator.parent else None
        if kind is not None and kernel[kind] != "auto":
            return kernel[kind]
    return ""

"""Guarded index: the number of a thread in the grid as an index of elements, and the test or loop that ends it.

int i = blockIdx.x * blockDim.x + threadIdx.x;
if (i < n) ...                                     form "if", or "return": if (i >= n) return; ...

for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) ...      form "loop"

int i = blockIdx.x * blockDim.x + threadIdx.x; ...      form "all": every thread has an element
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal

from tree_sitter import Node

from warplens.transform.syntax.canonical_form import (
    canonical,
    comparison,
    conjuncts,
    is_grid_index,
    is_grid_size,
    without_casts,
)
from warplens.transform.syntax.for_loop import LOOPS
from warplens.transform.syntax.kernel_source import KernelSource, LaunchFacts

BUILT_IN = ("threadIdx", "blockIdx", "blockDim", "gridDim")
LARGEST = 2**31 - 1
# Calls that need the other threads of a warp or block, or whose order can be seen.
COLLECTIVE = (
    "__sync", "__shfl", "__ballot", "__any", "__all", "__match", "__reduce", "__activemask", "clock", "printf",
    "this_thread", "cooperative_groups", "cg::",
)  # fmt: skip
LEAVING = ("return_statement", "goto_statement", "gnu_asm_expression", "lambda_expression")


@dataclass(frozen=True)
class GuardedIndex:
    """The index of an elementwise kernel.

    name, type    of the index;  start: its first value;  declarator: where it gets it
    guard         the statement that ends it;  bound: what it stays below; in form "all" its declaration and start
    others        further conditions of an "if";  body: what is done for one index
    sums          variables to which a loop adds
    """

    form: Literal["if", "return", "loop", "all"]
    name: str
    type: str
    start: Node
    declarator: Node
    guard: Node
    bound: Node
    others: tuple[Node, ...]
    body: tuple[Node, ...]
    sums: tuple[str, ...] = ()


class NotSafe(Exception):
    """Why a change is not made: the line and the reason."""

    def __init__(self, line: int, reason: str) -> None:
        self.line, self.reason = line, reason


def guarded_index(
    kernel: KernelSource, launch: LaunchFacts, one_index: bool = False, adding: bool = False, unguarded: bool = False
) -> GuardedIndex | None:
    """The one of a kernel, None where it has another form.  NotSafe where it has, and is not safe to change.

    one_index   whether a thread keeps to one index, so that what is computed from it before the guard may be used
    adding      whether a loop may add to variables, which what follows it uses
    unguarded   whether it may be without a guard: where a change keeps the number of elements
    """
    for position, statement in enumerate(kernel.body.named_children):
        rest = kernel.body.named_children[position + 1 :]
        found = None
        if statement.type in ("comment", "preproc_call", "declaration"):
            continue
        if statement.type == "if_statement":
            found = _test(kernel, launch, statement, rest)
        elif statement.type == "for_statement" and (adding or not rest):
            found = _loop(kernel, launch, statement)
        if found is None:
            return _all(kernel, launch, one_index) if unguarded else None
        if adding and found.form == "loop":
            found = replace(found, sums=_sums(kernel, found))
        _check(kernel, launch, found, one_index)
        return found
    return None


def _all(kernel: KernelSource, launch: LaunchFacts, one_index: bool) -> GuardedIndex | None:
    """A variable at the top that is the number of the thread, and all that follows it; None where it is not safe to
    change: nothing says that this kernel has an element for each thread."""
    for position, statement in enumerate(kernel.body.named_children):
        for declarator in statement.named_children if statement.type == "declaration" else ():
            start, named = (declarator.child_by_field_name(field) for field in ("value", "declarator"))
            if start is None or named is None or not is_grid_index(canonical(kernel, start), launch):
                continue
            rest = tuple(kernel.body.named_children[position + 1 :])
            kind = _type(kernel, declarator)
            found = GuardedIndex("all", kernel[named], kind, start, declarator, statement, start, (), rest)
            with suppress(NotSafe):
                _check(kernel, launch, found, one_index)
                return found
    return None


def _sums(kernel: KernelSource, found: GuardedIndex) -> tuple[str, ...]:
    """Variables declared before a loop that it uses only to add to them."""
    names = []
    for use in [use for part in found.body for use in kernel.find("identifier", within=part)]:
        up, name = use.parent, kernel[use]
        adds = up is not None and up.type == "assignment_expression" and kernel[up.children[1]] == "+="
        if adds and up is not None and up.children[0] == use and name not in names:
            uses = [one for part in found.body for one in kernel.uses(name, part)]
            if uses == [use] and all(one.start_byte < found.guard.start_byte for one in kernel.declarators(name)):
                names.append(name)
    return tuple(names)


def inside(node: Node, outer: Node) -> bool:
    return outer.start_byte <= node.start_byte and node.end_byte <= outer.end_byte


def statements_of(node: Node) -> tuple[Node, ...]:
    """The statements of a block, or the one that stands without braces."""
    return tuple(node.named_children) if node.type == "compound_statement" else (node,)


def _test(kernel: KernelSource, launch: LaunchFacts, test: Node, rest: list[Node]) -> GuardedIndex | None:
    condition, then = test.child_by_field_name("condition"), test.child_by_field_name("consequence")
    assert condition is not None
    assert then is not None
    returns = [node.type for node in statements_of(then)] == ["return_statement"]
    if test.child_by_field_name("alternative") or bool(rest) != returns:
        return None
    parts = conjuncts(kernel, condition)
    for part in parts:
        if (compared := comparison(kernel, part)) is None:
            continue
        left, operator, right = compared
        index, bound = (right, left) if returns else (left, right)
        if operator != ("<=" if returns else "<") or index.type != "identifier" or (returns and len(parts) > 1):
            continue
        name = kernel[index]
        if not is_grid_index(canonical(kernel, index), launch) or len(kernel.declarators(name)) != 1:
            continue
        (declarator,) = kernel.declarators(name)
        start = declarator.child_by_field_name("value")
        assert start is not None
        others = tuple(other for other in parts if other != part)
        body = tuple(rest) if returns else statements_of(then)
        form: Literal["return", "if"] = "return" if returns else "if"
        return GuardedIndex(form, name, _type(kernel, declarator), start, declarator, test, bound, others, body)
    return None


def _loop(kernel: KernelSource, launch: LaunchFacts, loop: Node) -> GuardedIndex | None:
    begin, condition = loop.child_by_field_name("initializer"), loop.child_by_field_name("condition")
    update, body = loop.child_by_field_name("update"), loop.child_by_field_name("body")
    if begin is None or begin.type != "declaration" or condition is None or update is None or body is None:
        return None
    declared, compared = begin.children_by_field_name("declarator"), comparison(kernel, condition)
    if len(declared) != 1 or declared[0].type != "init_declarator" or compared is None or compared[1] != "<":
        return None
    start, step = declared[0].child_by_field_name("value"), update.child_by_field_name("right")
    named = declared[0].child_by_field_name("declarator")
    if start is None or step is None or named is None or update.type != "assignment_expression":
        return None
    name = kernel[named]
    operator = kernel[update.children[1]]
    counts = kernel[update.children[0]] == name and operator == "+=" and is_grid_size(canonical(kernel, step), launch)
    if not counts or kernel[compared[0]] != name or not is_grid_index(canonical(kernel, start), launch):
        return None
    kind = _type(kernel, declared[0])
    return GuardedIndex("loop", name, kind, start, declared[0], loop, compared[2], (), statements_of(body))


def _type(kernel: KernelSource, declarator: Node) -> str:
    declaration = declarator.parent
    kind = declaration.child_by_field_name("type") if declaration else None
    return kernel[kind] if kind else "int"


def _check(kernel: KernelSource, launch: LaunchFacts, found: GuardedIndex, one_index: bool) -> None:
    """NotSafe where the body needs to know which thread works, or may leave early."""
    line = kernel.line(found.guard)
    if launch.grid[1:] != (1, 1) or launch.block[1:] != (1, 1):
        raise NotSafe(line, "the grid has more than one dimension")
    bound: float = 0
    if found.form != "all":
        bare = without_casts(kernel, found.bound)
        if kernel.reached(bare) & {found.name, "threadIdx"} or list(
            kernel.find("call_expression", "subscript_expression", "pointer_expression", within=bare)
        ):
            raise NotSafe(line, f"the bound of {found.name} may change: {kernel[found.bound]}")
        bound = launch.numbers.get(kernel[bare], 0)
    if bound + 8 * launch.grid[0] * launch.threads > LARGEST:
        raise NotSafe(line, f"{found.name} may exceed {LARGEST:,}")
    for statement in (*found.others, *found.body):
        _check_part(kernel, found, statement, one_index)


def _check_part(kernel: KernelSource, found: GuardedIndex, part: Node, one_index: bool) -> None:
    if written := kernel.written(found.name, part):
        raise NotSafe(kernel.line(written[0]), f"{found.name} is changed")
    for name in kernel.reached(found.bound):
        if written := kernel.written(name, part):
            raise NotSafe(kernel.line(written[0]), f"{name}, which bounds {found.name}, is changed")
    for node in kernel.find(*LEAVING, within=part):
        raise NotSafe(kernel.line(node), f"{kernel[node].split()[0].rstrip(';')} stands in the middle")
    for node in kernel.find("continue_statement", "break_statement", within=part):
        inner = kernel.find(*LOOPS, "switch_statement", within=part)
        if not any(inside(node, loop) for loop in inner):
            raise NotSafe(kernel.line(node), f"{kernel[node].rstrip(';')} stands in the middle")
    for node in kernel.find("identifier", within=part):
        if kernel[node] in BUILT_IN:
            raise NotSafe(kernel.line(node), f"{kernel[node]} is used besides {found.name}")
        for local in kernel.declarators(kernel[node]):
            earlier = local.start_byte < found.guard.start_byte and local != found.declarator
            if earlier and kernel[node] not in found.sums and not (one_index and _follows(kernel, local, found.name)):
                _check_earlier(kernel, local, node, part)
    for call in kernel.find("call_expression", within=part):
        name = kernel.called(call)
        function = kernel.functions.get(name)
        if name.startswith(COLLECTIVE) or (function and _of_thread(kernel, function)):
            raise NotSafe(kernel.line(call), f"{name} needs to know the thread, or the others")


def _follows(kernel: KernelSource, local: Node, index: str) -> bool:
    """Whether a variable depends on the thread through the index alone."""
    todo, seen = [local], {index}
    while todo:
        for leaf in kernel.find("identifier", within=todo.pop()):
            if (name := kernel[leaf]) in BUILT_IN:
                return False
            if name not in seen:
                seen.add(name)
                todo += [value for one in kernel.declarators(name) if (value := one.child_by_field_name("value"))]
                todo += [use.parent for use in kernel.written(name) if use.parent]
    return True


def _check_earlier(kernel: KernelSource, local: Node, use: Node, part: Node) -> None:
    """NotSafe for a variable declared before the guard, unless it is the same for all elements."""
    name, line = kernel[use], kernel.line(use)
    if local.type == "array_declarator" or kernel.written(name, part):
        raise NotSafe(line, f"{name} keeps something from one element to the next")
    value = local.child_by_field_name("value")
    if value is not None and kernel.reached(value) & {"threadIdx", "blockIdx"}:
        raise NotSafe(line, f"{name} is computed from the thread's number")


def _of_thread(kernel: KernelSource, function: Node) -> bool:
    """Whether a function looks at the thread's number, or needs other threads."""
    names = [kernel[node] for node in kernel.find("identifier", within=function)]
    return any(name in BUILT_IN or name.startswith(COLLECTIVE) for name in names)

"""Shared row: what a thread reads again in each round of a loop, rows apart from other lanes, stays in shared memory.

for (int c = 0; c < k; ++c) {
  float d = 0;
  for (int j = 0; j < dims; ++j) d += (points[i * dims + j] - centers[c * dims + j]) * ...

Each round of the outer loop reads points[i * dims + j] again, in as many sectors as a warp has lanes.  A column of a
shared array for each thread keeps it where 32 lanes reach 32 banks.
"""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from warplens.transform._change import Change, Edit, Proposals, Refusal, transform
from warplens.transform.syntax.accumulation import STEPS
from warplens.transform.syntax.canonical_form import canonical, comparison
from warplens.transform.syntax.for_loop import LOOPS
from warplens.transform.syntax.guarded_index import NotSafe, inside
from warplens.transform.syntax.kernel_source import KernelSource, LaunchFacts
from warplens.transform.syntax.lane_stride import number_of

MOST_SHARED = 48 * 1024


@transform("uncoalesced_access", "redundant_loads")
def shared_row(kernel: KernelSource, launch: LaunchFacts) -> Proposals:
    seen = set[str]()
    for inner in kernel.find("for_statement"):
        outer = _outer(inner)
        counted = _counted(kernel, inner)
        if outer is None or counted is None:
            continue
        counter, bound = counted
        for element in _own_elements(kernel, outer, inner, counter):
            if (form := kernel[element]) in seen:
                continue
            seen.add(form)
            try:
                yield _change(kernel, launch, outer, element, counter, bound)
            except NotSafe as reason:
                yield Refusal("", reason.line, f"{form} is loaded again each time: {reason.reason}")


def _outer(inner: Node) -> Node | None:
    """The outermost loop around a loop; None where there is none."""
    found, up = None, inner.parent
    while up is not None and up.type != "function_definition":
        found = up if up.type in LOOPS else found
        up = up.parent
    return found


def _counted(kernel: KernelSource, loop: Node) -> tuple[str, Node] | None:
    """Counter and bound of `for (int j = 0; j < dims; ++j)`."""
    begin, condition, update = (loop.child_by_field_name(name) for name in ("initializer", "condition", "update"))
    declared = begin.children_by_field_name("declarator") if begin is not None and begin.type == "declaration" else []
    compared = comparison(kernel, condition) if condition is not None else None
    if len(declared) != 1 or compared is None or update is None or compared[1] != "<":
        return None
    named, start = (declared[0].child_by_field_name(name) for name in ("declarator", "value"))
    if named is None or canonical(kernel, start) != "0" or kernel[compared[0]] != kernel[named]:
        return None
    steps = "".join(kernel[update].split()) in [step.format(k=kernel[named]) for step in STEPS]
    return (kernel[named], compared[2]) if steps else None


def _own_elements(kernel: KernelSource, outer: Node, inner: Node, counter: str) -> Iterator[Node]:
    """Elements that depend on the thread and on the counter, and on nothing that changes in the outer loop."""
    read_only = {one.name for one in kernel.parameters if one.pointer} - _stored(kernel)
    for node in kernel.find("subscript_expression", within=inner):
        array, names = node.children[0], kernel.reached(node.children[1])
        if array.type != "identifier" or not (_roots(kernel, array) <= read_only and _roots(kernel, array)):
            continue
        names |= kernel.reached(array)
        if counter not in names or "threadIdx" not in names:
            continue
        others = _leaves(kernel, node.children[1]) - {counter}
        fixed = all(
            not kernel.written(name, outer) and not any(inside(one, outer) for one in kernel.declarators(name))
            for name in others
        )  # fmt: skip
        if fixed:
            yield node


def _leaves(kernel: KernelSource, node: Node) -> set[str]:
    return {kernel[leaf] for leaf in kernel.find("identifier", within=node)}


def _roots(kernel: KernelSource, array: Node) -> set[str]:
    """The parameters into which an array points; {"?"} where it may point elsewhere from time to time."""
    name, pointers = kernel[array], {one.name for one in kernel.parameters if one.pointer}
    if name in pointers:
        return {name}
    value = kernel.value(name)
    return kernel.reached(value) & pointers if value is not None else {"?"}


def _stored(kernel: KernelSource) -> set[str]:
    """Parameters that are written to, or passed to functions."""
    pointers, found = {one.name for one in kernel.parameters if one.pointer}, set[str]()
    changed = kernel.find("assignment_expression", "update_expression")
    for node in changed:
        target = node.child_by_field_name("left") or node.named_children[0]
        if target.type != "identifier":
            found |= kernel.reached(target.children[0]) & pointers
    for call in kernel.find("argument_list"):
        found |= {kernel[node] for node in call.named_children if node.type == "identifier"} & pointers
    for node in kernel.find("pointer_expression"):
        found |= kernel.reached(node) & pointers
    return found


def _change(
    kernel: KernelSource, launch: LaunchFacts, outer: Node, element: Node, counter: str, bound: Node
) -> Change:  # fmt: skip
    line, array = kernel.line(element), kernel[element.children[0]]
    length = number_of(kernel, bound, launch.numbers)
    kind = _type(kernel, array)
    each = kernel.element_bytes(kind)
    if launch.block[1:] != (1, 1):
        raise NotSafe(line, "blocks have more than one dimension")
    if not length or each is None:
        raise NotSafe(line, f"its type, or the number {kernel[bound]}, is not known")
    size = length * each * launch.block[0]
    if size + launch.shared > MOST_SHARED:
        raise NotSafe(line, f"{size:,} bytes a block do not fit into shared memory")
    if not kernel.begins_line(outer) or outer.parent is None or outer.parent.type != "compound_statement":
        raise NotSafe(line, "the loop stands alone under a condition")
    for name in _leaves(kernel, bound):
        if kernel.written(name, outer) or any(inside(one, outer) for one in kernel.declarators(name)):
            raise NotSafe(line, f"{name} changes")
    row, indent = kernel.fresh(f"own_{array}", f"row_of_{array}"), kernel.indent(outer)
    above = outer.prev_named_sibling
    top = above if above is not None and above.type == "preproc_call" else outer
    size_text = kernel[bound] if kernel.constant(bound) is not None or not launch.numbers.get(kernel[bound]) else length
    loaded = (
        f"{indent}__shared__ {kind} {row}[{size_text}][{launch.block[0]}];\n"
        f"{indent}for (int {counter} = 0; {counter} < {kernel[bound]}; ++{counter}) "
        f"{row}[{counter}][threadIdx.x] = {kernel[element]};\n"
    )
    places = [
        node for node in kernel.find("subscript_expression", within=outer)
        if kernel[node] == kernel[element] and _within_counter(kernel, node, outer, counter, bound)
    ]  # fmt: skip
    edits = [Edit(kernel.line_start(top), kernel.line_start(top), loaded)]
    edits += [Edit(node.start_byte, node.end_byte, f"{row}[{counter}][threadIdx.x]") for node in places]
    promise = f"blocks of at most {launch.block[0]} threads"
    if size_text == length:
        promise += f", and {kernel[bound]} is at most {length}"
    title = f"keep {kernel[element]}, which is read in each round, in shared memory"
    return Change("", title, line, tuple(edits), promise=promise)


def _within_counter(kernel: KernelSource, node: Node, outer: Node, counter: str, bound: Node) -> bool:
    """Whether an element stands in a loop of this counter from 0 to this bound."""
    up = node.parent
    while up is not None and up != outer:
        if up.type == "for_statement" and (counted := _counted(kernel, up)) is not None and counted[0] == counter:
            return kernel[counted[1]] == kernel[bound]
        up = up.parent
    return False


def _type(kernel: KernelSource, array: str) -> str:
    """Of an array's elements."""
    for one in kernel.parameters:
        if one.pointer and one.name == array:
            return one.type
    for declarator in kernel.declarators(array):
        kind = declarator.parent.child_by_field_name("type") if declarator.parent is not None else None
        return kernel[kind] if kind is not None else ""
    return ""

"""Accumulation: the loops in which a thread of an elementwise kernel adds up, which several threads can share.

for (int k = 0; k < width; ++k) sum += x[row * width + k];
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tree_sitter import Node

from warplens.transform._change import Edit
from warplens.transform.syntax.block_reduction import EITHER
from warplens.transform.syntax.canonical_form import canonical, comparison, unwrapped
from warplens.transform.syntax.for_loop import LOOPS
from warplens.transform.syntax.guarded_index import NotSafe, inside, statements_of
from warplens.transform.syntax.kernel_source import ELEMENT_BYTES, KernelSource
from warplens.transform.syntax.private_variable import is_work_of_a_round, skips_a_round

ZERO = ("0", "0.", "0.0", "0.f", "0.0f", "0u")
FUSED = ("fma", "fmaf", "__fmaf_rn", "__fma_rn")
STEPS = ("{k}++", "++{k}", "{k}+=1", "{k}={k}+1")


@dataclass(frozen=True)
class Sum:
    """One `sum += value` of a loop, `sum = sum + value`, `sum = max(sum, value)` or `if (sum < value) sum = value`.

    target   the variable, or the element of an array;  type: of what is added up;  places: of the target in the loop
    join     the function that joins two parts, "" for their sum
    whole    whether each part may begin with what the variable has before the loop
    place    of `if (v > m) { m = v; place = k; }`: the variable that keeps the counter, None for other sums
    local    whether it is the thread's own: a variable, or element of a local array
    """

    target: Node
    type: str
    places: tuple[Node, ...]
    join: str
    whole: bool
    place: Node | None = None

    local: bool = True

    @property
    def name(self) -> Node:
        """Of the variable or array."""
        return self.target if self.target.type == "identifier" else self.target.children[0]

    def joined(self, kernel: KernelSource, part: str, other: str) -> str:
        """The statement that adds another part to one."""
        return f"{part} = {self.join}({part}, {other});" if self.join else f"{part} += {other};"


@dataclass(frozen=True)
class RowLoop:
    """A loop along a row or column.

    start    of `counter`;  sums: () where each round stores an element of its own
    around   the outermost of the loops around it that only go through rows, or itself
    """

    loop: Node
    counter: str
    start: Node
    sums: tuple[Sum, ...]
    around: Node

    @property
    def update(self) -> Node:
        found = self.loop.child_by_field_name("update")
        assert found is not None
        return found


def row_loops(kernel: KernelSource, body: Sequence[Node], innermost: bool = False) -> list[RowLoop]:
    """Those of a body, whose rounds can be shared out; or the innermost ones in these.  NotSafe for another one."""
    loops = [node for node in body if node.type in LOOPS]
    inner = [_innermost(kernel, node) if innermost else node for node in loops]
    found = [replace(_row_loop(kernel, one), around=node) for one, node in zip(inner, loops, strict=True)]
    for statement in body:
        if statement.type in LOOPS:
            continue
        if next(kernel.find(*LOOPS, within=statement), None) is not None:
            raise NotSafe(kernel.line(statement), "a loop stands under a condition")
        for name in {loop.counter for loop in found}:
            if statement.type != "declaration" and kernel.uses(name, statement):
                raise NotSafe(kernel.line(statement), f"{name} is used behind its loop")
    return found


def _innermost(kernel: KernelSource, loop: Node) -> Node:
    """The loop within loops around which nothing is done that counts."""
    body = loop.child_by_field_name("body")
    statements = _statements(body) if body is not None else []
    inner = [node for node in statements if node.type == "for_statement" and not is_work_of_a_round(kernel, loop, node)]
    others = [node for node in statements if node not in inner and node.type != "preproc_call"]
    if len(inner) != 1 or not all(is_work_of_a_round(kernel, loop, node) for node in others):
        return loop
    return _innermost(kernel, inner[0])


def _row_loop(kernel: KernelSource, loop: Node) -> RowLoop:
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
    sums: dict[str, Sum] = {}
    for node in _statements(body):
        if skips_a_round(kernel, node) or is_work_of_a_round(kernel, loop, node):
            continue
        if (several := _sums(kernel, loop, counter, node)) is not None:
            sums |= {kernel[one.target]: one for one in several}
        else:
            _check_stores_own(kernel, counter, node)
    return RowLoop(loop, counter, start, tuple(sums.values()), loop)


def _statements(body: Node) -> list[Node]:
    return [node for node in statements_of(body) if node.type not in ("comment", "declaration")]


def _begin(begin: Node) -> tuple[Node | None, Node | None]:
    """Counter and first value of `int k = 0` or `k = 0`."""
    if begin.type == "assignment_expression":
        return begin.children[0], begin.children[2]
    declared = begin.children_by_field_name("declarator") if begin.type == "declaration" else []
    if len(declared) != 1:
        return None, None
    return declared[0].child_by_field_name("declarator"), declared[0].child_by_field_name("value")


def _sums(kernel: KernelSource, loop: Node, counter: str, statement: Node) -> list[Sum] | None:
    """Those of a statement, also under conditions; None where it is none.  NotSafe where they cannot be shared."""
    if statement.type == "if_statement":
        return _sums_of_choice(kernel, loop, counter, statement)
    if statement.type == "for_statement":
        body = statement.child_by_field_name("body")
        return _sums_of_all(kernel, loop, counter, _statements(body)) if body is not None else None
    assigned = statement.named_children[0] if statement.type == "expression_statement" else None
    if assigned is not None and assigned.type == "update_expression" and "++" in kernel[assigned]:
        return _checked(kernel, loop, counter, assigned.named_children[0], (assigned.named_children[0],), "")
    if assigned is None or assigned.type != "assignment_expression":
        return None
    target, operator, value = assigned.children[0], kernel[assigned.children[1]], unwrapped(assigned.children[2])
    if operator in ("+=", "-="):
        return _checked(kernel, loop, counter, target, (target,), "")
    same = [node for node in _parts(kernel, value) if canonical(kernel, node) == canonical(kernel, target)]
    if operator != "=" or len(same) != 1:
        return None
    called = kernel.called(value) if value.type == "call_expression" else ""
    join = called if called.removeprefix("std::") in EITHER else ""
    return _checked(kernel, loop, counter, target, (target, same[0]), join)


def _sums_of_choice(kernel: KernelSource, loop: Node, counter: str, choice: Node) -> list[Sum] | None:
    """Those of `if (...) ... else ...`."""
    condition, then, other = (choice.child_by_field_name(name) for name in ("condition", "consequence", "alternative"))
    assert condition is not None
    assert then is not None
    if other is not None:
        branches = [*_statements(then), *(node for node in other.named_children if node.type != "comment")]
        return _sums_of_all(kernel, loop, counter, branches)
    if (greatest := _choice(kernel, condition, _statements(then))) is not None:
        return _checked(kernel, loop, counter, *greatest)
    if (placed := _placed(kernel, loop, counter, condition, _statements(then))) is not None:
        return placed
    return _sums_of_all(kernel, loop, counter, _statements(then))


def _sums_of_all(kernel: KernelSource, loop: Node, counter: str, statements: list[Node]) -> list[Sum] | None:
    found: list[Sum] = []
    for node in statements:
        if node.type == "compound_statement":
            several = _sums_of_all(kernel, loop, counter, _statements(node))
        elif is_work_of_a_round(kernel, loop, node):
            continue
        else:
            several = _sums(kernel, loop, counter, node)
        if several is None:
            return None
        found += several
    return found


def _parts(kernel: KernelSource, value: Node) -> list[Node]:
    """What is added up, or of what the larger or smaller is taken."""
    if value.type == "binary_expression" and kernel[value.children[1]] == "+":
        return [value.children[0], value.children[2]]
    arguments = _arguments(value) if value.type == "call_expression" else []
    called = kernel.called(value).removeprefix("std::") if arguments else ""
    return arguments if called in EITHER else arguments[2:] if called in FUSED else []


def _choice(kernel: KernelSource, condition: Node, then: list[Node]) -> tuple[Node, tuple[Node, ...], str] | None:
    """Target, its places and the joining function of `if (m < value) m = value`."""
    compared = comparison(kernel, condition)
    assigned = then[0].named_children[0] if len(then) == 1 and then[0].type == "expression_statement" else None
    if compared is None or assigned is None or assigned.type != "assignment_expression":
        return None
    target, value = assigned.children[0], canonical(kernel, assigned.children[2])
    for place, other, join in ((compared[0], compared[2], "max"), (compared[2], compared[0], "min")):
        if (canonical(kernel, place), canonical(kernel, other)) == (canonical(kernel, target), value):
            return (target, (place, target), join) if kernel[assigned.children[1]] == "=" else None
    return None


def _placed(kernel: KernelSource, loop: Node, counter: str, condition: Node, then: list[Node]) -> list[Sum] | None:
    """Of `if (v > m) { m = v; place = k; }` with the counter k: the first place of the greatest (or least) value."""
    compared = comparison(kernel, condition)
    assigned = [node.named_children[0] for node in then if node.type == "expression_statement"]
    if compared is None or compared[1] != "<" or len(then) != 2 or len(assigned) != 2:
        return None
    for value, place in (assigned, assigned[::-1]):
        plain = all(one.type == "assignment_expression" and kernel[one.children[1]] == "=" for one in (value, place))
        variable = place.children[0] if plain else None
        if variable is None or variable.type != "identifier" or kernel[place.children[2]] != counter:
            continue
        statement = value.parent
        greatest = _choice(kernel, condition, [statement]) if statement is not None else None
        declared = kernel.declarators(kernel[variable])
        if greatest is None or len(declared) != 1 or len(kernel.uses(kernel[variable], loop)) != 1:
            continue
        if _type(kernel, variable) not in ("int", "unsigned", "unsigned int", "int32_t", "uint32_t"):
            raise NotSafe(kernel.line(variable), f"{kernel[variable]} may not be shuffled")
        checked = _checked(kernel, loop, counter, *greatest)
        return checked and [replace(one, place=variable) for one in checked]
    return None


def _checked(
    kernel: KernelSource, loop: Node, counter: str, target: Node, places: tuple[Node, ...], join: str
) -> list[Sum] | None:
    variable = target.type == "identifier"
    if not variable and (target.type != "subscript_expression" or _changes(kernel, loop, counter, target.children[1])):
        return None
    declared = kernel.declarators(kernel[target if variable else target.children[0]])
    local = bool(declared) and not is_shared(kernel, declared[0])
    kind = _type(kernel, target)
    plain = kernel.plain_type(kind)
    if not kind or ELEMENT_BYTES.get(plain, 4) < 4 or (join and not variable):
        raise NotSafe(kernel.line(target), f"{kernel[target]} may not be shuffled")
    uses = kernel.uses(kernel[target] if variable else kernel[target.children[0]], loop)
    if local and not variable:
        uses = _elements(kernel, uses, target)
    if not join and local and all(_is_added_to(kernel, use) for use in uses):
        places = tuple(uses)
    if len(uses) > len(places):
        raise NotSafe(kernel.line(target), f"the loop reads {kernel[target]}")
    whole = bool(join) or (variable and _begins_with_zero(kernel, target, loop))
    return [Sum(target, kind, places, join, whole, local=local)]


def is_shared(kernel: KernelSource, declarator: Node) -> bool:
    return declarator.parent is not None and "__shared__" in kernel[declarator.parent].partition("=")[0].split()


def _elements(kernel: KernelSource, uses: list[Node], target: Node) -> list[Node]:
    """Uses of one element of a local array.  NotSafe where another may be meant."""
    elements = [use.parent for use in uses if use.parent is not None]
    for node in elements:
        if node.type != "subscript_expression" or kernel.constant(node.children[1].named_children[0]) is None:
            raise NotSafe(kernel.line(node), f"{kernel[target.children[0]]} is indexed by a variable")
    return [node for node in elements if kernel[node] == kernel[target]]


def _changes(kernel: KernelSource, loop: Node, counter: str, index: Node) -> bool:
    """Whether an index is another one in other rounds."""
    names = kernel.reached(index)
    declared = (one for name in names for one in kernel.declarators(name))
    return counter in names or any(inside(one, loop) for one in declared) or any(kernel.written(n, loop) for n in names)


def _is_added_to(kernel: KernelSource, use: Node) -> bool:
    """Whether it stands in `sum += value;` or `sum++;`."""
    up = use.parent
    if up is None or up.parent is None or up.parent.type != "expression_statement":
        return False
    if up.type == "update_expression":
        return "++" in kernel[up]
    return up.type == "assignment_expression" and up.children[0] == use and kernel[up.children[1]] in ("+=", "-=")


def _arguments(call: Node) -> list[Node]:
    listed = call.child_by_field_name("arguments")
    return list(listed.named_children) if listed else []


def _type(kernel: KernelSource, target: Node) -> str:
    """Of a local variable, or of an element of a local array or a parameter; "" where it is not known."""
    name = kernel[target.children[0] if target.type == "subscript_expression" else target]
    declared = kernel.declarators(name)
    if not declared:
        return next((p.type for p in kernel.parameters if p.pointer and p.name == name), "")
    of_array = target.type == "subscript_expression"
    if of_array and ("[" not in kernel[declared[0]].partition("=")[0] or is_shared(kernel, declared[0])):
        return ""
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
    array, pointers = kernel[target.children[0]], {one.name for one in kernel.parameters if one.pointer}
    for declarator in kernel.declarators(array):  # `float* row = out + i * width`: out is used for nothing else
        for name in kernel.reached(declarator) & pointers:
            others = [use for use in kernel.uses(name) if not inside(use, declarator)]
            if others:
                raise NotSafe(kernel.line(others[0]), f"{name} is used besides {array}")
    for use in kernel.uses(array):
        declared = use.parent is not None and use.parent.type.endswith("declarator")
        if not declared and (use.parent is None or canonical(kernel, use.parent) != canonical(kernel, target)):
            raise NotSafe(kernel.line(use), f"{array} is used other than as {kernel[target]}")


def stores(kernel: KernelSource, statement: Node) -> list[Node]:
    """What a statement stores to, or updates by an atomic: all that is no variable."""
    changed = kernel.find("assignment_expression", "update_expression", within=statement)
    targets = [node.child_by_field_name("left") or node.named_children[0] for node in changed]
    calls = kernel.find("call_expression", within=statement)
    atomics = [call for call in calls if kernel.called(call).startswith("atomic")]
    return [target for target in targets if target.type != "identifier"] + atomics


def done_once(kernel: KernelSource, body: Sequence[Node], loops: list[RowLoop], first: str) -> list[Edit]:
    """Stores outside of the loops are done by the first of the threads that share them: `first` is its condition.

    NotSafe where the others need what it does there.
    """
    once = [
        node for node in body
        if node not in [loop.around for loop in loops] and node.type not in ("comment", "declaration", "preproc_call")
        and stores(kernel, node)
    ]  # fmt: skip
    elements = [one.target for loop in loops for one in loop.sums if not one.local]
    stored = [node for statement in once for node in stores(kernel, statement)] + elements
    for statement in once:
        for node in kernel.find("assignment_expression", "update_expression", within=statement):
            if node.named_children[0].type == "identifier":
                raise NotSafe(kernel.line(node), f"{kernel[node.named_children[0]]} is changed beside a store")
    for element in stored:
        name = next((kernel[node] for node in kernel.find("identifier", within=element)), "")
        for use in kernel.uses(name):
            if use.start_byte > element.end_byte and not any(inside(use, part) for part in (*once, *elements)):
                raise NotSafe(kernel.line(use), f"{name} is read behind a store")
    return [_guarded(kernel, group, first) for group in _neighbours(once)]


def _neighbours(nodes: list[Node]) -> list[list[Node]]:
    """Statements that follow each other, in groups."""
    groups: list[list[Node]] = []
    for node in nodes:
        if groups and groups[-1][-1].next_named_sibling == node:
            groups[-1].append(node)
        else:
            groups.append([node])
    return groups


def _guarded(kernel: KernelSource, group: list[Node], condition: str) -> Edit:
    start, end, indent = group[0].start_byte, group[-1].end_byte, kernel.indent(group[0])
    if len(group) == 1:
        return Edit(start, start, f"if ({condition}) ")
    inner = indent + kernel.step
    return Edit(start, end, f"if ({condition}) {{\n{inner}{kernel.moved(group, inner)}\n{indent}}}")


def part_name(kernel: KernelSource, loop: RowLoop, one: Sum) -> str:
    """A name for what one of several threads adds up."""
    if len(loop.sums) == 1:
        return kernel.fresh("sum", "total", "part")
    place = "" if one.target.type == "identifier" else "".join(c for c in kernel[one.target.children[1]] if c.isdigit())
    return kernel.fresh(f"sum_of_{kernel[one.name]}{place}")

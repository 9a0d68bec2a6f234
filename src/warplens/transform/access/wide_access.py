"""Wide access: four elements (else two) of a thread in one load or store, in kernels that work element by element.

Fewer instructions move the same bytes: 16 bytes are the widest access of a lane.  What is left over, and arrays that
do not begin at a multiple of the wide element, are done one by one as before.  Elements under a condition are loaded
without it, and stored as they were where it does not hold: only of arrays that are known to be long enough.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tree_sitter import Node

from warplens.transform._change import Change, Edit, Effect, LaunchChange, Proposals, Refusal, transform
from warplens.transform.syntax.canonical_form import unwrapped
from warplens.transform.syntax.for_loop import LOOPS, is_first, is_last, of_whole, with_for_loops
from warplens.transform.syntax.guarded_index import GuardedIndex, NotSafe, guarded_index, inside
from warplens.transform.syntax.kernel_source import KernelParameter, KernelSource, LaunchFacts
from warplens.transform.syntax.lane_stride import number_of
from warplens.transform.syntax.wide_types import VECTORS, lanes_of

WIDEST = 16  # bytes of an access


@dataclass(frozen=True)
class Array:
    """An array of the kernel, as it is accessed: its parameter, the type of `lanes` elements, what is done with it."""

    parameter: KernelParameter
    wide: str
    local: str
    read: bool
    stored: bool

    @property
    def pointer(self) -> str:
        return f"{'const ' if self.parameter.constant else ''}{self.wide}*"


@transform()
def wide_access(kernel: KernelSource, launch: LaunchFacts) -> Proposals:
    plain = with_for_loops(kernel, lambda source, loop: is_first(source, loop) or is_last(source, loop))
    yield from of_whole(kernel, plain, _proposed(plain, launch))


def _proposed(kernel: KernelSource, launch: LaunchFacts) -> Proposals:
    try:
        index = guarded_index(kernel, launch, adding=True)
        if index is None:
            return
        accesses = _accesses(kernel, launch, index)
    except NotSafe as reason:
        yield Refusal("", reason.line, f"no wide accesses: {reason.reason}")
        return
    line = kernel.line(index.guard)
    if index.others or launch.overlapping:
        why = "it has a second condition" if index.others else "two arguments of this launch overlap"
        yield Refusal("", line, f"no wide accesses: {why}")
        return
    sizes = {name: kernel.element_bytes(_parameter(kernel, name).type) for name in accesses}
    for name in accesses:
        kind = _parameter(kernel, name).type
        if sizes[name] is None and kind not in kernel.type_parameters and not kind.isupper():  # a #define of a header
            yield Refusal("", line, f"no wide accesses: the size of {kind}, the elements of {name}, is not known")
            return
    if not accesses or not kernel.begins_line(index.guard):
        return
    largest = max(size or 4 for size in sizes.values())
    for lanes in (4, 8) if largest <= 2 else (min(WIDEST // largest, 4),):
        yield _change(kernel, index, accesses, lanes)


def _parameter(kernel: KernelSource, name: str) -> KernelParameter:
    return next(parameter for parameter in kernel.parameters if parameter.name == name)


def _accesses(kernel: KernelSource, launch: LaunchFacts, index: GuardedIndex) -> dict[str, list[Node]]:
    """The elements that are accessed, by array.  NotSafe where not all of them are array[index]."""
    found: dict[str, list[Node]] = {}
    bound = number_of(kernel, index.bound, launch.numbers)
    for parameter in kernel.parameters:
        uses = kernel.uses(parameter.name) if parameter.pointer else []
        if index.sums and not any(inside(use, index.guard) for use in uses):
            continue  # it is for the result
        for use in uses:
            up, line = use.parent, kernel.line(use)
            if up is None or up.type != "subscript_expression" or up.children[0] != use:
                raise NotSafe(line, f"{parameter.name} is used as a pointer")
            indices = [unwrapped(node) for node in up.children[1].named_children]
            if [kernel[node] for node in indices] != [index.name]:
                raise NotSafe(line, f"{kernel[up]} is not {parameter.name}[{index.name}]")
            if "volatile" in kernel[parameter.node]:
                raise NotSafe(line, f"{parameter.name} is volatile")
            _is_conditional(kernel, index, up)
            found.setdefault(parameter.name, []).append(up)
        size, elements = kernel.element_bytes(parameter.type), found.get(parameter.name, [])
        known = bound is not None and size is not None and launch.sizes.get(parameter.name, 0) >= bound * size
        if elements and not known and all(_is_conditional(kernel, index, one) for one in elements):
            raise NotSafe(kernel.line(elements[0]), f"{kernel[elements[0]]} is accessed under a condition")
    return found


def _is_conditional(kernel: KernelSource, index: GuardedIndex, element: Node) -> bool:
    """Whether it may not be reached.  NotSafe where it is reached several times, or is more than an element."""
    node, name, conditional = element, kernel[element], False
    while node.parent is not None and node not in index.body:
        up = node.parent
        if kernel.is_condition(up):
            chosen = up.type in ("if_statement", "conditional_expression")
            always = chosen and node == up.child_by_field_name("condition")
            if up != index.guard and not always:
                if up.type in (*LOOPS, "switch_statement"):
                    raise NotSafe(kernel.line(element), f"{name} is accessed in a loop")
                conditional = True
        if node == element and (
            up.type in ("pointer_expression", "field_expression")
            or (up.type == "subscript_expression" and up.children[0] == node)
        ):
            raise NotSafe(kernel.line(element), f"{kernel[up]} is more than an element")
        node = up
    return conditional


def _change(kernel: KernelSource, index: GuardedIndex, accesses: dict[str, list[Node]], lanes: int) -> Change:
    simple = len(index.body) == 1 and _is_assignment(index.body[0])
    wide = [VECTORS.get(_parameter(kernel, name).type) for name in accesses]
    vectors = simple and all(vector is not None and lanes_of(vector) == lanes for vector in wide)
    pack = kernel.fresh("Pack")
    kind = "" if vectors else pack
    arrays = [_array(kernel, index, name, elements, lanes, kind) for name, elements in accesses.items()]
    edits = [] if vectors else [Edit(kernel.above, kernel.above, _pack(kernel, pack, lanes))]
    make = _in_loop if index.form == "loop" else _in_test
    edits += make(kernel, index, arrays, lanes)
    launch = LaunchChange() if index.form == "loop" else LaunchChange(grid_over=(lanes, 1, 1))
    names = ", ".join(accesses)
    stored = any(array.stored for array in arrays)
    parts = [f"{names} do not overlap"] if len(accesses) > 1 and stored else []
    for name, elements in accesses.items():
        if all(_is_conditional(kernel, index, element) for element in elements):
            parts.append(f"{name} has {kernel[index.bound]} elements")
    effect: Effect = "order" if index.sums else "exact"
    title = f"{'load and store' if stored else 'load'} {lanes} elements at once"
    return Change("", title, kernel.line(index.guard), tuple(edits), launch, effect, "; ".join(parts))


def _is_assignment(statement: Node) -> bool:
    inner = statement.named_children[0] if statement.type == "expression_statement" else None
    return inner is not None and inner.type == "assignment_expression"


def _array(
    kernel: KernelSource, index: GuardedIndex, name: str, elements: list[Node], lanes: int, pack: str
) -> Array:  # fmt: skip
    parameter = _parameter(kernel, name)
    stored = [element for element in elements if _is_stored(element)]
    plain = [element for element in stored if element.parent is not None and element.parent.type != "update_expression"
             and kernel[element.parent.children[1]] == "="]  # fmt: skip
    return Array(
        parameter, f"{pack}<{parameter.type}>" if pack else VECTORS[parameter.type], kernel.fresh(f"{name}{lanes}"),
        _reads_first(kernel, index, elements, plain), bool(stored),
    )  # fmt: skip


def _is_stored(element: Node) -> bool:
    up = element.parent
    if up is None:
        return False
    return up.type == "update_expression" or (up.type == "assignment_expression" and up.children[0] == element)


def _reads_first(kernel: KernelSource, index: GuardedIndex, elements: list[Node], plain: list[Node]) -> bool:
    """Whether an element is read before it is assigned, or keeps its value under some condition."""
    if any(_is_conditional(kernel, index, element) for element in elements):
        array = kernel[elements[0].children[0]]
        return elements != plain or not any(_is_assigned(kernel, node, array) for node in index.body)
    first = elements[0]
    if first not in plain or first.parent is None:
        return True
    # the right side is read before the left one is assigned
    return any(first.end_byte <= other.start_byte < first.parent.end_byte for other in elements if other != first)


def _is_assigned(kernel: KernelSource, node: Node | None, array: str) -> bool:
    """Whether a statement assigns the array's element whatever its conditions are."""
    if node is None:
        return False
    if node.type == "if_statement":
        sides = (node.child_by_field_name(name) for name in ("consequence", "alternative"))
        return all(_is_assigned(kernel, side, array) for side in sides)
    if node.type in ("compound_statement", "else_clause"):
        return any(_is_assigned(kernel, child, array) for child in node.named_children)
    return _is_assignment(node) and kernel[node.named_children[0].children[0]].startswith(f"{array}[")


def _pack(kernel: KernelSource, name: str, lanes: int) -> str:
    return (
        f"// {lanes} elements that are loaded and stored at once.\ntemplate <class T>\n"
        f"struct alignas({lanes} * sizeof(T)) {name} {{\n{kernel.step}T lane[{lanes}];\n}};\n\n"
    )


def _aligned(arrays: list[Array]) -> str:
    """The condition that arrays begin at multiples of their wide elements."""
    wides = dict.fromkeys(array.wide for array in arrays)
    parts = []
    for wide in wides:
        names = [f"size_t({array.parameter.name})" for array in arrays if array.wide == wide]
        all_of = " | ".join(names)
        parts.append(f"{f'({all_of})' if len(names) > 1 else all_of} % sizeof({wide}) == 0")
    return " && ".join(parts)


def _wide_body(
    kernel: KernelSource, index: GuardedIndex, arrays: list[Array], lanes: int, indent: str, place: tuple[str, str]
) -> str:
    """Loads, the work on each lane, stores.  place: of an array's wide element, "{pointer}", "{name}"; the index."""
    element, first = place
    lines = []
    for array in arrays:
        at = element.format(pointer=array.pointer, name=array.parameter.name)
        lines.append(f"{array.wide} {array.local}{f' = {at}' if array.read else ''};")
    names = {array.parameter.name: array.local for array in arrays}

    def swap(select: str, number: str) -> Callable[[Node], str | None]:
        def swapped(node: Node) -> str | None:
            if node.type == "subscript_expression" and (local := names.get(kernel[node.children[0]])):
                return f"{local}{select}"
            if node.type == "identifier" and kernel[node] == index.name:
                inside = node.parent is not None and node.parent.type in ("binary_expression", "cast_expression")
                return f"({number})" if inside and " " in number else number
            return None

        return swapped

    if all(array.wide in VECTORS.values() for array in arrays):
        for lane, letter in enumerate("xyzw"[:lanes]):
            number = f"{first} + {lane}" if lane else first
            lines.append(kernel.moved(index.body, indent, swap(f".{letter}", number)))
    else:
        k = kernel.fresh("k")
        whole = kernel.moved(index.body, indent + kernel.step, swap(f".lane[{k}]", f"{first} + {k}"))
        many = len(index.body) > 1 or index.body[0].type != "expression_statement"
        if many:
            lines.append(f"for (int {k} = 0; {k} < {lanes}; ++{k}) {{\n{indent}{kernel.step}{whole}\n{indent}}}")
        else:
            lines.append(f"for (int {k} = 0; {k} < {lanes}; ++{k}) {whole}")
    for array in arrays:
        if array.stored:
            lines.append(f"{element.format(pointer=array.pointer, name=array.parameter.name)} = {array.local};")
    return f"\n{indent}".join(lines)


def _in_loop(kernel: KernelSource, index: GuardedIndex, arrays: list[Array], lanes: int) -> list[Edit]:
    """The loop over wide elements before the loop, which then does what is left."""
    loop, indent = index.guard, kernel.indent(index.guard)
    inner, packs, aligned = indent + kernel.step, kernel.fresh("packs"), kernel.fresh("aligned")
    element = "reinterpret_cast<{pointer}>({name})[" + index.name + "]"
    body = _wide_body(kernel, index, arrays, lanes, inner, (element, f"{lanes} * {index.name}"))
    single = loop.child_by_field_name("body")
    pragma = loop.prev_named_sibling
    first = pragma if pragma is not None and pragma.type == "preproc_call" else loop
    assert single is not None
    start = kernel.line_start(first)
    unroll = kernel.data[start : kernel.line_start(loop)].decode()
    bound = kernel[index.bound] if index.bound.type != "binary_expression" else f"({kernel[index.bound]})"
    head = kernel.data[loop.start_byte : index.bound.start_byte].decode() + packs
    head += kernel.data[index.bound.end_byte : single.start_byte].decode().rstrip()
    text = (
        f"{indent}bool {aligned} = {_aligned(arrays)};\n"
        f"{indent}{index.type} {packs} = {aligned} ? {bound} / {lanes} : 0;\n"
        f"{unroll}{indent}{head} {{\n{inner}{body}\n{indent}}}\n"
    )
    rest = f"{lanes} * {packs} + "
    return [Edit(start, start, text), Edit(index.start.start_byte, index.start.start_byte, rest)]


def _in_test(kernel: KernelSource, index: GuardedIndex, arrays: list[Array], lanes: int) -> list[Edit]:
    """A thread takes the elements from lanes * its number on; one by one where they are not all there."""
    name, indent = index.name, kernel.indent(index.guard)
    inner, bound, k = indent + kernel.step, kernel[index.bound], kernel.fresh("k")
    element = "*reinterpret_cast<{pointer}>({name} + " + name + ")"
    body = _wide_body(kernel, index, arrays, lanes, inner, (element, name))
    single = kernel.moved(
        index.body, inner + kernel.step,
        lambda node: k if node.type == "identifier" and kernel[node] == name else None,
    )  # fmt: skip
    short = len(index.body) == 1 and "\n" not in single
    each = f" {single}" if short else f" {{\n{inner}{kernel.step}{single}\n{inner}}}"
    text = (
        f"if ({name} + {lanes - 1} < {bound} && {_aligned(arrays)}) {{\n{inner}{body}\n{indent}}} else {{\n"
        f"{inner}for ({index.type} {k} = {name}; {k} < {name} + {lanes} && {k} < {bound}; ++{k}){each}\n{indent}}}"
    )
    start = kernel[index.start]
    end = index.body[-1].end_byte if index.form == "return" else index.guard.end_byte
    return [
        Edit(index.start.start_byte, index.start.end_byte, f"{lanes} * ({start})"),
        Edit(index.guard.start_byte, end, text),
    ]

"""Shared tiles: a product of matrices in which each thread walks along a row and a column goes through shared memory.

All threads of a row of the block read the same elements of one matrix, those of a column the same of the other; each
is loaded once for the block, a square of it at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tree_sitter import Node

from warplens.transform._change import Change, Edit, Proposals, Refusal, transform
from warplens.transform.syntax.accumulation import STEPS
from warplens.transform.syntax.canonical_form import canonical, comparison, conjuncts, unwrapped
from warplens.transform.syntax.for_loop import LOOPS
from warplens.transform.syntax.guarded_index import BUILT_IN, NotSafe, statements_of
from warplens.transform.syntax.kernel_source import KernelSource, LaunchFacts

SIDES = (16, 32)  # of a block
MOST_SHARED = 48 * 1024
OPPOSITE = {">=": "<", ">": "<="}


@dataclass(frozen=True)
class ProductLoop:
    """for (int k = 0; k < depth; ++k) sum += a[row * depth + k] * b[k * width + column];

    region     statements that are replaced;  before, after: those of them around the loop
    tests      conditions under which there is a result, by axis
    elements   by their text: the node, and the axis on which it depends besides the counter
    """

    region: tuple[Node, ...]
    before: tuple[Node, ...]
    loop: Node
    after: tuple[Node, ...]
    tests: dict[str, list[str]]
    counter: Node
    depth: Node
    elements: dict[str, tuple[Node, str]]


@transform("redundant_loads")
def shared_tiles(kernel: KernelSource, launch: LaunchFacts) -> Proposals:
    try:
        found = _product(kernel, launch)
        if found is not None:
            yield _change(kernel, launch, found)
    except NotSafe as reason:
        yield Refusal("", reason.line, f"no tiles in shared memory: {reason.reason}")


def _product(kernel: KernelSource, launch: LaunchFacts) -> ProductLoop | None:
    """None where the kernel has another form.  NotSafe where it has, and is not safe to change."""
    names = _indices(kernel, launch)
    loops = list(kernel.find(*LOOPS))
    if set(names.values()) != {"x", "y"} or len(loops) != 1 or loops[0].type != "for_statement":
        return None
    loop = loops[0]
    region, statements, conditions = _guarded(kernel, loop)
    counter, depth = _counted(kernel, loop)
    body = loop.child_by_field_name("body")
    if not region or counter is None or depth is None or body is None:
        return None
    inner = [node for node in statements_of(body) if node.type != "comment"]
    added = inner[0].named_children[0] if len(inner) == 1 and inner[0].type == "expression_statement" else None
    if added is None or added.type != "assignment_expression" or added.children[0].type != "identifier":
        return None
    if kernel[added.children[1]] != "+=":
        return None
    elements: dict[str, tuple[Node, str]] = {}
    for node in kernel.find("subscript_expression", within=added.children[2]):
        used = {kernel[leaf] for leaf in kernel.find("identifier", within=node.children[1])}
        axes = {names[name] for name in used if name in names}
        if kernel[counter] not in used or len(axes) != 1 or node.children[0].type != "identifier":
            raise NotSafe(kernel.line(node), f"{kernel[node]} is no element of a row or column of the block")
        elements[kernel[node]] = node, axes.pop()
    if {axis for _, axis in elements.values()} != {"x", "y"}:
        return None
    place = statements.index(loop)
    before, after = statements[:place], statements[place + 1 :]
    for node in before:
        if node.type not in ("declaration", "comment") or list(kernel.find("subscript_expression", within=node)):
            raise NotSafe(kernel.line(node), "more than declarations stand before the loop")
    tests = {"x": list[str](), "y": list[str]()}
    for condition in conditions:
        axes = {names[name] for name in names if kernel.uses(name, condition)}
        if len(axes) != 1:
            raise NotSafe(kernel.line(condition), f"{kernel[condition]} is no test of one axis")
        tests[axes.pop()].append(_positive(kernel, condition, region[0]))
    return ProductLoop(region, before, loop, after, tests, counter, depth, elements)


def _indices(kernel: KernelSource, launch: LaunchFacts) -> dict[str, str]:
    """Variables that hold the number of the thread in the grid, with their axes; {} if the thread is used besides."""
    found = {}
    for declaration in kernel.body.named_children:
        for one in declaration.children_by_field_name("declarator") if declaration.type == "declaration" else ():
            named, value = one.child_by_field_name("declarator"), one.child_by_field_name("value")
            for axis, size in zip("xy", launch.block, strict=False):
                forms = [f"{block}*blockIdx.{axis}+threadIdx.{axis}" for block in (f"blockDim.{axis}", size)]
                if named is not None and value is not None and canonical(kernel, value) in forms:
                    found[kernel[named]] = axis
    starts = [kernel.declarators(name)[0] for name in found]
    beside = [node for node in kernel.find("identifier") if kernel[node] in BUILT_IN and
              not any(one.start_byte <= node.start_byte < one.end_byte for one in starts)]  # fmt: skip
    return {} if beside or any(kernel.written(name) for name in found) else found


def _guarded(kernel: KernelSource, loop: Node) -> tuple[tuple[Node, ...], tuple[Node, ...], list[Node]]:
    """Region, statements and conditions of `if (row < n && column < n) { ... }`, or of the statements behind
    `if (row >= n || column >= n) return;`, or of those at the top."""
    top = list(kernel.body.named_children)
    outer = next((node for node in top if node.start_byte <= loop.start_byte < node.end_byte), None)
    if outer is None:
        return (), (), []
    if outer.type == "if_statement" and not outer.child_by_field_name("alternative"):
        condition, then = outer.child_by_field_name("condition"), outer.child_by_field_name("consequence")
        if outer != top[-1] or condition is None or then is None or loop not in statements_of(then):
            return (), (), []
        return (outer,), statements_of(then), conjuncts(kernel, condition)
    if outer != loop:
        return (), (), []
    tests = [node for node in top if node.type == "if_statement" and node.start_byte < loop.start_byte]
    if not tests:
        return tuple(top[top.index(loop) :]), tuple(top[top.index(loop) :]), []
    condition, then = tests[0].child_by_field_name("condition"), tests[0].child_by_field_name("consequence")
    leaves = then is not None and [node.type for node in statements_of(then)] == ["return_statement"]
    if len(tests) > 1 or condition is None or not leaves:
        return (), (), []
    rest = tuple(top[top.index(tests[0]) + 1 :])
    return (tests[0], *rest), rest, _disjuncts(kernel, condition)


def _disjuncts(kernel: KernelSource, node: Node) -> list[Node]:
    node = unwrapped(node)
    if node.type != "binary_expression" or kernel[node.children[1]] != "||":
        return [node]
    return [*_disjuncts(kernel, node.children[0]), *_disjuncts(kernel, node.children[2])]


def _positive(kernel: KernelSource, condition: Node, guard: Node) -> str:
    """A condition of a result: the opposite of one by which threads leave."""
    then = guard.child_by_field_name("consequence") if guard.type == "if_statement" else None
    if then is None or [node.type for node in statements_of(then)] != ["return_statement"]:
        return kernel[condition]
    node = unwrapped(condition)
    operator = kernel[node.children[1]] if node.type == "binary_expression" else ""
    if operator not in OPPOSITE:
        raise NotSafe(kernel.line(condition), f"{kernel[condition]} is not turned round")
    return f"{kernel[node.children[0]]} {OPPOSITE[operator]} {kernel[node.children[2]]}"


def _counted(kernel: KernelSource, loop: Node) -> tuple[Node | None, Node | None]:
    """Counter and bound of a loop that counts from 0 one by one."""
    begin, condition, update = (loop.child_by_field_name(name) for name in ("initializer", "condition", "update"))
    declared = begin.children_by_field_name("declarator") if begin is not None and begin.type == "declaration" else []
    compared = comparison(kernel, condition) if condition is not None else None
    if len(declared) != 1 or compared is None or compared[1] != "<" or update is None:
        return None, None
    named, value = declared[0].child_by_field_name("declarator"), declared[0].child_by_field_name("value")
    if named is None or canonical(kernel, value) != "0" or kernel[compared[0]] != kernel[named]:
        return None, None
    steps = "".join(kernel[update].split()) in [step.format(k=kernel[named]) for step in STEPS]
    return (named, compared[2]) if steps else (None, None)


def _change(kernel: KernelSource, launch: LaunchFacts, found: ProductLoop) -> Change:
    line, side = kernel.line(found.loop), launch.block[0]
    if launch.block != (side, side, 1) or side not in SIDES:
        raise NotSafe(line, f"blocks of {launch.block[0]} x {launch.block[1]} threads")
    types = {one.name: one.type for one in kernel.parameters if one.pointer}
    arrays = {text: kernel[node.children[0]] for text, (node, _) in found.elements.items()}
    if any(name not in types for name in arrays.values()):
        raise NotSafe(line, "an element is of no parameter")
    sizes = [kernel.element_bytes(types[name]) or 8 for name in arrays.values()]
    if sum(sizes) * side * side + launch.shared > MOST_SHARED:
        raise NotSafe(line, "the tiles do not fit into shared memory")
    k, first = kernel[found.counter], kernel.fresh("first", "tile_start")
    tiles = {text: kernel.fresh(f"tile_{name}", f"{name}_tile") for text, name in arrays.items()}
    if len(set(tiles.values())) < len(tiles):
        raise NotSafe(line, "two elements of one array are added up")
    indent, step, depth = kernel.indent(found.region[0]), kernel.step, kernel[found.depth]
    inner = indent + step
    lines = [f"__shared__ {types[arrays[text]]} {tile}[{side}][{side}];" for text, tile in tiles.items()]
    if found.before:
        lines.append(kernel.moved(found.before, indent))
    lines.append(f"for (int {first} = 0; {first} < {depth}; {first} += {side}) {{")
    for text, (node, axis) in found.elements.items():
        own = f"{first} + threadIdx.{'x' if axis == 'y' else 'y'}"
        tests = " && ".join([f"{own} < {depth}", *found.tests[axis]])
        value = kernel.replaced(node, _swap(kernel, k, own))
        lines.append(f"{step}{tiles[text]}[threadIdx.y][threadIdx.x] = {tests} ? {value} : 0;")
    places = {"y": f"[threadIdx.y][{k}]", "x": f"[{k}][threadIdx.x]"}
    body = found.loop.child_by_field_name("body")
    assert body is not None
    statement = next(node for node in statements_of(body) if node.type != "comment")

    added = statement.named_children[0].children[2]
    ends = "" if _is_zero_of_zeros(kernel, added, found) else f" && {first} + {k} < {depth}"

    def tiled(node: Node) -> str | None:
        text = kernel[node] if node.type == "subscript_expression" else ""
        return f"{tiles[text]}{places[found.elements[text][1]]}" if text in tiles else None

    lines += [
        f"{step}__syncthreads();",
        f"{step}for (int {k} = 0; {k} < {side}{ends}; ++{k}) {kernel.replaced(statement, tiled)}",
        f"{step}__syncthreads();",
        "}",
    ]
    tests = " && ".join(found.tests["y"] + found.tests["x"])
    if found.after and tests:
        lone = len(found.after) == 1
        rest = kernel.moved(found.after, inner)
        lines.append(f"if ({tests}) {rest}" if lone else f"if ({tests}) {{\n{inner}{rest}\n{indent}}}")
    elif found.after:
        lines.append(kernel.moved(found.after, indent))
    edit = Edit(found.region[0].start_byte, found.region[-1].end_byte, f"\n{indent}".join(lines))
    # zeros beyond the last element are added, so that only a sum of -0 may change its sign
    return Change("", f"tiles of {side} x {side} in shared memory", line, (edit,), effect="rounding",
                  promise=f"blocks of {side} x {side} threads")  # fmt: skip


def _is_zero_of_zeros(kernel: KernelSource, value: Node, found: ProductLoop) -> bool:
    """Whether nothing is added where the elements are zero, as beyond the last ones."""
    value = unwrapped(value)
    if value.type == "binary_expression" and kernel[value.children[1]] in "+-*":
        both = [_is_zero_of_zeros(kernel, value.children[place], found) for place in (0, 2)]
        return any(both) if kernel[value.children[1]] == "*" else all(both)
    return kernel[value] in found.elements


def _swap(kernel: KernelSource, k: str, own: str) -> Callable[[Node], str | None]:
    def swap(node: Node) -> str | None:
        if node.type != "identifier" or kernel[node] != k:
            return None
        up = node.parent
        factor = up is None or up.type != "binary_expression" or kernel[up.children[1]] != "+"
        return f"({own})" if factor and up is not None and up.type != "subscript_argument_list" else own

    return swap

"""Flat transpose tile: a transposition whose row and column come from one number, through a tile in shared memory.

int row = i / width, col = i % width;  out[col * height + row] = in[i];

One side is accessed along its slow axis, a sector a lane.  A block of 32 columns of lanes loads a tile in rows, and
after a barrier stores it in the rows of the other side; what is the number of an element becomes that of a tile.
"""

from __future__ import annotations

from dataclasses import dataclass

from tree_sitter import Node

from warplens.transform._change import Change, Edit, LaunchChange, Proposals, Refusal, transform
from warplens.transform.syntax.canonical_form import canonical, unwrapped
from warplens.transform.syntax.guarded_index import GuardedIndex, NotSafe, guarded_index
from warplens.transform.syntax.kernel_source import KernelSource, LaunchFacts, walk

SIDE = 32  # of a tile: a row is a warp
MOST_ROWS = 32


@dataclass(frozen=True)
class FlatTransposition:
    """width, height: of the rows of each side, as they are written

    target, value   the two elements;  loads_rows: whether the value is the one in rows of `width`
    """

    width: str
    height: str
    target: Node
    value: Node
    loads_rows: bool


@transform("uncoalesced_access")
def flat_transpose_tile(kernel: KernelSource, launch: LaunchFacts) -> Proposals:
    try:
        index = guarded_index(kernel, launch, one_index=True)
        found = _transposition(kernel, index) if index is not None and index.form != "loop" else None
        if index is not None and found is not None:
            yield _change(kernel, launch, index, found)
    except NotSafe as reason:
        yield Refusal("", reason.line, f"no tile for the transposition: {reason.reason}")


def _transposition(kernel: KernelSource, index: GuardedIndex) -> FlatTransposition | None:
    statements = [node for node in index.body if node.type not in ("comment", "declaration")]
    inner = statements[0].named_children[0] if len(statements) == 1 and statements[0].named_children else None
    if inner is None or inner.type != "assignment_expression" or kernel[inner.children[1]] != "=":
        return None
    target, value = inner.children[0], unwrapped(inner.children[2])
    if target.type != "subscript_expression" or value.type != "subscript_expression":
        return None
    number = canonical(kernel, index.start)
    for node in (one for part in (kernel.body, *index.body) for one in walk(part)):
        if node.type != "binary_expression" or kernel[node.children[1]] != "/":
            continue
        if canonical(kernel, node.children[0]) == number:
            width = node.children[2]
            sides = [_side(kernel, element, number, width) for element in (target, value)]
            heights = [side for side in sides if side]
            bounded = heights and canonical(kernel, index.bound) in _products(kernel, width, heights[0])
            if None in sides or len(heights) != 1 or not bounded or index.others:
                return None
            return FlatTransposition(kernel[width], heights[0], target, value, loads_rows=not sides[1])
    return None


def _side(kernel: KernelSource, element: Node, number: str, width: Node) -> str | None:
    """ "" for an element in rows of `width`, the height for one of the other side; None for anything else."""
    index = unwrapped(element.children[1].named_children[0])
    if canonical(kernel, index) == number:
        return ""
    if index.type != "binary_expression" or kernel[index.children[1]] != "+":
        return None
    wide = canonical(kernel, width)
    row, column = f"({number})/{wide}", f"({number})%{wide}"
    for fast, slow in ((index.children[0], index.children[2]), (index.children[2], index.children[0])):
        product = unwrapped(slow)
        if product.type != "binary_expression" or kernel[product.children[1]] != "*":
            continue
        for factor, length in ((product.children[0], product.children[2]), (product.children[2], product.children[0])):
            pair = canonical(kernel, fast), canonical(kernel, factor)
            if pair == (column, row) and canonical(kernel, length) == wide:
                return ""
            if pair == (row, column):
                return kernel[unwrapped(length)]
    return None


def _products(kernel: KernelSource, width: Node, height: str) -> set[str]:
    """Forms of width * height."""
    wide = canonical(kernel, width)
    if wide.isdigit() and height.isdigit():
        return {str(int(wide) * int(height))}
    return {"*".join(sorted((wide, height), key=lambda form: (not form.isdigit(), form)))}


def _change(kernel: KernelSource, launch: LaunchFacts, index: GuardedIndex, found: FlatTransposition) -> Change:
    line, indent, step = kernel.line(found.target), kernel.indent(index.guard), kernel.step
    rows = launch.block[0] // SIDE
    if launch.block[0] % SIDE or not rows or SIDE % rows:
        raise NotSafe(line, f"blocks of {launch.block[0]} threads are no rows of {SIDE}")
    parameters = {one.name: one.type for one in kernel.parameters}
    element = parameters.get(kernel[found.value.children[0]], "")
    declaration = index.declarator.parent
    if not element or declaration is None or declaration.parent != kernel.body:
        raise NotSafe(line, "the type of its elements is not known")
    tile, tiles, t = kernel.fresh("tile"), kernel.fresh("across", "tiles"), kernel.fresh("t", "number")
    lane, row, j = kernel.fresh("lane", "lx"), kernel.fresh("first", "ly"), kernel.fresh("j", "k")
    x, y = kernel.fresh("x", "tx"), kernel.fresh("y", "ty")
    width, height, kind = found.width, found.height, index.type
    source, target = kernel[found.value.children[0]], kernel[found.target.children[0]]
    inner, deep = indent + step, indent + step * 2
    own = (f"{x} + {lane} < {width} && {y} + {j} < {height}", f"({y} + {j}) * {width} + {x} + {lane}")
    turned = (f"{y} + {lane} < {height} && {x} + {j} < {width}", f"({x} + {j}) * {height} + {y} + {lane}")
    load, store = (own, turned) if found.loads_rows else (turned, own)
    each = f"for ({kind} {j} = {row}; {j} < {SIDE}; {j} += {rows})"
    down = f"(({height} + {SIDE - 1}) / {SIDE})"
    text = "\n".join([
        f"__shared__ {element} {tile}[{SIDE}][{SIDE + 1}];",
        f"{indent}{kind} {lane} = threadIdx.x % {SIDE}, {row} = threadIdx.x / {SIDE}, "
        f"{tiles} = ({width} + {SIDE - 1}) / {SIDE};",
        f"{indent}for ({kind} {t} = blockIdx.x; {t} < {tiles} * {down}; {t} += gridDim.x) {{",
        f"{inner}{kind} {x} = {t} % {tiles} * {SIDE}, {y} = {t} / {tiles} * {SIDE};",
        f"{inner}{each}",
        f"{deep}if ({load[0]}) {tile}[{j}][{lane}] = {source}[{load[1]}];",
        f"{inner}__syncthreads();",
        f"{inner}{each}",
        f"{deep}if ({store[0]}) {target}[{store[1]}] = {tile}[{lane}][{j}];",
        f"{inner}__syncthreads();",
        f"{indent}}}",
    ])  # fmt: skip
    end = index.body[-1].end_byte if index.form == "return" else index.guard.end_byte
    edits = [Edit(index.guard.start_byte, end, text), *_unused(kernel, index, end)]
    return Change(
        "", f"transpose in tiles of {SIDE} x {SIDE} in shared memory", line, tuple(edits),
        LaunchChange(grid_over=(SIDE // rows, 1, 1)), promise=f"blocks of {launch.block[0]} threads",
    )  # fmt: skip


def _unused(kernel: KernelSource, index: GuardedIndex, end: int) -> list[Edit]:
    """Declarations in front of the guard that only the number of the element was for."""
    gone: list[Node] = []
    for node in reversed([one for one in kernel.body.named_children if one.end_byte <= index.guard.start_byte]):
        named = node.children_by_field_name("declarator") if node.type == "declaration" else []
        names = [kernel[leaf] for one in named if (leaf := next(kernel.find("identifier", within=one), None))]
        uses = [use for name in names for use in kernel.uses(name) if not _within(use, node)]
        of_element = names and all(
            index.guard.start_byte <= use.start_byte < end or any(_within(use, other) for other in gone) for use in uses
        )
        kept = {name for name in names if name in kernel.reached(index.bound)}
        if of_element and not kept and uses:
            gone.append(node)
    return [Edit(*kernel.whole_line(node), "") for node in gone]


def _within(node: Node, outer: Node) -> bool:
    return outer.start_byte <= node.start_byte and node.end_byte <= outer.end_byte

"""Transpose tile: a transposition that goes through a tile in shared memory, so that both sides are accessed in rows.

One of the two arrays is walked along its slow axis by neighbouring lanes, a sector each.  Of a tile the threads load
rows, and after a barrier each stores the element on the other side of the diagonal: rows again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tree_sitter import Node

from warplens.transform._change import Change, Edit, LaunchChange, Proposals, Refusal, transform
from warplens.transform.syntax.canonical_form import canonical, conjuncts, unwrapped
from warplens.transform.syntax.guarded_index import statements_of
from warplens.transform.syntax.kernel_source import KernelSource, LaunchFacts

SIDES = (16, 32)  # of a block
MOST_SHARED = 48 * 1024
LONGEST = 100  # characters of a line, without its indentation


@dataclass(frozen=True)
class Transposition:
    """out[x * rows + y] = in[y * columns + x], in the last statement of a kernel.

    statement   of the kernel: the assignment, or the `if` around it;  tests: its conditions
    target, value   the two elements;  x, y: names of the indices;  reads_rows: whether the value lies along x
    """

    statement: Node
    tests: tuple[Node, ...]
    target: Node
    value: Node
    x: str
    y: str
    reads_rows: bool


@transform("uncoalesced_access")
def transpose_tile(kernel: KernelSource, launch: LaunchFacts) -> Proposals:
    found = _transposition(kernel, launch)
    if found is None:
        return
    line = kernel.line(found.statement)
    side, rows, deep = launch.block
    blocks = -(-side // rows)  # of the launch, for a tile
    element = next((p.type for p in kernel.parameters if p.name == kernel[found.value.children[0]]), "")
    if side not in SIDES or side % rows or deep > 1 or (not found.tests and launch.grid[1] % blocks):
        yield Refusal(
            "", line, f"no tile for the transposition: blocks of {launch.block[0]} x {launch.block[1]} threads"
        )
    elif not element or launch.shared + (kernel.element_bytes(element) or 8) * side * (side + 1) > MOST_SHARED:
        yield Refusal("", line, "no tile for the transposition: it does not fit into shared memory")
    else:
        yield _change(kernel, found, element, (side, rows))


def _transposition(kernel: KernelSource, launch: LaunchFacts) -> Transposition | None:
    statements = [node for node in kernel.body.named_children if node.type not in ("comment", "declaration")]
    if len(statements) != 1:
        return None
    (statement,) = statements
    tests: tuple[Node, ...] = ()
    inner = statement
    if statement.type == "if_statement" and not statement.child_by_field_name("alternative"):
        condition, then = (statement.child_by_field_name(name) for name in ("condition", "consequence"))
        if condition is None or then is None or len(statements_of(then)) != 1:
            return None
        tests, inner = tuple(conjuncts(kernel, condition)), statements_of(then)[0]
    assigned = inner.named_children[0] if inner.type == "expression_statement" else None
    if assigned is None or assigned.type != "assignment_expression" or kernel[assigned.children[1]] != "=":
        return None
    target, value = assigned.children[0], unwrapped(assigned.children[2])
    stored, loaded = (_place(kernel, launch, node) for node in (target, value))
    if stored is None or loaded is None or stored[0] == loaded[0]:
        return None
    names = loaded[1]
    if stored[1] != names or any(len(kernel.declarators(name)) != 1 for name in names.values()):
        return None
    return Transposition(statement, tests, target, value, names["x"], names["y"], loaded[0] == "x")


def _place(kernel: KernelSource, launch: LaunchFacts, element: Node) -> tuple[str, dict[str, str]] | None:
    """Of p[slow * width + fast]: the axis of the fast index, and the names of both by axis."""
    index = unwrapped(element.children[1].named_children[0]) if element.type == "subscript_expression" else None
    if index is None or element.children[0].type != "identifier" or index.type != "binary_expression":
        return None
    if kernel[index.children[1]] != "+":
        return None
    for fast, product in ((index.children[0], index.children[2]), (index.children[2], index.children[0])):
        axis = _axis(kernel, launch, fast)
        product = unwrapped(product)
        if not axis or product.type != "binary_expression" or kernel[product.children[1]] != "*":
            continue
        for slow in (product.children[0], product.children[2]):
            other = _axis(kernel, launch, slow)
            name = next(
                (kernel[node] for node in kernel.find("identifier", within=slow) if _axis(kernel, launch, node)), ""
            )
            if other and other != axis and name and fast.type == "identifier":
                return axis, {axis: kernel[fast], other: name}
    return None


def _axis(kernel: KernelSource, launch: LaunchFacts, node: Node) -> str:
    """ "x" or "y" if it is the number of the thread in the grid along this axis."""
    form = canonical(kernel, node)
    for axis, size in zip("xy", launch.block, strict=False):
        if form in (f"{block}*blockIdx.{axis}+threadIdx.{axis}" for block in (f"blockDim.{axis}", size)):
            return axis
    return ""


def _change(kernel: KernelSource, found: Transposition, element: str, block: tuple[int, int]) -> Change:
    (side, rows), indent = block, kernel.indent(found.statement)
    tile, x, y = kernel.fresh("tile"), kernel.fresh(f"{found.x}_turned"), kernel.fresh(f"{found.y}_turned")
    j = kernel.fresh("j", "k") if rows < side else ""

    def own(node: Node) -> str | None:
        return _later(kernel, node, found.y, j) if j and kernel[node] == found.y else None

    def turned(node: Node) -> str | None:
        if node.type != "identifier":
            return None
        return _later(kernel, node, x, j) if kernel[node] == found.x else y if kernel[node] == found.y else None

    def line(statement: str, swap: Callable[[Node], str | None]) -> str:
        tests = " && ".join(kernel.replaced(test, swap) for test in found.tests)
        inner = f"\n{indent}{kernel.step * 2 if j else kernel.step}" if len(tests + statement) > LONGEST else " "
        guarded = f"if ({tests}){inner}{statement}" if tests else statement
        return f"for (int {j} = 0; {j} < {side}; {j} += {rows})\n{indent}{kernel.step}{guarded}" if j else guarded

    declarator = kernel.declarators(found.x)[0]
    kind = declarator.parent.child_by_field_name("type") if declarator.parent is not None else None
    row = f"threadIdx.y + {j}" if j else "threadIdx.y"
    mine, across = f"{tile}[{row}][threadIdx.x]", f"{tile}[threadIdx.x][{row}]"
    (load, one), (store, other) = ((mine, own), (across, turned))[:: 1 if found.reads_rows else -1]
    lines = [
        f"__shared__ {element} {tile}[{side}][{side + 1}];",
        f"{kernel[kind] if kind is not None else 'int'} {x} = blockIdx.x * {side} + threadIdx.y, "
        f"{y} = blockIdx.y * {side} + threadIdx.x;",
        line(f"{load} = {kernel.replaced(found.value, one)};", one),
        "__syncthreads();",
        line(f"{kernel.replaced(found.target, other)} = {store};", other),
    ]
    edits = [Edit(found.statement.start_byte, found.statement.end_byte, f"\n{indent}".join(lines))]
    if j:  # a block takes several rows of the blocks before
        value = kernel.declarators(found.y)[0].child_by_field_name("value")
        assert value is not None
        edits.append(Edit(value.start_byte, value.end_byte, f"blockIdx.y * {side} + threadIdx.y"))
    return Change(
        "", f"transpose in a tile of {side} x {side} in shared memory", kernel.line(found.statement), tuple(edits),
        LaunchChange(grid_over=(1, side // rows, 1)), promise=f"blocks of {side} x {rows} threads",
    )  # fmt: skip


def _later(kernel: KernelSource, node: Node, name: str, j: str) -> str:
    """The index j rows further on; in parentheses but in a sum or a comparison."""
    up = node.parent
    bare = up is not None and up.type == "binary_expression" and kernel[up.children[1]] in ("+", "<", "<=", ">", ">=")
    return name if not j else f"{name} + {j}" if bare else f"({name} + {j})"

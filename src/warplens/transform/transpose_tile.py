"""Transpose tile: a transposition that goes through a tile in shared memory, so that both sides are accessed in rows.

One of the two arrays is walked along its slow axis by neighbouring lanes, a sector each.  Of a tile the threads load
rows, and after a barrier each stores the element on the other side of the diagonal: rows again.
"""

from __future__ import annotations

from dataclasses import dataclass

from tree_sitter import Node

from warplens.transform._change import Change, Edit, Proposals, Refusal, transform
from warplens.transform.syntax.canonical_form import canonical, conjuncts, unwrapped
from warplens.transform.syntax.guarded_index import statements_of
from warplens.transform.syntax.kernel_source import KernelSource, LaunchFacts

SIDES = (16, 32)  # of a block
MOST_SHARED = 48 * 1024


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
    side = launch.block[0]
    element = next((p.type for p in kernel.parameters if p.name == kernel[found.value.children[0]]), "")
    if launch.block != (side, side, 1) or side not in SIDES:
        yield Refusal(
            "", line, f"no tile for the transposition: blocks of {launch.block[0]} x {launch.block[1]} threads"
        )
    elif not element or launch.shared + (kernel.element_bytes(element) or 8) * side * (side + 1) > MOST_SHARED:
        yield Refusal("", line, "no tile for the transposition: it does not fit into shared memory")
    else:
        yield _change(kernel, found, element, side)


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


def _change(kernel: KernelSource, found: Transposition, element: str, side: int) -> Change:
    indent = kernel.indent(found.statement)
    tile, x, y = kernel.fresh("tile"), kernel.fresh(f"{found.x}_turned"), kernel.fresh(f"{found.y}_turned")
    turned = {found.x: x, found.y: y}

    def swap(node: Node) -> str | None:
        return turned.get(kernel[node]) if node.type == "identifier" else None

    def guarded(statement: str, other: bool) -> str:
        tests = [kernel.replaced(test, swap) if other else kernel[test] for test in found.tests]
        return f"if ({' && '.join(tests)}) {statement}" if tests else statement

    declared = kernel.declarators(found.x)[0].parent
    kind = declared.child_by_field_name("type") if declared is not None else None
    value = kernel[found.value] if found.reads_rows else kernel.replaced(found.value, swap)
    target = kernel.replaced(found.target, swap) if found.reads_rows else kernel[found.target]
    mine, across = f"{tile}[threadIdx.y][threadIdx.x]", f"{tile}[threadIdx.x][threadIdx.y]"
    load, store = (mine, across) if found.reads_rows else (across, mine)
    lines = [
        f"__shared__ {element} {tile}[{side}][{side + 1}];",
        f"{kernel[kind] if kind is not None else 'int'} {x} = blockIdx.x * {side} + threadIdx.y, "
        f"{y} = blockIdx.y * {side} + threadIdx.x;",
        guarded(f"{load} = {value};", other=not found.reads_rows),
        "__syncthreads();",
        guarded(f"{target} = {store};", other=found.reads_rows),
    ]
    edit = Edit(found.statement.start_byte, found.statement.end_byte, f"\n{indent}".join(lines))
    return Change(
        "", f"transpose in a tile of {side} x {side} in shared memory", kernel.line(found.statement), (edit,),
        promise=f"blocks of {side} x {side} threads",
    )  # fmt: skip

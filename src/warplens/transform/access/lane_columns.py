"""Lane columns: the lanes of a warp walk along the axis that only the block's number counts, if that is the fast one.

int x = blockIdx.y, y = blockIdx.x * blockDim.x + threadIdx.x;          out[y * width + x] = ...

Of 32 neighbouring blocks each takes 32 columns and a 32nd of the rows, in place of one column and all of the rows:
the same elements, with the same launch.
"""

from __future__ import annotations

from tree_sitter import Node

from warplens.transform._change import Change, Edit, Effect, Proposals, Refusal, transform
from warplens.transform.syntax.canonical_form import canonical
from warplens.transform.syntax.guarded_index import BUILT_IN, COLLECTIVE, NotSafe, inside
from warplens.transform.syntax.kernel_source import KernelSource, LaunchFacts

WARP = 32


@transform("uncoalesced_access")
def lane_columns(kernel: KernelSource, launch: LaunchFacts) -> Proposals:
    for axis, other in (("x", "y"), ("y", "x")):
        fast = _variable(kernel, (f"blockIdx.{axis}",))
        blocks = f"blockIdx.{other}"
        slow = _variable(kernel, ("threadIdx.x", f"blockDim.x*{blocks}+threadIdx.x",
                                  f"{launch.block[0]}*{blocks}+threadIdx.x"))  # fmt: skip
        if fast is None or slow is None:
            continue
        try:
            yield _change(kernel, launch, axis, fast, slow)
        except NotSafe as reason:
            yield Refusal("", reason.line, f"lanes keep to their column: {reason.reason}")


def _variable(kernel: KernelSource, forms: tuple[str, ...]) -> Node | None:
    """The value of the only variable that is declared at the top with one of these forms, and stays so."""
    found = [
        (one, value) for node in kernel.body.named_children if node.type == "declaration"
        for one in node.children_by_field_name("declarator")
        if (value := one.child_by_field_name("value")) is not None and canonical(kernel, value) in forms
    ]  # fmt: skip
    if len(found) != 1:
        return None
    declarator, value = found[0]
    name = declarator.child_by_field_name("declarator")
    return value if name is not None and not kernel.written(kernel[name]) else None


def _change(kernel: KernelSource, launch: LaunchFacts, axis: str, fast: Node, slow: Node) -> Change:
    line, columns = kernel.line(fast), launch.grid["xyz".index(axis)]
    if launch.block[1:] != (1, 1) or launch.block[0] % WARP or columns % WARP:
        raise NotSafe(line, f"{columns:,} blocks and {launch.block[0]} threads are no whole warps of columns")
    for node in kernel.find("identifier"):
        if kernel[node] in BUILT_IN and not inside(node, fast) and not inside(node, slow):
            raise NotSafe(kernel.line(node), f"{kernel[node]} is used besides")
        if "__shared__" in kernel.data[kernel.line_start(node) : node.start_byte].decode():
            raise NotSafe(kernel.line(node), "the threads of a block share memory")
    for call in kernel.find("call_expression"):
        if kernel.called(call).startswith(COLLECTIVE):
            raise NotSafe(kernel.line(call), f"{kernel.called(call)} needs the other threads")
    block, rows = f"blockIdx.{axis}", f"{launch.block[0] // WARP}"
    size = "blockDim.x" if any(kernel[node] == "blockDim" for node in kernel.find("identifier", within=slow)) else ""
    rows = f"(blockDim.x / {WARP})" if size else rows
    before = "" if canonical(kernel, slow) == "threadIdx.x" else f"{_blocks(kernel, slow)} + "
    edits = (
        Edit(fast.start_byte, fast.end_byte, f"{block} / {WARP} * {WARP} + threadIdx.x % {WARP}"),
        Edit(slow.start_byte, slow.end_byte, f"{before}{block} % {WARP} * {rows} + threadIdx.x / {WARP}"),
    )
    effect: Effect = "order" if kernel.adds_floats else "exact"
    promise = f"blocks of {launch.block[0]} threads" if not size else f"blocks of a multiple of {WARP} threads"
    title = f"the lanes of a warp walk along what {block} counts"
    return Change("", title, line, edits, effect=effect, promise=f"{promise}; a multiple of {WARP} in gridDim.{axis}")


def _blocks(kernel: KernelSource, slow: Node) -> str:
    """`blockIdx.x * blockDim.x` of the sum that is the thread's number."""
    node = slow
    while node.type == "parenthesized_expression":
        node = node.named_children[0]
    one, other = node.children[0], node.children[2]
    return kernel[one if "blockIdx" in kernel[one] else other]

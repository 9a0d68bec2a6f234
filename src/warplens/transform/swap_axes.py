"""Swap axes: x and y exchanged, in the kernel and in its launch, where neighbouring lanes walk along the slow axis.

The lanes of a warp are neighbours in x: what is x in the launch should be the axis along which memory is contiguous.
"""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from warplens.transform._change import Change, Edit, Effect, LaunchChange, Proposals, Refusal, transform
from warplens.transform.syntax.guarded_index import BUILT_IN, COLLECTIVE
from warplens.transform.syntax.kernel_source import KernelSource, LaunchFacts

OTHER = {"x": "y", "y": "x"}
MOST_BLOCKS_Y = 65_535
WARP = 32


@transform("uncoalesced_access")
def swap_axes(kernel: KernelSource, launch: LaunchFacts) -> Proposals:
    axes = [node for node in kernel.find("field_expression") if kernel[node.children[0]] in BUILT_IN]
    used = {kernel[node] for node in axes}
    if not {"threadIdx.x", "threadIdx.y"} <= used:
        return
    line = min(kernel.line(node) for node in axes)
    for where, reason in _obstacles(kernel):
        yield Refusal("", where, f"x and y are not exchanged: {reason}")
        return
    if launch.grid[0] > MOST_BLOCKS_Y:
        yield Refusal("", line, f"x and y are not exchanged: {launch.grid[0]:,} blocks are too many for y")
        return
    edits = []
    for node in axes:
        field = node.children[-1]
        if (other := OTHER.get(kernel[field])) is not None:
            edits.append(Edit(field.start_byte, field.end_byte, other))
    (across, down, deep), (columns, rows, layers) = launch.block, launch.grid
    order: Effect = "order" if kernel.adds_floats else "exact"
    title = "exchange x and y of threads and blocks"
    if down > 1 and min(down, WARP) >= min(across, WARP) // 4:
        swapped = LaunchChange((down, across, deep), grid=(rows, columns, layers))
        yield Change("", title, line, tuple(edits), swapped, order)
    # Blocks of the old shape: x has as many threads as before, where the kernel asks for the size of its block.
    whole = not rows * down % across and not columns * across % down
    if across != down and {"blockDim.x", "blockDim.y"} <= used and whole:
        kept = LaunchChange(launch.block, grid=(rows * down // across, columns * across // down, layers))
        yield Change("", f"{title}, with blocks of the same shape", line, tuple(edits), kept, order)


def _obstacles(kernel: KernelSource) -> Iterator[tuple[int, str]]:
    """Lines in which it matters which threads are in one warp, and why."""
    for node in kernel.find("identifier"):
        if kernel[node] == "warpSize" or kernel[node].startswith(COLLECTIVE[1:]):
            yield kernel.line(node), f"{kernel[node]} depends on which threads are in a warp"
        elif kernel[node] in BUILT_IN and (node.parent is None or node.parent.type != "field_expression"):
            yield kernel.line(node), f"{kernel[node]} is used as a whole"
    for call in kernel.find("call_expression"):
        called = kernel.functions.get(kernel.called(call))
        if called is not None and _of_thread(kernel, called):
            yield kernel.line(call), f"{kernel.called(call)} looks at the thread's number itself"
        elif kernel.called(call) == "__syncwarp":
            yield kernel.line(call), "__syncwarp depends on which threads are in a warp"


def _of_thread(kernel: KernelSource, function: Node) -> bool:
    return any(kernel[node] in BUILT_IN for node in kernel.find("identifier", within=function))

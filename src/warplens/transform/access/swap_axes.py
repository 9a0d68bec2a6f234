"""Swap axes: x and y (or z) exchanged, in the kernel and its launch, where neighbouring lanes walk along a slow axis.

The lanes of a warp are neighbours in x: what is x in the launch should be the axis along which memory is contiguous.
"""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from warplens.transform._change import Change, Edit, Effect, LaunchChange, Proposals, Refusal, transform
from warplens.transform.launch.block_size import SHAPES, of_grid_index
from warplens.transform.syntax.guarded_index import BUILT_IN, COLLECTIVE
from warplens.transform.syntax.kernel_source import KernelSource, LaunchFacts

PAIRS = ("xy", "xz")
MOST_BLOCKS = 65_535  # in y and in z
WARP = 32
MOST_THREADS = 1024


@transform("uncoalesced_access")
def swap_axes(kernel: KernelSource, launch: LaunchFacts) -> Proposals:
    axes = [node for node in kernel.find("field_expression") if kernel[node.children[0]] in BUILT_IN]
    used = {kernel[node] for node in axes}
    for pair in PAIRS:
        if {f"threadIdx.{axis}" for axis in pair} <= used and launch.block["xyz".index(pair[1])] > 1:
            obstacle = next(_obstacles(kernel), None)
            if obstacle is not None:
                yield Refusal("", obstacle[0], f"{pair[0]} and {pair[1]} are not exchanged: {obstacle[1]}")
            elif launch.grid[0] > MOST_BLOCKS:
                reason = f"{launch.grid[0]:,} blocks are too many for {pair[1]}"
                yield Refusal("", kernel.line(axes[0]), f"{pair[0]} and {pair[1]} are not exchanged: {reason}")
            else:
                yield from _exchanged(kernel, launch, axes, pair)


def _exchanged(kernel: KernelSource, launch: LaunchFacts, axes: list[Node], pair: str) -> Proposals:
    """The exchange in blocks of the exchanged shape, and of other shapes where the kernel asks for the block's size."""
    other, place = dict(zip(pair, reversed(pair), strict=True)), "xyz".index(pair[1])
    fields = [node.children[-1] for node in axes if kernel[node.children[-1]] in other]
    edits = tuple(Edit(field.start_byte, field.end_byte, other[kernel[field]]) for field in fields)
    order: Effect = "order" if kernel.adds_floats else "exact"
    line = min(kernel.line(node) for node in axes)
    title = f"exchange {pair[0]} and {pair[1]} of threads and blocks"
    grid, block = _turned(launch.grid, place), _turned(launch.block, place)
    if min(block[0], WARP) >= min(launch.block[0], WARP) // 4:
        yield Change("", title, line, edits, LaunchChange(block, grid=grid, exchanged=place), order)
    if not {f"blockDim.{axis}" for axis in pair} <= {kernel[node] for node in axes}:
        return
    within = [node for node in axes if kernel[node][:-1] in ("threadIdx.", "blockIdx.") and kernel[node][-1] in pair]
    if not all(of_grid_index(kernel, node, kernel[node][-1]) for node in within) or kernel.calls("__syncthreads"):
        return  # its place in the block matters
    for shape in dict.fromkeys(((launch.block[0], launch.block[place]), *SHAPES)):
        across, down = shape
        columns, rows = grid[0] * block[0], grid[place] * block[place]
        if shape == (block[0], block[place]) or columns % across or rows % down:
            continue
        sizes, blocks = list(block), list(grid)
        sizes[0], sizes[place], blocks[0], blocks[place] = across, down, columns // across, rows // down
        if across * down * sizes[3 - place] > MOST_THREADS:
            continue
        kept = "the same shape" if shape == (launch.block[0], launch.block[place]) else f"{across} x {down} threads"
        yield Change("", f"{title}, with blocks of {kept}", line, edits,
                     LaunchChange(_three(sizes), grid=_three(blocks), exchanged=place), order)  # fmt: skip


def _turned(sizes: tuple[int, int, int], place: int) -> tuple[int, int, int]:
    """With x in the place of another axis, and that one in front."""
    turned = list(sizes)
    turned[0], turned[place] = turned[place], turned[0]
    return _three(turned)


def _three(sizes: list[int]) -> tuple[int, int, int]:
    x, y, z = sizes
    return x, y, z


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

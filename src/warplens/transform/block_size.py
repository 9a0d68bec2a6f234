"""Block size: as many threads in blocks of another size, where a kernel is written for any."""

from __future__ import annotations

from tree_sitter import Node

from warplens.transform._change import Change, LaunchChange, Proposals, Refusal, transform
from warplens.transform.syntax.canonical_form import canonical, is_grid_index
from warplens.transform.syntax.kernel_source import KernelSource, LaunchFacts

SIZES = (128, 256, 512)
NUMBERS = ("threadIdx.x", "blockIdx.x", "__syncthreads")


@transform()
def block_size(kernel: KernelSource, launch: LaunchFacts) -> Proposals:
    x, y, z = launch.block
    dimensions = {kernel[node] for node in kernel.find("field_expression") if kernel[node].startswith("blockDim.")}
    head = kernel.data[kernel.function.start_byte : kernel.body.start_byte].decode()
    if (y, z) != (1, 1) or "blockDim.x" not in dimensions or "__launch_bounds__" in head:
        return
    for node in kernel.find("field_expression", "identifier"):
        if kernel[node] in NUMBERS and not _of_grid_index(kernel, launch, node):
            reason = f"the block size stays: {kernel[node]} is used besides blockIdx.x * blockDim.x + threadIdx.x"
            yield Refusal("", kernel.line(node), reason)
            return
    threads = launch.grid[0] * x
    for size in SIZES:
        if size != x and not threads % size:
            grid = (threads // size, *launch.grid[1:])
            title = f"blocks of {size} threads instead of {x}"
            yield Change("", title, kernel.line(kernel.function), (), LaunchChange((size, 1, 1), grid=grid))


def _of_grid_index(kernel: KernelSource, launch: LaunchFacts, node: Node) -> bool:
    """Whether a number of thread or block is part of the number of a thread in the grid."""
    up = node.parent
    while up is not None and up.type in ("binary_expression", "parenthesized_expression", "cast_expression"):
        if is_grid_index(canonical(kernel, up), launch) and "blockDim.x" in canonical(kernel, up):
            return True
        up = up.parent
    return False

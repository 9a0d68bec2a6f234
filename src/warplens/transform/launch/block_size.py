"""Block size: as many threads in blocks of another size, where a kernel is written for any."""

from __future__ import annotations

from tree_sitter import Node

from warplens.transform._change import Change, LaunchChange, Proposals, Refusal, transform
from warplens.transform.syntax.canonical_form import canonical
from warplens.transform.syntax.kernel_source import KernelSource, LaunchFacts

SIZES = (128, 256, 512)
SHAPES = ((32, 8), (32, 16), (64, 4))  # x, y: a warp is a row


@transform()
def block_size(kernel: KernelSource, launch: LaunchFacts) -> Proposals:
    x, y, z = launch.block
    axes = "xy" if y > 1 else "x"
    dimensions = {kernel[node] for node in kernel.find("field_expression") if kernel[node].startswith("blockDim.")}
    head = kernel.data[kernel.function.start_byte : kernel.body.start_byte].decode()
    if z > 1 or any(f"blockDim.{axis}" not in dimensions for axis in axes) or "__launch_bounds__" in head:
        return
    for node in kernel.find("field_expression", "identifier"):
        name, axis = kernel[node], kernel[node][-1:]
        fixed = name == "__syncthreads" or (name[:-1] in ("threadIdx.", "blockIdx.") and axis in axes)
        if fixed and not of_grid_index(kernel, node, axis):
            axis = axis if axis in axes else "x"
            grid_index = f"blockIdx.{axis} * blockDim.{axis} + threadIdx.{axis}"
            yield Refusal("", kernel.line(node), f"the block size stays: {name} is used besides {grid_index}")
            return
    columns, rows = launch.grid[0] * x, launch.grid[1] * y
    for across, down in SHAPES if y > 1 else ((size, 1) for size in SIZES):
        if (across, down) != (x, y) and not columns % across and not rows % down:
            grid = (columns // across, rows // down, launch.grid[2])
            sizes = (f"{across} x {down}", f"{x} x {y}") if y > 1 else (str(across), str(x))
            title = f"blocks of {sizes[0]} threads instead of {sizes[1]}"
            yield Change("", title, kernel.line(kernel.function), (), LaunchChange((across, down, 1), grid=grid))


def of_grid_index(kernel: KernelSource, node: Node, axis: str) -> bool:
    """Whether a number of thread or block is part of the number of a thread in the grid, along this axis."""
    up = node.parent
    while up is not None and up.type in ("binary_expression", "parenthesized_expression", "cast_expression"):
        if canonical(kernel, up) == f"blockDim.{axis}*blockIdx.{axis}+threadIdx.{axis}":
            return True
        up = up.parent
    return False

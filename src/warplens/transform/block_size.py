"""Block size: as many threads in blocks of another size, where a kernel is written for any."""

from __future__ import annotations

from warplens.transform._change import Change, LaunchChange, Proposals, transform
from warplens.transform._kernel_source import KernelSource, LaunchFacts

SIZES = (128, 256, 512)


@transform()
def block_size(kernel: KernelSource, launch: LaunchFacts) -> Proposals:
    x, y, z = launch.block
    dimensions = {kernel[node] for node in kernel.find("field_expression") if kernel[node].startswith("blockDim.")}
    head = kernel.data[kernel.function.start_byte : kernel.body.start_byte].decode()
    if (y, z) != (1, 1) or "blockDim.x" not in dimensions or "__launch_bounds__" in head:
        return
    threads = launch.grid[0] * x
    for size in SIZES:
        if size != x and not threads % size:
            grid = (threads // size, *launch.grid[1:])
            title = f"blocks of {size} threads instead of {x}"
            yield Change("", title, kernel.line(kernel.function), (), LaunchChange((size, 1, 1), grid=grid))

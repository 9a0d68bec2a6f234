"""Launch bounds: `__launch_bounds__` with the block size of the launch, by which the compiler chooses registers."""

from __future__ import annotations

from warplens.transform._change import Change, Edit, Proposals, transform
from warplens.transform.syntax.kernel_source import KernelSource, LaunchFacts

REGISTERS = 65_536  # of an SM
MOST_BLOCKS = 32


@transform("low_occupancy", "local_memory")
def launch_bounds(kernel: KernelSource, launch: LaunchFacts) -> Proposals:
    head = kernel.data[kernel.function.start_byte : kernel.body.start_byte].decode()
    declarator = kernel.declarator(kernel.function)
    if "__launch_bounds__" in head or declarator is None:
        return
    line, threads = kernel.line(kernel.function), launch.threads
    promise = f"blocks of at most {threads} threads"
    yield Change(
        "", f"declare the block size: __launch_bounds__({threads})", line,
        (Edit(declarator.start_byte, declarator.start_byte, f"__launch_bounds__({threads}) "),), promise=promise,
    )  # fmt: skip
    for percent in (50, 75, 100):
        blocks = launch.warps * 32 * percent // 100 // threads
        if launch.resident < blocks <= MOST_BLOCKS and "low_occupancy" in launch.faults:
            yield Change(
                "", f"limit registers so that {blocks} blocks fit: __launch_bounds__({threads}, {blocks})", line,
                (Edit(declarator.start_byte, declarator.start_byte, f"__launch_bounds__({threads}, {blocks}) "),),
                promise=promise,
            )  # fmt: skip

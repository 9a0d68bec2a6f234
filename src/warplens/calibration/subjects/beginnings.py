"""Cold launch costs: first use of code, parameters and constant memory in a launch."""

from __future__ import annotations

from collections.abc import Iterator

from warplens.calibration.trial import SINK, TICKS, Arguments, Buffer, Trial

STRAIGHT = (16, 64, 128, 256, 512, 1024, 4096)
PARAMETERS = {
    "reads_none": 16, "reads_one": 16, "reads_sixteen": 16, "reads_by_64": 256, "reads_by_256": 256,
    "operands_one": 16, "operands_by_64": 256, "operands_by_256": 256,
}  # fmt: skip


def trials(multiprocessors: int) -> Iterator[Trial]:
    shapes = ((1, 32), (1, 512), (multiprocessors, 32), (multiprocessors, 512), (8 * multiprocessors, 128))
    for grid, block in shapes:
        label = f"{grid} blocks of {block}"
        for count in STRAIGHT:
            yield Trial(f"straight code of {count}, {label}", f"straight_{count}", grid, block, (SINK,))
        for count in (16, 64, 256, 1024, 4096):
            for reads in ("time", "ticks"):
                name = f"timed code of {count} {reads}, {label}"
                yield Trial(name, f"timed_{count}", grid, block, (TICKS,), reads)
        for count in (16, 64, 256):
            args: Arguments = (TICKS, SINK)
            yield Trial(f"leaps over {count} ticks, {label}", f"leaps_{count}", grid, block, args, "ticks")
            yield Trial(f"leaps over {count}, {label}", f"leaps_{count}", grid, block, args)
        for kernel, count in PARAMETERS.items():
            numbers = tuple(range(1, count + 1))
            name = kernel.replace("_", " ")
            yield Trial(f"parameters {name} ticks, {label}", kernel, grid, block, (TICKS, SINK, *numbers), "ticks")
            yield Trial(f"parameters {name}, {label}", kernel, grid, block, (TICKS, SINK, *numbers))
        for apart in (64, 256, 1024):
            name = f"constants by {apart}"
            yield Trial(f"{name} ticks, {label}", f"constants_by_{apart}", grid, block, (TICKS, SINK), "ticks")
            yield Trial(f"{name}, {label}", f"constants_by_{apart}", grid, block, (TICKS, SINK))
        n = grid * block
        yield Trial(f"needs parameters, {label}", "needs_parameters", grid, block, (Buffer(4096, "zeros"), 1))
        for many in (0, 1):
            what = "each thread" if many else "one"
            yield Trial(f"{what} stores, {label}", "stores_at", grid, block, (Buffer(4 * n, "zeros"), many))
        yield Trial(f"writes one, {label}", "writes_one", grid, block, (Buffer(4 * n, "zeros"),))
        copied = (Buffer(4 * n), Buffer(4 * n, "zeros"), n)
        yield Trial(f"copies one, {label}", "copies_one", grid, block, copied)
    for grid in (1, multiprocessors, 8 * multiprocessors):
        for mib in (1, 64, 1024):
            for lanes in (1, 8, 32):
                lines = (mib << 20) // 128
                name = f"steps, {grid} blocks, {lanes} lines each in {mib} MiB"
                args = (TICKS, Buffer(mib << 20, "zeros"), lines, lanes)
                yield Trial(name, "steps", grid, 32, args, "each", count=8 * grid)

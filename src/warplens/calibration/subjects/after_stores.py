"""Load after store: loads that follow stores of the same warp."""

from __future__ import annotations

from collections.abc import Iterator

from warplens.calibration.trial import MIB, TICKS, Arguments, Buffer, Trial

ROW, ROUNDS = 256, 128  # words of x that a warp reads, and how often it reads 32 of them
KERNELS = (
    "after_none", "after_one", "after_two", "after_four", "after_streamed", "after_through", "after_same",
    "after_next", "far_none", "far_one",
)  # fmt: skip


def trials(multiprocessors: int) -> Iterator[Trial]:
    for kernel in KERNELS:
        for grid, warps in ((1, 1), (1, 4), (1, 16), (multiprocessors, 16)):
            for label, step in (("one place", 0), ("new lines", 128)):
                if "none" in kernel and step:
                    continue
                x, y = Buffer(4 * ROW * warps * grid, "zeros"), Buffer(32 * MIB * max(grid // 4, 1), "zeros")
                args: Arguments = (TICKS, x, y, ROUNDS, ROW, step, ROUNDS * 128 if step else 1024)
                name = f"load {kernel.replace('_', ' ')} stored to {label}, {grid} blocks of {warps} warps"
                yield Trial(name, kernel, grid, 32 * warps, args, "ticks", ROUNDS, warm=True)
    for row in (256, 1024, 2048, 4096):
        for blocks in (1, 8, 32):
            for again in (0, 1, 4):
                rows = (
                    Buffer(4 * row * blocks * multiprocessors),
                    Buffer(4 * row * blocks * multiprocessors, "zeros"),
                )
                name = f"rows of {row} read once and {again} times stored, {blocks} warps a multiprocessor"
                yield Trial(name, "after_rows", blocks * multiprocessors, 32, (*rows, row, again))

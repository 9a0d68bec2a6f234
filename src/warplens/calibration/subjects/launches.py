"""Launch overhead: cost of starting kernels and blocks; and the clocks."""

from __future__ import annotations

from collections.abc import Iterator

from warplens.calibration.trial import MIB, SINK, TICKS, Arguments, Buffer, Trial

ALONE = 200 << 10  # bytes of shared memory that leave no room for a second block


def trials(multiprocessors: int) -> Iterator[Trial]:
    for a_multiprocessor in (0, 1, 2, 4, 8, 16, 32, 64, 512):
        for block in (32, 64, 128, 256, 512, 1024):
            grid = max(multiprocessors * a_multiprocessor, 1)
            yield Trial(f"empty, {grid} blocks of {block}", "empty", grid, block)
    for shared in (16 << 10, 100 << 10, ALONE):
        grid = multiprocessors * 8
        yield Trial(f"empty, {grid} blocks of 256 with {shared} B", "empty", grid, 256, shared=shared)
    for cycles in (2_000, 5_000, 20_000, 200_000):
        yield Trial(f"spin {cycles}", "spin", 1, 32, (TICKS, cycles))
        yield Trial(f"spin {cycles} ticks", "spin", 1, 32, (TICKS, cycles), "ticks")
    for block in (32, 256, 1024):
        args: Arguments = (TICKS, Buffer(4096, "zeros"), 1000)
        grid = multiprocessors * 8
        yield Trial(f"block gap, {block} threads", "block_gap", grid, block, args, "each", shared=ALONE, count=grid)
    for block, resident in ((32, 32), (64, 32), (128, 16), (256, 8), (512, 4), (1024, 2)):
        grid = multiprocessors * resident
        args = (TICKS, 40_000)
        label = f"block starts, {resident} of {block} threads"
        yield Trial(label, "block_starts", grid, block, args, "starts", count=grid)
    yield Trial("clock, idle", "clock_idle", 1, 32, (TICKS, 20_000_000), "ticks")
    yield Trial("clock, computing", "clock_compute", multiprocessors * 8, 256, (TICKS, SINK, 20_000), "ticks")
    args = (TICKS, Buffer(1024 * MIB), SINK, 1024 * MIB // 16, 32)
    yield Trial("clock, reading", "clock_memory", multiprocessors * 8, 256, args, "ticks")

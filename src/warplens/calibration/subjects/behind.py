"""L1 hits under misses: hits while misses are pending, and rows that are read twice."""

from __future__ import annotations

from collections.abc import Iterator

from warplens.calibration.trial import MIB, SINK, TICKS, Buffer, Trial

ROWS = 136


def trials(multiprocessors: int) -> Iterator[Trial]:
    for kernel in ("down_0", "down_first_1", "down_first_4", "down_last_4", "down_ahead"):
        for blocks in (1, 8, 64, multiprocessors, 4 * multiprocessors):
            width = 256 * blocks
            down = (TICKS, Buffer(4 * width * ROWS), SINK, ROWS, width)
            name = f"{kernel.replace('_', ' ')}, {blocks} blocks of 256"
            yield Trial(name, kernel, blocks, 256, down, "ticks", ROWS - 8)
    for mib in (16, 64):
        for row in (128, 256, 512, 1024, 2048):
            rows = (Buffer(mib * MIB), Buffer(mib * MIB, "zeros"), row)
            yield Trial(f"rows of {row} twice, {mib} MiB", "rows_twice", mib * MIB // 4 // row, 32, rows)
    for blocks in (1, 2, 4, 8):
        runs = (Buffer(64 * MIB), SINK, 16 * MIB, 16, 16)
        name = f"read runs of 16 every 16, 64 MiB, {blocks} blocks a multiprocessor"
        yield Trial(name, "read_runs_of", blocks * multiprocessors, 256, runs)

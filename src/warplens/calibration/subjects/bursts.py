"""Bursts: loads followed by stores, 64-byte half lines, lines that several SMs request at once."""

from __future__ import annotations

from collections.abc import Iterator

from warplens.calibration.trial import MIB, SINK, TICKS, Buffer, Trial

LINES = 64


def trials(multiprocessors: int) -> Iterator[Trial]:
    for kib in (512, 1024, 2048, 4096, 8192, 16384):
        size, threads = kib << 10, kib << 6
        x, y = Buffer(size), Buffer(size, "zeros")
        for each in (1, 4):
            grid = threads // each // 256
            yield Trial(f"burst read {each}, {kib} KiB", f"burst_read_{each}", grid, 256, (x, SINK), moves=size)
            yield Trial(f"burst copy {each}, {kib} KiB", f"burst_copy_{each}", grid, 256, (x, y), moves=2 * size)
        yield Trial(f"burst sum, {kib} KiB", "burst_sum", threads // 256, 256, (x, x, y), moves=3 * size)
    for second in (0, 1, 2):
        for later in (0, 100, 300, 600, 1000):
            args = (TICKS, Buffer(MIB, "zeros"), SINK, LINES, second, later)
            name = f"neighbour, sector {second} after {later} cycles"
            yield Trial(name, "neighbour", 1, 64, args, "each", count=LINES)
    for blocks in (1, 8, multiprocessors):
        for apart in (8, 16, 32, 128, 1056):
            for later in (0, 100):
                args = (TICKS, Buffer(MIB, "zeros"), SINK, LINES, apart, later)
                name = f"together, {blocks} blocks, lines {4 * apart} bytes apart, {later} cycles later each"
                yield Trial(name, "together", blocks, 32, args, "ticks", LINES)
    for blocks in (1, 16, 64, multiprocessors):
        for apart in (32, 160):
            ring = (TICKS, Buffer(blocks * LINES * apart * 4, "zeros"), SINK, LINES, apart)
            name = f"ring, {blocks} blocks, lines {4 * apart} bytes apart"
            yield Trial(name, "ring", blocks, 32, ring, "ticks", LINES)
            yield Trial(f"{name}, time", "ring", blocks, 32, ring)
    for blocks in (1, multiprocessors):
        args = (TICKS, Buffer(MIB, "zeros"), SINK, LINES, 128, 0)
        yield Trial(f"together, {blocks} blocks, time", "together", blocks, 32, args)

"""L1 and L2, of one multiprocessor alone and of all: rates by width, by warps and by footprint."""

from __future__ import annotations

from collections.abc import Iterator

from warplens.calibration.trial import MIB, SINK, TICKS, Buffer, Trial


def trials(multiprocessors: int) -> Iterator[Trial]:
    for grid in (1, multiprocessors):
        yield from _again(grid)
    for blocks in (1, 2, 4, 8):
        for name in ("1_1", "1_4", "4_1", "4_4"):
            n = 4 * MIB // 4
            yield Trial(
                f"one multiprocessor reads {name}, {blocks} warps", f"again_{name}", 1, 32 * 4 * blocks,
                (Buffer(4 * n), SINK, n), warm=True, moves=4 * n,
            )  # fmt: skip
    yield from _windows(multiprocessors)
    yield from _apart(multiprocessors)
    for step in (0, 1, 2, 3, 4, 8, 9, 16, 32, 33):
        for warps in (1, 2, 4, 5, 8, 32):
            args = (TICKS, Buffer(8192), SINK, 32, step, 0)
            yield Trial(f"L1 hits, step {step}, {warps} warps", "hits_strided", 1, 32 * warps, args, "ticks", 32 * 16)
    for width in (4, 8, 16):
        for step, where in ((0, "one place"), (width // 4, "a row")):
            for warps in (4, 8, 32):
                args = (TICKS, Buffer(8192), SINK, 32, step, 0)
                name = f"L1 hits, {width} B of {where}, {warps} warps"
                yield Trial(name, f"hits_{width}", 1, 32 * warps, args, "ticks", 32 * 16)


def _again(grid: int) -> Iterator[Trial]:
    for name, size in (("again", 4), ("again_4", 16)):
        for threads in (128, 512, 1024):
            args = (Buffer(MIB), SINK, 65536 // size, 0, 64)
            yield Trial(f"{name} L1, {grid} x {threads}", name, grid, threads, args)
        args = (Buffer(2 * MIB), SINK, 2 * MIB // size, 0, 8)
        yield Trial(f"{name} L2, {grid} x 1024", name, grid, 1024, args, warm=True)


def _windows(multiprocessors: int) -> Iterator[Trial]:
    rounds = 128
    for kernel, width in (("window_4", 4), ("window_8", 8), ("window_16", 16)):
        for warps in (1, 2, 4, 8, 16, 32):
            args, moves = (Buffer(32 << 10), SINK, 32 << 10, rounds, 0), 32 * warps * 8 * width * rounds
            yield Trial(f"L1 {width} B, {warps} warps of one", kernel, 1, 32 * warps, args, warm=True, moves=moves)
    for kernel, width in (("window_l2_4", 4), ("window_l2_16", 16)):
        same, own = (4 * MIB, 4096), (16 * MIB, 3 * 32768)  # window and from one block to the next
        for warps in (1, 2, 4, 8, 16, 32):
            args, moves = (Buffer(same[0]), SINK, same[0], rounds, same[1]), 32 * warps * 8 * width * rounds
            yield Trial(f"L2 {width} B, {warps} warps of one", kernel, 1, 32 * warps, args, warm=True, moves=moves)
        for grid in (2, 4, 8, 16, 33, 66, multiprocessors):
            for (window, apart), label in ((same, ""), (own, ", each another part")):
                args, moves = (Buffer(window), SINK, window, rounds, apart), grid * 1024 * 8 * width * rounds
                name = f"L2 {width} B, {grid} multiprocessors{label}"
                yield Trial(name, kernel, grid, 1024, args, warm=True, moves=moves)
    for mib in (1, 2, 4, 8, 16, 32):
        for apart in (0, 128, 4096, 32768, 98304, 1245184):
            window, moves = mib * MIB, multiprocessors * 1024 * 8 * 16 * rounds
            args = (Buffer(window), SINK, window, rounds, apart)
            name = f"L2 window, {mib} MiB, blocks {apart} apart"
            yield Trial(name, "window_l2_16", multiprocessors, 1024, args, warm=True, moves=moves)
    for mib in (4, 8, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 128, 200):
        size, rounds = mib * MIB, max(512 // mib, 2)
        swept = (Buffer(size), SINK, size // 16, rounds)
        yield Trial(f"working set, {mib} MiB", "swept_16", multiprocessors, 1024, swept, warm=True, moves=size * rounds)


def _apart(multiprocessors: int) -> Iterator[Trial]:
    """Accesses of many lines, from L2; and hits in L1 while others miss."""
    n, grid = 4 * MIB, multiprocessors * 8
    for stride in (1, 2, 4, 8, 16, 32):
        stores, loads = (Buffer(4 * n, "zeros"), n, stride, 8), (Buffer(4 * n), SINK, n, stride, 8)
        yield Trial(f"words apart, stores {stride}", "write_apart", grid, 256, stores, warm=True)
        yield Trial(f"words apart, loads {stride}", "read_apart", grid, 256, loads, warm=True)
    for blocks, whose in ((1, "one"), (multiprocessors, "all")):
        for warps in (2, 8, 32):
            n = 4 * MIB
            args = (TICKS, Buffer(16384, "chain 32"), Buffer(16 * n), SINK, 8, n)
            name = f"hit under miss, {warps} warps of {whose}"
            yield Trial(name, "hit_under_miss", blocks, 32 * warps, args, "ticks", 16 * 8)

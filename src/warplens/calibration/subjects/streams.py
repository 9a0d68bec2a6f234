"""DRAM bandwidth: by bytes in flight, reads, writes, copies, partial lines, orders; and blocks with little work."""

from __future__ import annotations

from collections.abc import Iterator

from warplens.calibration.trial import MIB, SINK, Arguments, Buffer, Trial

BIG = 256 * MIB
WORDS = BIG // 4


def trials(multiprocessors: int) -> Iterator[Trial]:
    yield from _reads(multiprocessors)
    yield from _copies(multiprocessors)
    yield from _parts(multiprocessors)
    yield from _once()
    for mib in (4, 16, 32, 48):
        n = mib * MIB // 4
        for name in ("4_4", "1_4"):
            args = (Buffer(4 * n), SINK, n)
            yield Trial(
                f"read {name} warm {mib} MiB", f"read_{name}", multiprocessors * 8, 256, args, warm=True, moves=4 * n
            )


def _reads(multiprocessors: int) -> Iterator[Trial]:
    for name in ("1_1", "1_2", "1_4", "1_8", "2_1", "2_4", "4_1", "4_2", "4_4"):
        for blocks in (1, 2, 4, 8):
            args = (Buffer(BIG), SINK, WORDS)
            yield Trial(f"read {name}, {blocks} x 256", f"read_{name}", multiprocessors * blocks, 256, args, moves=BIG)
    for name in ("1_1", "1_4", "4_1", "4_4"):
        for block in (32, 64, 128):
            args = (Buffer(BIG), SINK, WORDS)
            yield Trial(f"read {name}, 1 x {block}", f"read_{name}", multiprocessors, block, args, moves=BIG)
    for gib in (1, 4):
        size = gib << 30
        for name in ("1_1", "4_1", "4_4"):
            args = (Buffer(size), SINK, size // 4)
            yield Trial(f"read {name}, {gib} GiB", f"read_{name}", multiprocessors * 8, 256, args, moves=size)


def _copies(multiprocessors: int) -> Iterator[Trial]:
    for name in ("1_1", "1_4", "4_1", "4_4"):
        for blocks in (2, 8):
            args: Arguments = (Buffer(BIG), Buffer(BIG, "zeros"), WORDS)
            grid = multiprocessors * blocks
            yield Trial(f"copy {name}, {blocks} x 256", f"copy_{name}", grid, 256, args, moves=2 * BIG)
    for mib in (2, 8, 16, 24, 64, 1024, 2048):
        size, grid = mib * MIB, multiprocessors * 8
        args = (Buffer(size), Buffer(size, "zeros"), size // 4)
        yield Trial(f"copy 4_1, {mib} MiB", "copy_4_1", grid, 256, args, moves=2 * size)
        yield Trial(f"copy 4_1 warm, {mib} MiB", "copy_4_1", grid, 256, args, moves=2 * size, warm=True)
        merged = (Buffer(size), Buffer(size), Buffer(size, "zeros"), size // 16)
        yield Trial(f"merge, {mib} MiB", "merge", grid, 256, merged, moves=3 * size)
    for width in (1, 4):
        args = (Buffer(BIG, "zeros"), WORDS)
        yield Trial(f"write {width}", f"write_{width}", multiprocessors * 8, 256, args, moves=BIG)
    for mib in (1, 2, 4, 8, 16, 24, 32, 48, 64, 128, 1024, 2048):
        args = (Buffer(mib * MIB, "zeros"), mib * MIB // 4)
        for warm in (False, True):
            label = f"write 4{' warm' if warm else ''}, {mib} MiB"
            yield Trial(label, "write_4", multiprocessors * 8, 256, args, moves=mib * MIB, warm=warm)


def _parts(multiprocessors: int) -> Iterator[Trial]:
    grid = multiprocessors * 8
    for stride in (2, 4, 8, 16, 32, 64, 128):
        times = 4 if stride > 32 else 1
        args: Arguments = (Buffer(times * BIG), SINK, times * WORDS, stride)
        yield Trial(f"read strided {stride}", "read_strided", grid, 256, args)
        args = (Buffer(BIG, "zeros"), WORDS, stride)
        if stride <= 32:
            yield Trial(f"write strided {stride}", "write_strided", grid, 256, args)
            small = (Buffer(16 * MIB, "zeros"), 4 * MIB, stride)
            yield Trial(f"write strided {stride}, 16 MiB", "write_strided", grid, 256, small)
    for sectors in (1, 2, 3, 4):
        args = (Buffer(4 * BIG), SINK, 4 * WORDS, sectors)
        moves = BIG * sectors
        yield Trial(f"read sectors, {sectors} of 4", "read_sectors", grid, 256, args, moves=moves)
    for odd in (1, 3, 33, 129, 4097, 65537, 1234567, 2654435):
        args = (Buffer(4 * BIG), SINK, BIG // 32, odd)
        yield Trial(f"read scattered, lines times {odd}", "read_scattered", grid, 256, args, moves=4 * BIG)


def _once() -> Iterator[Trial]:
    """One element a thread."""
    for kib in (1, 4, 16, 64, 256):
        size, n = kib * 1024, kib * 256
        yield Trial(f"once read {kib} KiB", "once_read", n // 256, 256, (Buffer(size), SINK, n), moves=size)
        yield Trial(f"once write {kib} KiB", "once_write", n // 256, 256, (Buffer(size, "zeros"), n), moves=size)
        args = (Buffer(4 * size), Buffer(4 * size, "zeros"), n)
        yield Trial(f"once scale {4 * kib} KiB", "once_scale", n // 256, 256, args, moves=8 * size)
    for mib in (1, 4, 16, 64, 256):
        size, n = mib * MIB, mib * MIB // 4
        for block in (64, 128, 256, 512, 1024):
            args = (Buffer(size), SINK, n)
            yield Trial(f"once read {mib} MiB, {block}", "once_read", n // block, block, args, moves=size)
        yield Trial(f"once write {mib} MiB", "once_write", n // 256, 256, (Buffer(size, "zeros"), n), moves=size)
        yield Trial(
            f"once scale {mib} MiB",
            "once_scale",
            n // 1024,
            256,
            (Buffer(size), Buffer(size, "zeros"), n // 4),
            moves=2 * size,
        )

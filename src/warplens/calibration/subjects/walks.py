"""Walks: threads along rows of their own, and warps along the same rows."""

from __future__ import annotations

from collections.abc import Iterator

from warplens.calibration.trial import MIB, SINK, Argument, Buffer, Trial

STORES = (1, 2, 4, 8, 16)  # bytes


def trials(multiprocessors: int) -> Iterator[Trial]:
    yield from _loads(multiprocessors)
    yield from _stores(multiprocessors)
    for words, stride in ((64, 64), (64, 1024), (64, 1032)):
        for warps in (1, 8, 32):
            grid, block = _shape(warps, multiprocessors)
            size = 4 * stride * grid * block
            if size <= 128 * MIB:
                args: tuple[Argument, ...] = (Buffer(size), Buffer(size, "zeros"), words, stride)
                yield Trial(f"walk sums, {words} every {stride}, {warps} warps", "walk_sums", grid, block, args)
    for pitch in (32, 64, 1024):
        for lines in (1024, 1408, 1536, 1664, 1792, 1920, 1984, 2048, 2304, 3072):
            args = (Buffer(4 * pitch * lines), SINK, lines, pitch, 64)
            yield Trial(f"walk again, {lines} lines every {pitch} words", "walk_again", 1, 128, args)
    for lanes in (8, 16, 32):
        for alike in (1, 2, 8):
            grid = 8 * multiprocessors
            rounds = 16 * MIB // (grid * 8 // alike * 64 * lanes)
            args = (Buffer(16 * MIB), SINK, alike, lanes, rounds)
            label = f"walk alike, {alike} warps, pieces of {4 * lanes} B"
            yield Trial(label, "walk_alike", grid, 256, args, warm=True)
            yield Trial(f"{label}, cold", "walk_alike", grid, 256, args)
    for blocks in (1, 2, 4, 8):
        grid = blocks * multiprocessors
        args = (Buffer(16 * MIB), SINK, 16 * MIB // (grid * 1024))
        yield Trial(f"walk row, {blocks} blocks of 256", "walk_row", grid, 256, args, warm=True)
        yield Trial(f"walk row, {blocks} blocks of 256, cold", "walk_row", grid, 256, args)


def _shape(warps: int, multiprocessors: int) -> tuple[int, int]:
    """Grid and block of so many warps a multiprocessor."""
    block = 32 * min(warps, 8)
    return warps * multiprocessors * 32 // block, block


def _loads(multiprocessors: int) -> Iterator[Trial]:
    for arrays in (1, 2, 4):
        for warps in (16, 32, 48, 64):
            yield _load(arrays, warps, 64, 64, 32, multiprocessors)
    for lanes in (1, 2, 4, 8, 16, 32):
        yield _load(1, 1, 128, 512, lanes, multiprocessors)
        yield _load(1, 1, 128, 512, lanes, multiprocessors, warm=True)
    for stride in (512, 513, 520, 544, 1024, 16384):
        for warps in (1, 2, 4):
            if stride != 16384 or warps == 1:
                yield _load(1, warps, 256, stride, 32, multiprocessors)
    yield _load(2, 1, 256, 512, 32, multiprocessors)
    yield _load(4, 1, 256, 512, 32, multiprocessors)


def _load(arrays: int, warps: int, words: int, stride: int, lanes: int, of: int, warm: bool = False) -> Trial:
    grid, block = _shape(warps, of)
    apart = stride * grid * block
    label = f"walk {words} of every {stride} words, {arrays} arrays, {warps} warps, {lanes} lanes"
    args = (Buffer(4 * apart * arrays), SINK, words, stride, apart, lanes)
    return Trial(label + (", warm" if warm else ""), f"walk_loads_{arrays}", grid, block, args, warm=warm)


def _stores(multiprocessors: int) -> Iterator[Trial]:
    for size in STORES:
        for row, pitch in ((64, 64), (64, 256), (32, 32), (256, 256)):
            for warps in (1, 8, 32):
                grid, block = _shape(warps, multiprocessors)
                if pitch == 256 and warps == 32 and row == 256 and size > 4:
                    continue
                args: tuple[Argument, ...] = (Buffer(pitch * grid * block, "zeros"), row // size, pitch // size)
                label = f"walk stores, {row} of every {pitch} B, {size} B at once, {warps} warps"
                yield Trial(label, f"walk_stores_{size}", grid, block, args, warm=True)

"""Block residency: when the next blocks start, and how many warps are active meanwhile."""

from __future__ import annotations

from collections.abc import Iterator

from warplens.calibration.trial import Arguments, Buffer, Trial


def trials(multiprocessors: int) -> Iterator[Trial]:
    for block in (32, 128, 256, 1024):
        for each in (1, 4, 16, 64):
            for cycles in (0, 1000, 4000):
                yield _of("stays", f"{each} blocks of {block}", block, each * multiprocessors, (cycles, 1, 1))
    for each in (1, 4, 24):
        for every, times in ((4, 8), (8, 8)):
            label = f"{each} blocks of 256, 1 warp of {every} {times} times"
            yield _of("stays", label, 256, each * multiprocessors, (1000, every, times))
    for block in (32, 256, 1024):
        yield _of("stays_quietly", f"64 blocks of {block}", block, 64 * multiprocessors, (1000,))


def _of(kernel: str, label: str, block: int, grid: int, rest: tuple[int, ...]) -> Trial:
    args: Arguments = (Buffer(32 * grid * (block // 32), "zeros"), *rest)
    return Trial(f"{kernel.replace('_', ' ')}, {label}, {rest[0]} cycles", kernel, grid, block, args)

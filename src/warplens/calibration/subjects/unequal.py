"""Load imbalance: blocks and warps with unequal work, and very short launches."""

from __future__ import annotations

from collections.abc import Iterator

from warplens.calibration.trial import SINK, Buffer, Trial


def trials(multiprocessors: int) -> Iterator[Trial]:
    for a_half in (1, 2, 3, 4, 8, 9, 16, 33):
        for block in (64, 256, 1024):
            grid = max(multiprocessors * a_half // 2, 1)
            for rounds in (4, 64):
                name = f"equal work, {grid} blocks of {block}, {rounds} rounds"
                yield Trial(name, "equal", grid, block, (SINK, rounds))
    for kernel in ("some_blocks", "mixed_blocks", "some_warps", "growing", "shrinking"):
        for every, times in ((4, 4), (16, 16)):
            for each in (4, 8, 40):
                name = f"{kernel.replace('_', ' ')}, 1 of {every} has {times} times, {each} blocks a multiprocessor"
                args = (SINK, 16, every, times)
                yield Trial(name, kernel, each * multiprocessors, 256, args)
    for kernel in ("load_once", "store_once", "both_once"):
        for block in (128, 256, 1024):
            for kib in (64, 528, 1056, 4224):
                grid = kib * 256 // block
                args_of = {
                    "load_once": (Buffer(kib << 10), SINK),
                    "store_once": (Buffer(kib << 10, "zeros"),),
                }
                both = (Buffer(kib << 10), Buffer(kib << 10, "zeros"))
                name = f"{kernel.replace('_', ' ')}, {kib} KiB, blocks of {block}"
                yield Trial(name, kernel, grid, block, args_of.get(kernel, both))

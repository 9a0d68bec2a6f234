"""Warp scheduling: which warp a scheduler issues, and how unevenly equal warps and blocks end."""

from __future__ import annotations

from collections.abc import Iterator

from warplens.calibration.trial import MIB, SINK, TICKS, Buffer, Trial


def trials(multiprocessors: int) -> Iterator[Trial]:
    for who in (0, 4, 8, 12, 16, 20, 24, 28):
        args = (TICKS, SINK, 32, who)
        yield Trial(f"turn of warp {who} of 32, additions", "turn_add", 1, 1024, args, "ticks", 1)
        loads = (TICKS, Buffer(8192), SINK, 64, who)
        yield Trial(f"turn of warp {who} of 32, loads", "turn_load", 1, 1024, loads, "ticks", 1)
    for blocks in (1, 4, 8):
        for meet in (0, 1):
            grid = blocks * multiprocessors
            far = (TICKS, Buffer(4 * MIB), SINK, 64, 4 * MIB, meet)
            label = "with barriers" if meet else "alone"
            name = f"turns of {blocks} blocks of 256 in L2, {label}"
            yield Trial(name, "turn_far", grid, 256, far, "each", 1, count=8 * grid, warm=True)

"""Branches, barriers and fences."""

from __future__ import annotations

from collections.abc import Iterator

from warplens.calibration.trial import SINK, TICKS, Trial


def trials(multiprocessors: int) -> Iterator[Trial]:
    del multiprocessors
    for warps in (1, 4, 16):
        for name in ("branch", "long", "parting"):
            args = (TICKS, SINK, 16)
            label = name if name == "branch" else f"loop {name}"
            yield Trial(f"{label}, {warps} warps", f"loop_{name}", 1, 32 * warps, args, "ticks", 16 * 64)
    for warps in (1, 2, 4, 8, 16, 32):
        yield Trial(f"barrier, {warps} warps", "loop_barrier", 1, 32 * warps, (TICKS, SINK, 64), "ticks", 64 * 16)
    yield Trial("fence, 1 warps", "loop_fence", 1, 32, (TICKS, SINK, 16), "ticks", 16 * 4)

"""Instruction cache: code executed once, and loops of many sizes."""

from __future__ import annotations

from collections.abc import Iterator

from warplens.calibration.trial import SINK, TICKS, Arguments, Trial

SIZES = (64, 128, 192, 256, 512, 768, 1024, 2048, 4096, 8192)


def trials(multiprocessors: int) -> Iterator[Trial]:
    for name, count in (("code_long", 800), ("code_longer", 4000)):
        for grid in (1, multiprocessors):
            args: Arguments = (TICKS, SINK, 2.0)
            yield Trial(f"cold code, {count} in {grid} blocks", name, grid, 32, args, "ticks", count)
            yield Trial(f"warm code, {count} in {grid} blocks", name, grid, 32, args, "ticks", count, warm=True)
    for size in SIZES:
        rounds = 16384 // size
        for warps in (1, 4, 16):
            args = (TICKS, SINK, rounds, 2.0)
            yield Trial(f"loop of {size}, {warps} warps", f"body_{size}", 1, 32 * warps, args, "ticks", rounds * size)
    for kernel, count, per in (
        ("wide_256", 256, 256), ("wide_1024", 1024, 1024), ("wide_4096", 4096, 4096), ("jumps_64", 64, 16),
        ("jumps_256", 256, 16),
    ):  # fmt: skip
        for grid, warps in ((1, 1), (1, 4), (1, 16), (multiprocessors, 16)):
            for warm in (False, True):
                label = "warm" if warm else "cold"
                name = f"{label} {kernel.split('_')[0]} code, {count} in {grid} blocks of {warps} warps"
                yield Trial(name, kernel, grid, 32 * warps, (TICKS, SINK, 2.0), "ticks", per, warm=warm)

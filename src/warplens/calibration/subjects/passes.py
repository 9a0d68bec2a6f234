"""Atomic throughput: atomics as they leave an SM, and of all SMs at the same L2 units."""

from __future__ import annotations

from collections.abc import Iterator

from warplens.calibration.trial import MIB, SINK, TICKS, Arguments, Buffer, Trial

# Words that a warp's lanes take in turn, and how many words lie between two of them.
LANES = ((1, 1), (2, 1), (4, 1), (8, 1), (16, 1), (32, 1), (16, 4), (32, 8), (32, 1056))
PLACES = 128


def trials(multiprocessors: int) -> Iterator[Trial]:
    zeros = Buffer(4 * MIB, "zeros")
    for words, step in LANES:
        for grid, threads in ((1, 256), (multiprocessors, 1024)):
            warps = grid * threads // 32
            for rounds in (16, 64):
                label = f"{words} words every {step}, {grid} x {threads}, {rounds} rounds"
                args: Arguments = (zeros, words, step, 1056 * (warps + 3), rounds)
                yield Trial(f"passes add, {label}", "passes_add", grid, threads, args, warm=True)
                args = (zeros, SINK, *args[1:])
                yield Trial(f"passes return, {label}", "passes_return", grid, threads, args, warm=True)
    yield Trial("place", "place", 1, 1, (TICKS, zeros, SINK, PLACES), "each", count=PLACES, warm=True)
    for words in (1, 8, 64, 520, 4096):
        for grid, threads in ((16, 128), (multiprocessors, 32), (multiprocessors, 128), (4 * multiprocessors, 256)):
            args = (zeros, words, 520, 180)
            yield Trial(f"step, {words} words, {grid} x {threads}", "step", grid, threads, args, warm=True)

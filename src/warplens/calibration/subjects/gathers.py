"""Gathers: rates of L1, L2 and DRAM for lanes that read scattered words."""

from __future__ import annotations

from collections.abc import Iterator

from warplens.calibration.trial import MIB, SINK, Argument, Buffer, Trial

SIZES = (1, 4, 16, 32, 64, 256, 1024)  # MiB


def trials(multiprocessors: int) -> Iterator[Trial]:
    for mib in SIZES:
        words, warm = mib * MIB // 4, mib <= 32
        for kernel, label in (("gather_1", "one"), ("gather_4", "four")):
            for blocks in (1, 8):
                rounds = 64 // (4 if kernel == "gather_4" else 1)
                args: tuple[Argument, ...] = (Buffer(mib * MIB), SINK, words, rounds)
                name = f"gather {label} at once, {mib} MiB, {blocks} blocks of 256"
                yield Trial(name, kernel, blocks * multiprocessors, 256, args, warm=warm)
        args = (Buffer(mib * MIB, "zeros"), words, 16)
        yield Trial(f"scatter, {mib} MiB", "scatter_1", 8 * multiprocessors, 256, args, warm=warm)
    for warps in (1, 8, 32):
        args = (Buffer(16 * MIB), SINK, 4 * MIB, 64)
        yield Trial(f"gather one at once, 16 MiB, {warps} warps of one", "gather_1", 1, 32 * warps, args, warm=True)
    for bits in (16, 20, 21, 22, 23, 24):
        words = 1 << bits
        for kind in ("loads", "stores", "adds"):
            args = (Buffer(4 * words), Buffer(4 * words, "zeros"), words - 1, bits)
            yield Trial(f"permuted {kind}, {words} words", f"permuted_{kind}", words // 256, 256, args)

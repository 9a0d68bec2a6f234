"""Scattered accesses of a few bytes, read and written, and pointer chains: cost of distant pages."""

from __future__ import annotations

from collections.abc import Iterator

from warplens.calibration.trial import MIB, SINK, TICKS, Arguments, Buffer, Trial

FAR = (64, 256, 1024, 4096, 16384, 49152)  # MiB


def trials(multiprocessors: int) -> Iterator[Trial]:
    grid = 8 * multiprocessors
    for mib in (16, 32, 128, 1024):
        warm = mib == 16
        for kernel, width, lanes in (
            ("load_pieces", 1, 1), ("load_pieces", 1, 8), ("load_pieces", 1, 16), ("load_pieces", 1, 32),
            ("load_pieces_16", 4, 1), ("load_pieces_16", 4, 2), ("load_pieces_16", 4, 8), ("load_pieces_16", 4, 32),
            ("store_pieces", 1, 1), ("store_pieces", 1, 2), ("store_pieces", 1, 8), ("store_pieces", 1, 16),
            ("store_pieces", 1, 32), ("store_pieces_16", 4, 1), ("store_pieces_16", 4, 2), ("store_pieces_16", 4, 8),
            ("store_pieces_16", 4, 32), ("add_pieces", 1, 1), ("add_pieces", 1, 8), ("add_pieces", 1, 32),
        ):  # fmt: skip
            size = max(4 * width * lanes, 32)
            rounds = 16 if lanes * width < 32 else 32
            args: Arguments = (
                Buffer(mib * MIB, "zeros"), SINK, mib * MIB // size, lanes, size // (4 * width), rounds
            )  # fmt: skip
            label = f"{kernel.replace('_', ' ')}, {lanes} lanes, {mib} MiB"
            yield Trial(label, kernel, grid, 256, args, warm=warm)
    for mib in FAR:
        args = (Buffer(mib * MIB, "zeros"), SINK, mib * MIB // 32, 1, 8, 16)
        yield Trial(f"load pieces far, {mib} MiB", "load_pieces", grid, 256, args)
        yield Trial(f"load pieces far, {mib} MiB, 1 block", "load_pieces", multiprocessors, 256, args)
        yield Trial(f"store pieces far, {mib} MiB", "store_pieces", grid, 256, args)
        for blocks, threads in ((1, 1), (1, 32), (multiprocessors, 1), (multiprocessors, 32), (multiprocessors, 256)):
            args = (TICKS, Buffer(mib * MIB, "zeros"), SINK, mib * MIB // 32, 128)
            label = f"chain anywhere, {blocks} x {threads}, {mib} MiB"
            yield Trial(label, "chain_anywhere", blocks, threads, args, "ticks", 128)

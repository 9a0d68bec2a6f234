"""L2 retention: random words within streams, and regions that are read repeatedly."""

from __future__ import annotations

from collections.abc import Iterator

from warplens.calibration.trial import MIB, SINK, Arguments, Buffer, Trial

SIZES = (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 128, 192, 256, 512)  # MiB
BLOCKS = 8  # of 256 threads, for each multiprocessor
ROUNDS = 32


def trials(multiprocessors: int) -> Iterator[Trial]:
    grid = BLOCKS * multiprocessors
    streamed = 4 * 256 * grid * ROUNDS
    for mib in SIZES:
        args: Arguments = (Buffer(mib * MIB), SINK, SINK, SINK, mib * MIB // 4, 2 * ROUNDS)
        yield Trial(f"loads alone, {mib} MiB", "loads_alone", grid, 256, args)
        args = (Buffer(mib * MIB, "zeros"), SINK, SINK, SINK, mib * MIB // 4, ROUNDS)
        yield Trial(f"stores alone, {mib} MiB", "stores_alone", grid, 256, args)
        if mib > 128:
            continue
        args = (
            Buffer(mib * MIB),
            Buffer(streamed),
            Buffer(streamed, "zeros"),
            SINK,
            mib * MIB // 4,
            ROUNDS,
        )
        for kernel in ("loads_beside_loads", "loads_beside_stores", "loads_beside_both", "stores_beside_loads"):
            yield Trial(f"{kernel.replace('_', ' ')}, {mib} MiB", kernel, grid, 256, args)
    for mib in (8, 16, 24, 28, 32, 40, 48, 56, 64, 80, 128):
        rounds = max(384 // mib, 4)
        args = (Buffer(mib * MIB), SINK, mib * MIB // 16, rounds)
        yield Trial(f"rounds together, {mib} MiB", "rounds_together", multiprocessors, 1024, args)
        if mib <= 64:
            args = (Buffer(mib * MIB), SINK, mib * MIB // 16, 1)
            yield Trial(f"rounds each, {mib} MiB", "rounds_each", multiprocessors, 1024, args)
    for mib in (8, 16, 24, 32, 48, 64, 128):
        for rounds in (1, 4):
            args = (Buffer(mib * MIB, "zeros"), mib * MIB // 4, rounds)
            yield Trial(f"changed {rounds} times, {mib} MiB", "changed", grid, 256, args)

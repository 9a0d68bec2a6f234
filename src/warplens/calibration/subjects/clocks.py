"""Clocks: SM clock under matrix products, and the L2 and DRAM latency then."""

from __future__ import annotations

from collections.abc import Iterator

from warplens.calibration.trial import MIB, SINK, TICKS, Buffer, Trial

KINDS = ("floats", "halves", "integers", "doubles", "none")


def trials(multiprocessors: int) -> Iterator[Trial]:
    for kind in KINDS:
        for blocks, threads, between, rounds in (
            (multiprocessors, 512, 0, 4000), (multiprocessors, 128, 16, 1000), (1, 512, 0, 4000),
        ):  # fmt: skip
            name = f"clock of {kind}, {blocks} x {threads}, {between} between"
            yield Trial(name, f"clock_{kind}", blocks, threads, (TICKS, SINK, rounds, between), "ticks")
    for kind in ("floats", "none"):
        for mib, step, rounds in ((8, 16 * 33, 40), (1024, (2 * MIB + 4096) // 8, 12)):
            args = (TICKS, Buffer(mib * MIB, f"pointers {step}"), SINK, rounds)
            name = f"chase beside {kind}, {mib} MiB"
            yield Trial(name, f"chase_beside_{kind}", 1, 160, args, "ticks", 16 * rounds, warm=mib == 8)
        words = multiprocessors * 1024 * 16
        read = (Buffer(16 * words), SINK, words, 8)
        yield Trial(f"read beside {kind}, L2", f"read_beside_{kind}", multiprocessors, 1024, read, warm=True)

"""Contended atomics: many threads on few words of global and shared memory."""

from __future__ import annotations

from collections.abc import Iterator

from warplens.calibration.trial import MIB, SINK, TICKS, Arguments, Buffer, Trial

KINDS = ("add", "float", "return", "wait", "long", "max", "cas", "store")


def trials(multiprocessors: int) -> Iterator[Trial]:
    grid = 8 * multiprocessors
    zeros = Buffer(64 * MIB, "zeros")
    for words in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 16384, 65536, 1 << 20, 1 << 24):
        for apart in (1, 8, 32, 1024):
            if words * apart * 4 > 64 * MIB or (apart > 1 and words > 4096):
                continue
            rounds = 4 if words < 64 else 8
            args: Arguments = (zeros, SINK, words, apart, rounds)
            yield Trial(f"crowd add, {words} words every {apart}", "crowd_add", grid, 256, args, warm=True)
    for words in (1, 2, 4, 16):
        for kind in (*KINDS[1:], "two", "kinds"):
            args = (zeros, SINK, words, 1, 4)
            yield Trial(f"crowd {kind}, {words} words every 1", f"crowd_{kind}", grid, 256, args, warm=True)
    for words in (4096, 65536, 1 << 20):
        args = (zeros, SINK, words, 1, 8)
        yield Trial(f"crowd gather, {words} words every 1", "crowd_gather", grid, 256, args, warm=True)
    for words in (8, 256, 4096, 1 << 20):
        for kind in KINDS[1:]:
            args = (zeros, SINK, words, 1, 8)
            yield Trial(f"crowd {kind}, {words} words every 1", f"crowd_{kind}", grid, 256, args, warm=True)
        for blocks, threads in ((1, 256), (8, 256), (multiprocessors, 32), (multiprocessors, 256)):
            for kind in ("add", "wait"):
                args = (zeros, SINK, words, 1, 32)
                label = f"crowd {kind}, {words} words every 1, {blocks} x {threads}"
                yield Trial(label, f"crowd_{kind}", blocks, threads, args, warm=True)
    for lines in (1, 2, 4, 8, 16, 32, 64, 256, 4096):
        for apart in (32, 64, 128, 256, 1024, 4096):
            if lines * apart * 4 <= 64 * MIB:
                args = (zeros, lines, apart, 16)
                yield Trial(f"crowd lines, {lines} every {apart}", "crowd_lines", grid, 256, args, warm=True)
    for words in (1, 2, 4, 8, 16, 32):
        for apart, label in ((0, "all the same"), (32, "each its own"), (1056, "far")):
            args = (zeros, words, apart, 8)
            yield Trial(f"crowd warps, {words} words, {label}", "crowd_warps", grid, 256, args, warm=True)
    yield from _shared(multiprocessors)


def _shared(multiprocessors: int) -> Iterator[Trial]:
    rounds = 64
    for kind in ("count", "add", "return", "float", "max", "cas"):
        for words in (1, 2, 8, 32, 128, 256, 1024, 4096):
            for threads in (32, 256, 1024):
                args: Arguments = (TICKS, SINK, words, 0, rounds)
                label = f"shared {kind}, {words} words, {threads} threads"
                yield Trial(label, f"shared_{kind}", multiprocessors, threads, args, "ticks", rounds)
        for step in (0, 1, 2, 8, 32):
            args = (TICKS, SINK, 0, step, rounds)
            label = f"shared {kind}, step {step}, 256 threads"
            yield Trial(label, f"shared_{kind}", multiprocessors, 256, args, "ticks", rounds)

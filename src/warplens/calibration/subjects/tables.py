"""Constant tables: lanes read different places of a table in constant memory."""

from __future__ import annotations

from collections.abc import Iterator

from warplens.calibration.trial import SINK, TICKS, Trial

ROUNDS = 16


def trials(multiprocessors: int) -> Iterator[Trial]:
    for words in (1, 2, 4, 8, 16, 32):
        for warps in (1, 4, 8, 32):
            for kernel in ("table_chain", "table_rate"):
                args = (TICKS, SINK, ROUNDS, words, 1)
                name = f"{kernel.replace('_', ' ')}, {words} words, {warps} warps"
                yield Trial(name, kernel, 1, 32 * warps, args, "ticks", 16 * ROUNDS)
    for words, apart in ((8, 16), (32, 16), (32, 64), (32, 512)):
        for warps in (1, 16):
            args = (TICKS, SINK, ROUNDS, words, apart)
            name = f"table chain, {words} words {apart} apart, {warps} warps"
            yield Trial(name, "table_chain", 1, 32 * warps, args, "ticks", 16 * ROUNDS)

"""Local memory: stores, loads and both, by local memory per SM."""

from __future__ import annotations

from collections.abc import Iterator

from warplens.calibration.trial import SINK, Arguments, Trial


def trials(multiprocessors: int) -> Iterator[Trial]:
    for words in (8, 16, 32, 64, 128, 512):
        for what in ("stores", "loads", "both"):
            for blocks in (1, 4, 8):
                args: Arguments = (SINK, 0, 64 if what != "both" else 32)
                label = f"local {what}, {words} words, {blocks} blocks of 256"
                yield Trial(label, f"local_{what}_{words}", blocks * multiprocessors, 256, args)
            if words in (16, 128):
                args = (SINK, 0, 64)
                yield Trial(f"local {what}, {words} words, 1 block alone", f"local_{what}_{words}", 1, 256, args)

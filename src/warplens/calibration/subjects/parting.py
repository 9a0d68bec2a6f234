"""Divergence: cost of executing both sides of a branch, and of reconvergence."""

from __future__ import annotations

from collections.abc import Iterator

from warplens.calibration.trial import SINK, TICKS, Trial

ROUNDS = 256
WHICH = {"none": 0, "half": 0x55555555, "all": 0xFFFFFFFF}


def trials(multiprocessors: int) -> Iterator[Trial]:
    del multiprocessors
    for kernel in ("two_sides", "one_side", "own_rounds", "four_sides"):
        for label, which in WHICH.items():
            if kernel in ("own_rounds", "four_sides"):
                label, which = {"none": ("together", 0), "half": ("parted", 1), "all": ("in pairs", 2)}[label]
            for warps in (1, 4, 16, 32):
                name = f"{kernel.replace('_', ' ')}, {label}, {warps} warps"
                yield Trial(name, kernel, 1, 32 * warps, (TICKS, SINK, ROUNDS, which), "ticks", ROUNDS)

"""L1 tags: lines that a load may access in a cycle, and their conflicts."""

from __future__ import annotations

from collections.abc import Iterator

from warplens.calibration.trial import MIB, SINK, TICKS, Buffer, Trial

DISTANCES = (*range(1, 34), 40, 48, 56, 63, 64, 65, 72, 80, 96)


def trials(multiprocessors: int) -> Iterator[Trial]:
    del multiprocessors
    for groups in (2, 4, 8, 16, 32):
        for distance in DISTANCES:
            if groups * distance <= 1024:  # lines that L1 can hold
                args = (TICKS, Buffer(MIB), SINK, 16, groups, distance, 0)
                yield Trial(f"lines of a load, {groups} at {distance}", "hits_lines", 1, 512, args, "ticks", 16 * 16)

"""Warp exit: warps that end while their atomics are in flight."""

from __future__ import annotations

from collections.abc import Iterator

from warplens.calibration.trial import MIB, Buffer, Trial


def trials(multiprocessors: int) -> Iterator[Trial]:
    for each in (1, 8):
        for lanes, step in ((1, 0), (32, 1), (32, 8), (32, 32)):
            for rounds in (1, 4, 16):
                name = f"add and end, {lanes} lanes every {step}, {rounds} times, {each} blocks a multiprocessor"
                args = (Buffer(MIB, "zeros"), lanes, step, rounds)
                yield Trial(name, "add_and_end", each * multiprocessors, 256, args)

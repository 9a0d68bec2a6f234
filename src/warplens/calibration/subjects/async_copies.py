"""Asynchronous copies from global to shared memory."""

from __future__ import annotations

from collections.abc import Iterator

from warplens.calibration.trial import MIB, SINK, Buffer, Trial


def trials(multiprocessors: int) -> Iterator[Trial]:
    for width in (4, 16):
        for stages in (1, 2, 4, 8):
            for blocks in (1, 2, 4):
                for mib, warm in ((256, False), (16, True)):
                    args = (Buffer(mib * MIB), SINK, mib * MIB, 1)
                    name = f"copied {width} B, {stages} stages, {blocks} x 256, {mib} MiB"
                    kernel = f"copied_{width}_{stages}"
                    yield Trial(
                        name, kernel, blocks * multiprocessors, 256, args, shared=256 * width * stages, warm=warm,
                        moves=mib * MIB,
                    )  # fmt: skip

"""Row walks: threads that read rows of their own, 32 lines an access, repeatedly."""

from __future__ import annotations

from collections.abc import Iterator

from warplens.calibration.trial import SINK, Buffer, Trial

BYTES = {"half": 2, "word": 4, "four": 16}


def trials(multiprocessors: int) -> Iterator[Trial]:
    for name, size in BYTES.items():
        for at_once in (1, 4):
            for row in (256, 2048, 8192):
                for beside in (0, size, 128):  # bytes between two rows
                    for warps in (4, 16, 48):
                        threads = 32 * warps * multiprocessors
                        if threads * (row + beside) > 1 << 30:
                            continue
                        args = (Buffer(threads * (row + beside)), SINK, row // size, (row + beside) // size)
                        label = f"rows of {row} B and {beside} B, words of {size} B, {at_once} at once, {warps} warps"
                        block = 32 * min(warps, 8)
                        grid = threads // block
                        yield Trial(label, f"walked_{name}_{at_once}", grid, block, args)

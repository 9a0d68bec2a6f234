"""Concurrent blocks that read the same rows and columns: share of DRAM requests that are merged."""

from __future__ import annotations

from collections.abc import Iterator

from warplens.calibration.trial import SINK, Buffer, Trial

RESIDENT = {1: 128, 2: 100, 4: 50, 8: 0}  # blocks of a multiprocessor: KiB of shared memory that leave room for them
EDGES = (32, 64, 128)


def trials(multiprocessors: int) -> Iterator[Trial]:
    for n in (4096, 3072):
        bytes_each = 4 * n * n
        for edge in EDGES:
            for resident, kib in RESIDENT.items():
                for work in (0, 256):
                    if n == 3072 and (work or resident in (1, 4)):
                        continue
                    args = (Buffer(bytes_each), Buffer(bytes_each), SINK, n, work)
                    label = f"steps of tiles {edge}, n {n}, {resident} blocks each, {work} between"
                    yield Trial(label, f"steps_{edge}", (n // edge) ** 2, 256, args, shared=kib * 1024)

"""Of blocks that stay for a known time: in which order they come to a multiprocessor, their places, begin and end."""

from __future__ import annotations

from typing import Any

from gpu import Gpu

from warplens.calibration.trial import source_of

READS = ("block", "first_place", "begins", "last_begins", "last_ends")
KEYS = ("kernel", "threads", "blocks", "cycles", "every", "times")
SOURCE = source_of("stays")
PLACE = (1 << 16) - 1
launched: dict[tuple[str, ...], Any] = {}  # what the warps of a launch told


def read(gpu: Gpu, row: dict[str, str]) -> dict[str, int] | None:
    key = tuple(row[name] for name in KEYS)
    if key not in launched:
        kernel, (threads, blocks, *rest) = row["kernel"], (int(value) for value in key[1:])
        told = gpu.zeros(32 * blocks * threads // 32).view(gpu.cupy.int64)
        gpu.sweep()
        gpu.start(kernel, blocks, threads, told, *(rest[:1] if kernel == "stays_quietly" else rest))
        launched[key] = told.get().reshape(blocks, threads // 32, 4)
    told = launched[key]
    here = (told[:, 0, 0] >> 16 == int(row["multiprocessor"])).nonzero()[0]
    if len(here) <= int(row["order"]):
        return None
    here = here[told[here, :, 1].min(1).argsort(kind="stable")]
    zero, block = told[here, :, 1].min(), here[int(row["order"])]
    found = block, told[block, 0, 0] & PLACE, *(
        time - zero for time in (told[block, :, 1].min(), told[block, :, 1].max(), told[block, :, 2].max())
    )  # fmt: skip
    return dict(zip(READS, map(int, found), strict=True))

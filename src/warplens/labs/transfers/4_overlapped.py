"""The same in chunks on three streams: while one chunk is worked on, the next comes in and the last goes out. The link
carries both directions at once."""

from __future__ import annotations

from warplens.hardware import Gpu
from warplens.hardware.copy_timing import STREAMS, copies
from warplens.machine import Machine
from warplens.machine.link_time import link_of


def quantities(*, size: int, chunks: int) -> dict[str, int]:
    return {"bytes over the link": 2 * size, "bytes moved": 2 * size, "copies": 2 * chunks}


def predicted(machine: Machine, *, size: int, chunks: int) -> float:
    link = link_of(machine)
    chunk = max(size / chunks / link.both_ways_megabytes_per_second, 3 * link.next_copy_us)
    return link.copy_us + (chunks + 1) * chunk


def measured(gpu: Gpu, *, size: int, chunks: int) -> list[float]:
    with copies(gpu, size) as link:
        chunk = size // chunks

        def steps() -> None:
            for number in range(chunks):
                stream = number % STREAMS
                link.to_device(link.pinned, chunk, number * chunk, stream)
                link.within_device(chunk, number * chunk, stream)
                link.to_host(link.returned, chunk, number * chunk, stream)

        return link.times(steps)

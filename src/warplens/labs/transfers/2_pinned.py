"""From page-locked memory: the GPU fetches it by DMA, as fast as the link carries it."""

from __future__ import annotations

from warplens.hardware import Gpu
from warplens.hardware.copy_timing import copies
from warplens.machine import Machine
from warplens.machine.link_time import link_of


def quantities(*, size: int) -> dict[str, int]:
    return {"bytes over the link": size, "bytes moved": size, "copies": 1}


def predicted(machine: Machine, *, size: int) -> float:
    link = link_of(machine)
    return link.copy_us + size / link.to_device_megabytes_per_second


def measured(gpu: Gpu, *, size: int) -> list[float]:
    with copies(gpu, size) as link:
        return link.times(lambda: link.to_device(link.pinned, size))

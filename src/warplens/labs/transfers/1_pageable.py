"""From ordinary memory: the driver copies it through a small page-locked buffer of its own, and the host does half of
the work."""

from __future__ import annotations

from warplens.hardware import Gpu
from warplens.hardware.copy_timing import copies
from warplens.machine import Machine
from warplens.machine.link_time import link_of


def quantities(*, size: int) -> dict[str, int]:
    return {"bytes over the link": size, "bytes moved": size, "copies": 1}


def predicted(machine: Machine, *, size: int) -> float:
    link = link_of(machine)
    return link.copy_us + size / link.pageable_megabytes_per_second


def measured(gpu: Gpu, *, size: int) -> list[float]:
    with copies(gpu, size) as link:
        return link.times(lambda: link.from_pageable(size))

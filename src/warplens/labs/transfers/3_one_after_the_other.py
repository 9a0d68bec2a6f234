"""In, work, out: each waits for the one before. The work is a pass over the data on the GPU."""

from __future__ import annotations

from warplens.hardware import Gpu
from warplens.hardware.copy_timing import copies
from warplens.machine import Machine
from warplens.machine.link_time import link_of, within


def quantities(*, size: int) -> dict[str, int]:
    return {"bytes over the link": 2 * size, "bytes moved": 2 * size, "copies": 2}


def predicted(machine: Machine, *, size: int) -> float:
    link = link_of(machine)
    way_in, way_out = link.to_device_megabytes_per_second, link.to_host_megabytes_per_second
    return link.copy_us + size / way_in + within(machine, size) + size / way_out


def measured(gpu: Gpu, *, size: int) -> list[float]:
    with copies(gpu, size) as link:

        def steps() -> None:
            link.to_device(link.pinned, size)
            link.within_device(size)
            link.to_host(link.returned, size)

        return link.times(steps)

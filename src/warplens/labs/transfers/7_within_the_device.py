"""As many bytes from one place of the GPU's memory to another: each is read and written, and the link has no part."""

from __future__ import annotations

from warplens.hardware import Gpu
from warplens.hardware.copy_timing import copies
from warplens.machine import Machine
from warplens.machine.link_time import link_of, within


def quantities(*, size: int) -> dict[str, int]:
    return {"bytes over the link": 0, "bytes moved": 2 * size, "copies": 1}


def predicted(machine: Machine, *, size: int) -> float:
    return link_of(machine).copy_us + within(machine, size)


def measured(gpu: Gpu, *, size: int) -> list[float]:
    with copies(gpu, size) as link:
        return link.times(lambda: link.within_device(size))

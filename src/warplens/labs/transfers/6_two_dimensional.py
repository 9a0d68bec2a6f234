"""The same by one 2-D copy, which knows both distances between rows."""

from __future__ import annotations

from warplens.hardware import Gpu
from warplens.hardware.copy_timing import copies
from warplens.machine import Machine
from warplens.machine.link_time import link_of


def quantities(*, row: int, rows: int) -> dict[str, int]:
    return {"bytes over the link": row * rows, "bytes moved": row * rows, "copies": 1}


def predicted(machine: Machine, *, row: int, rows: int) -> float:
    link = link_of(machine)
    return link.copy_us + row * rows / link.to_device_megabytes_per_second


def measured(gpu: Gpu, *, row: int, rows: int, pitch: int) -> list[float]:
    with copies(gpu, pitch * rows) as link:
        return link.times(lambda: link.rows_to_device(link.pinned, row, rows, pitch))

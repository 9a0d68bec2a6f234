"""A matrix into pitched rows, each row by a copy of its own: what counts is the number of copies."""

from __future__ import annotations

from warplens.hardware import Gpu
from warplens.hardware.copy_timing import copies
from warplens.machine import Machine
from warplens.machine.link_time import link_of


def quantities(*, row: int, rows: int) -> dict[str, int]:
    return {"bytes over the link": row * rows, "bytes moved": row * rows, "copies": rows}


def predicted(machine: Machine, *, row: int, rows: int) -> float:
    link = link_of(machine)
    return link.copy_us + rows * max(link.next_copy_us, row / link.to_device_megabytes_per_second)


def measured(gpu: Gpu, *, row: int, rows: int, pitch: int) -> list[float]:
    with copies(gpu, pitch * rows) as link:

        def steps() -> None:
            for number in range(rows):
                link.row_to_device(link.pinned, row, number, pitch)

        return link.times(steps)

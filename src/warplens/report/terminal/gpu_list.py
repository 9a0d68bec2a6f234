"""The GPUs that have a description."""

from __future__ import annotations

from rich.console import Console

from warplens.machine import machine, machines
from warplens.report.terminal.console_layout import grid_of


def show(out: Console) -> None:
    table = grid_of("Name", "Chip", "SMs", "L2 MiB", "DRAM GB/s", "Speeds", wide="GPU")
    for described in sorted(map(machine, machines()), key=lambda m: (int(m.arch[3:]), m.key)):
        table.add_row(
            described.key, described.title, described.arch, str(described.multiprocessors),
            f"{described.l2_bytes / 2**20:g}", f"{described.dram_gigabytes_per_second:,}",
            "measured" if described.calibrated else "public",
        )  # fmt: skip
    out.print(table)

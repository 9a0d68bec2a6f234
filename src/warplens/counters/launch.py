"""Launch and theoretical occupancy.

Nsight Compute derives these itself; they are exact whatever part of the grid was run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from warplens.counters.vocabulary import chip_number
from warplens.kernel import Kernel
from warplens.launch import Launch
from warplens.metric import Metric

DRIVER_SHARED_BYTES = 1024
"""Shared memory that the driver takes of each block from compute capability 8.0 on (CUDA programming
guide)."""


class Occupancy(Protocol):
    """What one multiprocessor holds: registers a thread as launched, blocks, their warps, those in percent of
    the most, and the blocks that each resource alone allows ("registers",
    "shared_mem", "warps", "blocks", "barriers")."""

    @property
    def registers(self) -> int: ...
    @property
    def blocks(self) -> int: ...
    @property
    def warps(self) -> int: ...
    @property
    def percent(self) -> float: ...
    @property
    def limits(self) -> Mapping[Any, int]: ...


def exact(value: float | int, unit: str) -> Metric:
    return Metric(value, unit, "exact")


def launch_metrics(
    kernel: Kernel, launch: Launch, occupancy: Occupancy | None = None, waves: float | None = None
) -> dict[str, Metric]:
    """What follows from kernel and launch alone; with them the occupancy and the waves where they are known.

    `waves` is how often the whole GPU must be filled to run the grid.
    """
    driver = DRIVER_SHARED_BYTES if chip_number(kernel.arch) >= 80 else 0
    known = {
        "launch__grid_size": exact(launch.blocks, ""),
        "launch__block_size": exact(launch.threads_per_block, ""),
        "launch__thread_count": exact(launch.blocks * launch.threads_per_block, "thread"),
        "launch__shared_mem_per_block_static": exact(kernel.shared_bytes, "byte/block"),
        "launch__shared_mem_per_block_dynamic": exact(launch.shared, "byte/block"),
        "launch__shared_mem_per_block_driver": exact(driver, "byte/block"),
    }
    if waves is not None:
        known["launch__waves_per_multiprocessor"] = exact(waves, "")
    return known | (occupancy_metrics(kernel.arch, occupancy) if occupancy else {})


def occupancy_metrics(arch: str, occupancy: Occupancy) -> dict[str, Metric]:
    """Theoretical occupancy; the barrier limit is reported from compute capability 9.0 on."""
    hidden = set() if chip_number(arch) >= 90 else {"barriers"}
    limits = {name: limit for name, limit in occupancy.limits.items() if name not in hidden}
    return {
        "launch__registers_per_thread": exact(occupancy.registers, "register/thread"),
        **{f"launch__occupancy_limit_{name}": exact(limit, "block") for name, limit in limits.items()},
        "sm__maximum_warps_per_active_cycle_pct": exact(occupancy.percent, "%"),
        "sm__maximum_warps_avg_per_active_cycle": exact(occupancy.warps, "warp"),
        "smsp__maximum_warps_avg_per_active_cycle": exact(occupancy.warps / 4, "warp"),
    }

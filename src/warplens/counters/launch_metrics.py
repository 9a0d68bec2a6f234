"""Launch metrics: launch configuration and theoretical occupancy.

Nsight Compute derives these itself; they are exact whatever part of the grid was run.
"""

from __future__ import annotations

from warplens.core.cubin import Kernel, chip_number
from warplens.core.launch import Launch
from warplens.core.metric import Metric, instanced
from warplens.counters.occupancy import Curves, Occupancy

DRIVER_SHARED_BYTES = 1024
"""Shared memory that the driver takes of each block from compute capability 8.0 on (CUDA programming
guide)."""

SHARED_WITHOUT_OPT_IN = 48 << 10
"""Where Nsight Compute ends the curve of a kernel that has no static shared memory: the limit of a program that has not
raised it (CUDA programming guide)."""
SHARED_STEP = 512  # bytes between the points of Nsight Compute's curve


def exact(value: float | int, unit: str) -> Metric:
    return Metric(value, unit, "exact")


def launch_metrics(
    kernel: Kernel,
    launch: Launch,
    occupancy: Occupancy | None = None,
    waves: float | None = None,
    curves: Curves | None = None,
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
    known |= occupancy_metrics(kernel.arch, occupancy) if occupancy else {}
    if curves is None:
        return known
    raised = kernel.shared_bytes or launch.shared > SHARED_WITHOUT_OPT_IN
    most = max(size for size, _ in curves.shared_bytes) if raised else SHARED_WITHOUT_OPT_IN
    return known | curve_metrics(curves, driver, most)


def curve_metrics(curves: Curves, reserved: int, most: int) -> dict[str, Metric]:
    """Resident warps at the points where Nsight Compute has them (read on an H200): 0 to 256 registers a thread; 0 to
    1,024 threads a block in sixteens; shared memory in steps of 512 bytes, those that the driver reserves included.
    Points beyond `most` bytes, the limit of a block of this kernel, have no warp."""
    registers, threads, shared = (dict(c) for c in (curves.registers, curves.block_threads, curves.shared_bytes))
    first, largest = min(threads), max(shared)
    beyond = largest // SHARED_STEP * SHARED_STEP + SHARED_STEP
    drawn = {
        "register_count": [(r, registers[max(r - 1, 0) // 8 * 8 + 1]) for r in range(257)],
        "block_size": [
            (t, threads[max(-(-t // first) * first, first)]) for t in range(0, max(threads) + 1, first // 2)
        ],
        "shared_mem_size": [
            *((s, shared[max(s - reserved, 0)] if s <= most else 0) for s in range(0, largest + 1, SHARED_STEP)),
            (beyond, 0),
        ],
    }
    return {
        f"launch__occupancy_per_{name}": instanced("warp", "exact", ((str(x), warps) for x, warps in curve))
        for name, curve in drawn.items()
    }


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

"""Launch limits: whether a GPU would start a kernel at all.

The conditions under which the driver answers "invalid configuration argument" or "too many resources
requested for launch": CUDA C++ Programming Guide, table "Technical Specifications per Compute Capability";
registers of a block as in NVIDIA's cuda_occupancy.h.
"""

from __future__ import annotations

from math import prod
from typing import NoReturn

from warplens.core.cubin import Kernel, chip_number
from warplens.core.launch import Dim3, Launch
from warplens.errors import UsageError
from warplens.machine import Machine

MOST_IN_CLUSTER = 16  # blocks; more than 8 only where the kernel is allowed to (cudaFuncAttributeNonPortable...)


def check_launch(launch: Launch, machine: Machine, kernel: Kernel) -> None:
    """UsageError with the first reason for which `machine` would refuse to start `kernel` in this way."""
    limits = machine.limits
    _check_size(kernel, machine, "grid", launch.grid, limits.grid_dimensions)
    _check_size(kernel, machine, "block", launch.block, limits.block_dimensions)
    _check_cluster(kernel, launch)
    _check_threads(kernel, machine, launch)
    _check_shared(kernel, machine, launch)
    _check_registers(kernel, machine, launch)


def check_cooperative(launch: Launch, machine: Machine, kernel: Kernel, resident: int) -> None:
    """UsageError if not all blocks can be resident at once; `resident` of them fit into a multiprocessor."""
    most = resident * machine.multiprocessors
    if launch.blocks > most:
        _refuse(
            kernel,
            f"a cooperative launch needs all its blocks resident at once, and {launch.blocks} are given; "
            f"{machine.title} holds {most} ({resident} on each of {machine.multiprocessors} multiprocessors): "
            "take fewer blocks, and let each do more",
        )


def _check_size(kernel: Kernel, machine: Machine, word: str, size: Dim3, largest: tuple[int, ...]) -> None:
    for axis, given, limit in zip("xyz", size, largest, strict=True):
        if not 1 <= given <= limit:
            _refuse(kernel, f"a {word} of {_times(size)} has {axis} = {given}; {machine.title} takes 1 to {limit}")


def check_cluster_size(kernel: Kernel, wanted: Dim3) -> None:
    """UsageError if the kernel cannot be started in clusters of so many blocks."""
    if chip_number(kernel.arch) < 90:
        _refuse(kernel, f"{kernel.arch} has no clusters of blocks; sm_90 is the first that has")
    if kernel.cluster_blocks > 1 and wanted != kernel.cluster:
        _refuse(kernel, f"it demands clusters of {_times(kernel.cluster)} blocks (__cluster_dims__), no others")
    if prod(wanted) > MOST_IN_CLUSTER:
        _refuse(kernel, f"a cluster of {_times(wanted)} is too large; at most {MOST_IN_CLUSTER} blocks make one")


def _check_cluster(kernel: Kernel, launch: Launch) -> None:
    if any(blocks % size for blocks, size in zip(launch.grid, kernel.cluster, strict=True)):
        _refuse(
            kernel,
            f"its clusters are {_times(kernel.cluster)} blocks, which do not divide a grid of {_times(launch.grid)}",
        )


def _check_threads(kernel: Kernel, machine: Machine, launch: Launch) -> None:
    threads, limit = launch.threads_per_block, machine.limits.threads_per_block
    if threads > limit:
        _refuse(kernel, f"a block of {_times(launch.block)} is {threads} threads; {machine.title} takes {limit}")
    if kernel.max_threads is not None and threads > kernel.max_threads:
        _refuse(
            kernel,
            f"a block of {threads} threads is larger than its __launch_bounds__; "
            f"up to {kernel.max_threads} threads are possible",
        )


def _check_shared(kernel: Kernel, machine: Machine, launch: Launch) -> None:
    limit = machine.limits.shared_bytes_per_block_optin
    if not 0 <= launch.shared <= limit - kernel.shared_bytes:
        _refuse(
            kernel,
            f"a block needs {kernel.shared_bytes} bytes of static and {launch.shared} of dynamic shared "
            f"memory; {machine.title} has {limit} a block, so up to "
            f"{max(limit - kernel.shared_bytes, 0)} dynamic are possible",
        )


def _check_registers(kernel: Kernel, machine: Machine, launch: Launch) -> None:
    limits = machine.limits
    warp = _round_up(kernel.registers * limits.warp_threads, limits.register_allocation_unit)
    # The warps of a block are dealt out to the sub-partitions, and each reserves for the fullest.
    needed = warp * _round_up(launch.warps_per_block, limits.sub_partitions)
    if needed > limits.registers_per_block:
        warps = limits.registers_per_block // warp // limits.sub_partitions * limits.sub_partitions
        _refuse(
            kernel,
            f"{launch.threads_per_block} threads of {kernel.registers} registers take {needed} registers a "
            f"block; {machine.title} has {limits.registers_per_block}, so up to "
            f"{warps * limits.warp_threads} threads are possible (or fewer registers by __launch_bounds__)",
        )


def _round_up(amount: int, unit: int) -> int:
    return -(-amount // unit) * unit


def _times(size: Dim3) -> str:
    return " x ".join(str(extent) for extent in size)


def _refuse(kernel: Kernel, reason: str) -> NoReturn:
    raise UsageError(f"{kernel.name}: invalid launch configuration: {reason}")

"""Occupancy: how many blocks of a kernel an SM holds at once, and what limits it.

The rules for registers, shared memory, warps and blocks, and for barriers from 9.0 on, are those of
`cuda_occupancy.h`, which NVIDIA ships with the CUDA runtime.  What that header leaves open is how much of the
unified L1 the driver turns into shared memory at a launch that states no preference; see `_driver_carveout`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

from warplens.errors import UsageError
from warplens.machine import Limits, Machine

Resource = Literal["registers", "shared_mem", "warps", "blocks", "barriers"]
Carveout: TypeAlias = Literal["driver", "maximum"] | int
"""Shared memory of a multiprocessor: what the driver chooses (Nsight's view), the most there is (the view of
NVIDIA's calculator), or one of the machine's sizes in bytes, stretched to the next that holds one block."""

Curve: TypeAlias = tuple[tuple[int, int], ...]
UNLIMITED = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Occupancy:
    """Occupancy: what one SM holds of a launch.

    registers         a thread's, as launched: launch__registers_per_thread
    blocks, warps     resident at once; 0 if a block does not fit
    percent           of the warps it could hold: sm__maximum_warps_per_active_cycle_pct
    limits            blocks that each resource alone would admit: launch__occupancy_limit_*; one that the
                      kernel does not use admits as many as there are places for blocks, as Nsight prints it
    limiters          the resources that admit the fewest
    carveout_bytes    shared memory of the SM: launch__shared_mem_config_size
    seats             warps for which a sub-partition has slots and registers
    places            blocks that fit on the SM but for their warps and registers
    """

    registers: int
    blocks: int
    warps: int
    percent: float
    limits: Mapping[Resource, int]
    limiters: tuple[Resource, ...]
    carveout_bytes: int
    seats: int
    places: int


@dataclass(frozen=True, slots=True)
class Curves:
    """Curves: resident warps of an SM, as (x, warps), with one quantity of the launch varied.

    registers       a thread, 1 to 249 in steps of 8 (registers are handed out in eights)
    block_threads   32 to the largest block in steps of 32
    shared_bytes    asked for by a block, static and dynamic, 0 to the opt-in maximum in steps of 512
    """

    registers: Curve
    block_threads: Curve
    shared_bytes: Curve


def occupancy(
    machine: Machine,
    registers: int,
    block_threads: int,
    shared_static: int = 0,
    shared_dynamic: int = 0,
    barriers: int = 0,
    carveout: Carveout = "driver",
) -> Occupancy:
    """Occupancy of a kernel with so many registers a thread, bytes of shared memory and barriers a block.

    A block that cannot run at all gives 0 blocks.  UsageError for a negative quantity, an empty block, or a
    carve-out that the machine does not have.
    """
    if block_threads < 1 or min(registers, shared_static, shared_dynamic, barriers) < 0:
        raise UsageError("a block has a thread or more, and no negative registers, shared memory or barriers")
    return _occupancy(machine.limits, registers, block_threads, shared_static, shared_dynamic, barriers, carveout)


def _occupancy(
    limits: Limits, registers: int, block_threads: int, shared_static: int, shared_dynamic: int, barriers: int,
    carveout: Carveout,
) -> Occupancy:  # fmt: skip
    asked = shared_static + shared_dynamic
    warps = -(-block_threads // limits.warp_threads)
    admitted: dict[Resource, int] = {
        "registers": _by_registers(limits, registers, warps),
        "shared_mem": UNLIMITED,
        "warps": _by_warps(limits, block_threads, warps),
        "blocks": limits.blocks_per_multiprocessor,
        "barriers": _by_barriers(limits, barriers),
    }
    chosen = _carveout(limits, carveout, asked, warps, admitted)
    admitted["shared_mem"] = _by_shared(limits, asked, chosen)
    blocks = min(admitted.values())
    return Occupancy(
        registers=max(registers, limits.registers_per_thread_minimum),
        blocks=blocks,
        warps=blocks * warps,
        percent=100 * blocks * warps / limits.warps_per_multiprocessor,
        limits=_as_printed(limits, admitted),
        limiters=tuple(resource for resource, count in admitted.items() if count == blocks),
        carveout_bytes=chosen,
        seats=min(_seats(limits, registers), limits.warps_per_multiprocessor // limits.sub_partitions),
        places=min(admitted["shared_mem"], admitted["blocks"], admitted["barriers"]),
    )


def waves(machine: Machine, resident: Occupancy, grid_blocks: int) -> float:
    """How often the GPU must be filled to run the grid: launch__waves_per_multiprocessor.

    Nsight prints 2 decimals of it.  UsageError if not even one block fits.
    """
    if resident.blocks == 0:
        needs = " and ".join(resident.limiters)
        raise UsageError(f"a block does not fit on {machine.title}: it needs too much of {needs}")
    return grid_blocks / (machine.multiprocessors * resident.blocks)


def curves(
    machine: Machine,
    registers: int,
    block_threads: int,
    shared_static: int = 0,
    shared_dynamic: int = 0,
    barriers: int = 0,
    carveout: Carveout = "driver",
) -> Curves:
    """The three curves around a launch, all with the carve-out that the launch itself gets.

    So Nsight draws launch__occupancy_per_{register_count,block_size,shared_mem_size}; only that its axis of
    shared memory counts the bytes that the driver reserves, and this one does not.
    """
    return _curves(machine.limits, registers, block_threads, shared_static, shared_dynamic, barriers, carveout)


@lru_cache(maxsize=256)  # 520 occupancies, 5 ms: longer than a small launch, of which programs have thousands
def _curves(
    limits: Limits, registers: int, block_threads: int, shared_static: int, shared_dynamic: int, barriers: int,
    carveout: Carveout,
) -> Curves:  # fmt: skip
    here = _occupancy(limits, registers, block_threads, shared_static, shared_dynamic, barriers, carveout)
    kept = here.carveout_bytes

    def warps(registers: int, threads: int, shared: int) -> int:
        return _occupancy(limits, registers, threads, shared, 0, barriers, kept).warps

    shared = shared_static + shared_dynamic
    sizes = range(0, limits.shared_bytes_per_block_optin + 1, 512)
    blocks = range(limits.warp_threads, limits.threads_per_block + 1, limits.warp_threads)
    return Curves(
        registers=tuple((count, warps(count, block_threads, shared)) for count in range(1, 256, 8)),
        block_threads=tuple((threads, warps(registers, threads, shared)) for threads in blocks),
        shared_bytes=tuple((size, warps(registers, block_threads, size)) for size in sizes),
    )


def _by_registers(limits: Limits, registers: int, warps: int) -> int:
    """A warp's registers come out of one sub-partition, in whole units.

    The hardware refuses a block as if its warps filled all sub-partitions evenly (cuda_occupancy.h).
    """
    even = _rounded(warps, limits.sub_partitions)
    if registers > limits.registers_per_thread or _of_warp(limits, registers) * even > limits.registers_per_block:
        return 0
    return _seats(limits, registers) * limits.sub_partitions // warps


def _of_warp(limits: Limits, registers: int) -> int:
    launched = max(registers, limits.registers_per_thread_minimum)
    return _rounded(launched * limits.warp_threads, limits.register_allocation_unit)


def _seats(limits: Limits, registers: int) -> int:
    """Warps for which a sub-partition has registers."""
    return limits.registers_per_multiprocessor // limits.sub_partitions // _of_warp(limits, registers)


def _by_warps(limits: Limits, threads: int, warps: int) -> int:
    return 0 if threads > limits.threads_per_block else limits.warps_per_multiprocessor // warps


def _by_barriers(limits: Limits, barriers: int) -> int:
    if not barriers or not limits.barriers_limit_occupancy:
        return UNLIMITED
    return limits.barriers_per_multiprocessor // barriers


def _by_shared(limits: Limits, asked: int, carveout: int) -> int:
    per_block = _shared_of_block(limits, asked)
    if not _fits(limits, per_block):
        return 0
    return carveout // per_block if per_block else UNLIMITED


def _shared_of_block(limits: Limits, asked: int) -> int:
    return _rounded(asked + limits.shared_bytes_reserved_per_block, limits.shared_allocation_unit_bytes)


def _fits(limits: Limits, per_block: int) -> bool:
    return per_block <= limits.shared_bytes_per_block_optin + limits.shared_bytes_reserved_per_block


def _carveout(limits: Limits, wish: Carveout, asked: int, warps: int, admitted: Mapping[Resource, int]) -> int:
    per_block = _shared_of_block(limits, asked)
    if wish == "maximum" or not _fits(limits, per_block):
        return limits.largest_carveout_bytes
    if wish == "driver":
        return _driver_carveout(limits, asked, warps, admitted)
    if wish not in limits.shared_bytes_per_multiprocessor:
        sizes = ", ".join(map(str, limits.shared_bytes_per_multiprocessor))
        raise UsageError(f"the carve-out of shared memory can be {sizes} bytes, not {wish}")
    return _next_size(limits, max(wish, per_block))


def _driver_carveout(limits: Limits, asked: int, warps: int, admitted: Mapping[Resource, int]) -> int:
    """The shared memory that the driver sets up for a launch without a preference, in bytes.

    Not published.  Read out of 2,830 launches on an H200 (driver 580, Nsight Compute 2025.3.1) with blocks of
    1 to 1024 threads, 16 to 250 registers, 0 to 225 KB of shared memory and 0 to 16 barriers, all of which it
    reproduces; 1,380 of them were measured after the rule had been found.  The driver provides for more
    blocks than can be resident, presumably so that the next kernel need not wait for another carve-out:

        resident  blocks that fit with the largest carve-out
        wanted    twice the resident blocks, or, for a kernel without shared memory, as many as there are
                  places; but at most 32 - (warps of a block) and what the barriers admit, and never fewer
                  than the resident.  Just one if registers, warps or barriers admit only one.
        size      the smallest that holds the wanted blocks, or half of the unified L1 if they need more, but
                  in any case one that holds the resident ones

    The other architectures are taken to follow the same rule with their own sizes.
    """
    per_block = _shared_of_block(limits, asked)
    others = min(admitted.values())
    resident = min(others, limits.largest_carveout_bytes // per_block) if per_block else others
    wanted = 2 * resident if asked else limits.blocks_per_multiprocessor
    wanted = min(wanted, limits.threads_per_block // limits.warp_threads - warps, admitted["barriers"])
    wanted = 1 if others == 1 else max(wanted, resident)
    half = limits.unified_bytes_per_multiprocessor // 2
    return _next_size(limits, max(resident * per_block, min(wanted * per_block, half)))


def _next_size(limits: Limits, bytes_needed: int) -> int:
    return next(size for size in limits.shared_bytes_per_multiprocessor if size >= bytes_needed)


def _as_printed(limits: Limits, admitted: Mapping[Resource, int]) -> dict[Resource, int]:
    places = limits.blocks_per_multiprocessor
    printed = {resource: places if count == UNLIMITED else count for resource, count in admitted.items()}
    printed["barriers"] = min(printed["barriers"], places)
    return printed


def _rounded(number: int, unit: int) -> int:
    return math.ceil(number / unit) * unit

"""Device attributes: what a program is told of the GPU named (CU_DEVICE_ATTRIBUTE_*), and times of its copies."""

from __future__ import annotations

import hashlib

from warplens.core.cubin import chip_number
from warplens.machine import Machine, machine
from warplens.machine.link_time import within
from warplens.program import arena
from warplens.program.protocol import GREETING
from warplens.report.program_view import LINK_OF

COUNT = 160
# Gigabytes of device memory: NVIDIA's product pages.  Others are taken to have 16.
MEMORY = {
    "a10": 24, "a100": 80, "b200": 180, "h100": 80, "h200": 141, "l4": 24, "l40s": 48, "rtx3080": 10, "rtx3090": 24,
    "rtx4090": 24, "rtx5090": 32, "t4": 16,
}  # fmt: skip
ACCESS_WINDOW = 1 << 27  # bytes of an access policy window; with three quarters of L2 for it, as an A100 has
BUS_BITS = 384  # any: with it a program finds the bandwidth, 2 x clock x bits / 8
FLAGS = (
    15, 19, 31, 41, 78, 79, 80, 83, 89, 90, 91, 95, 99, 102, 115, 129,
)  # fmt: skip
"""Numbers of attributes that are 1 on every GPU here: overlap, mapped host memory, concurrent kernels, unified
addresses, stream priorities, L1 of global and local memory, managed memory, concurrent access to it, preemption,
registered pointers, cooperative launches, registered memory of the host, virtual memory, pools, function pointers."""


PITCH_UNIT = 0  # no attribute of CUDA's: rows that cudaMallocPitch allocates begin at multiples of this
TEXTURES = {
    21: 131072, 22: 131072, 23: 65536, 24: 16384, 25: 16384, 26: 16384, 27: 32768, 28: 32768, 29: 2048, 30: 512,
    42: 32768, 43: 2048, 45: 32768, 46: 32768, 47: 8192, 48: 8192, 49: 32768, 51: 32, 52: 32768, 53: 32768, 54: 2046,
    55: 32768, 56: 131072, 57: 65536, 58: 16384, 59: 16384, 60: 16384, 61: 32768, 62: 2048, 63: 32768, 64: 32768,
    65: 2048, 66: 32768, 67: 32768, 68: 2046, 69: 1 << 28, 70: 131072, 71: 65000, 72: 2097120, 73: 32768, 74: 32768,
    77: 32768,
}  # fmt: skip
"""Alignments and largest extents of textures and surfaces, the same from compute capability 6.0 on (CUDA Programming
Guide, "Technical Specifications per Compute Capability")."""


def memory_bytes(gpu: Machine) -> int:
    return min(MEMORY.get(gpu.key, 16) * 10**9, arena.MODULES)


def attributes(gpu: Machine) -> list[int]:
    """By number."""
    limits, chip = gpu.limits, chip_number(gpu.arch)
    named = {
        1: limits.threads_per_block, 8: limits.shared_bytes_per_block_default, 9: 65536, 10: 32, 11: 2**31 - 1,
        12: limits.registers_per_block, 13: gpu.boost_megahertz * 1000, 14: 512, 16: gpu.multiprocessors,
        33: 1, 36: gpu.dram_gigabytes_per_second * 8 * 10**6 // (2 * BUS_BITS), 37: BUS_BITS, 38: gpu.l2_bytes,
        39: limits.threads_per_multiprocessor, 40: 3, 75: chip // 10, 76: chip % 10,
        PITCH_UNIT: limits.pitch_alignment_bytes,
        81: limits.largest_carveout_bytes, 82: limits.registers_per_multiprocessor, 87: 2,
        97: limits.shared_bytes_per_block_optin, 106: limits.blocks_per_multiprocessor,
        108: gpu.l2_bytes * 3 // 4 if chip >= 80 else 0, 109: ACCESS_WINDOW if chip >= 80 else 0,
        111: limits.shared_bytes_reserved_per_block, 120: int(chip >= 90),
    }  # fmt: skip
    named |= dict(zip((2, 3, 4), limits.block_dimensions, strict=True))
    named |= dict(zip((5, 6, 7), limits.grid_dimensions, strict=True))
    named |= dict.fromkeys(FLAGS, 1) | TEXTURES
    return [named.get(number, 0) for number in range(COUNT)]


def greeting(gpu: Machine, gpus: int, real_time: bool) -> bytes:
    """What a program is told when it connects (struct greeting in shim/protocol.h)."""
    link = gpu.host_link or machine(LINK_OF).host_link
    assert link is not None
    gigabyte = 10**9
    rates = (
        link.to_device_megabytes_per_second / 1000,
        link.to_host_megabytes_per_second / 1000,
        gigabyte / (within(gpu, gigabyte) * 1000),
        gpu.dram_gigabytes_per_second * gpu.speeds.write_share,
        *link.pageable_bytes, *link.pageable_to_device_nanoseconds, *link.pageable_to_host_nanoseconds,
    )  # fmt: skip
    digest = hashlib.blake2b(gpu.key.encode(), digest_size=16).digest()
    return GREETING.pack(
        arena.BASE, arena.BYTES, arena.MODULES, memory_bytes(gpu),
        link.copy_nanoseconds, link.next_copy_nanoseconds, 1000 * gpu.speeds.launch_microseconds,
        1000 * gpu.speeds.event_microseconds, 1000 * gpu.speeds.node_microseconds, *rates,
        int(real_time), gpus, *attributes(gpu), gpu.title.encode(), digest,
    )  # fmt: skip

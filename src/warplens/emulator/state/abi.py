"""ABI: constant bank 0, special registers and address windows, as the driver sets them.

All addresses are constants: a kernel's arithmetic on them gives the same on every machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod
from struct import pack_into

from warplens.core.cubin import chip_number
from warplens.core.launch import Dim3, Launch

GLOBAL_BASE = 0x7F00_0000_0000  # device memory starts here
SHARED_WINDOW = 0x7E00  # high word of generic addresses of shared memory
LOCAL_WINDOW = 0x7D00  # likewise of local memory
STACK_TOP = 0xFFFDC0  # R1 as the driver sets it on sm_90
CALL_STACK = 1024  # cudaLimitStackSize, unless set
BANK_BYTES = 65536
GROUP_SCRATCH_BYTES = 288  # what cooperative groups of several warps may use of the driver's shared memory

FIRST_ARGUMENT, ARGUMENTS = 4, 10  # of system calls, R4 to R13


@dataclass(frozen=True)
class ClusterWindows:
    """Cluster windows: offsets of a kernel's cluster data: launched in clusters (%is_explicit_cluster), then three
    words each: %cluster_nctaid, its reciprocals as floats, %nclusterid; and %cluster_nctarank."""

    given: int
    size: int
    reciprocals: int
    many: int
    blocks: int


@dataclass(frozen=True)
class ConstantBank0:
    """Constant bank 0: byte offsets; None where the architecture has no such entry."""

    block: int
    grid: int
    stack: int
    shared_window: int | None
    local_window: int
    dynamic_shared: int | None
    reserved_shared: int | None
    multiprocessors: int
    clusters: ClusterWindows | None
    grid_barrier: int  # the high word first; from sm_100 on 0xa0 less for each block of a cluster
    parameters: int | None = None  # the address of the kernel's parameters in global memory (__grid_constant__)
    group_scratch: int | None = None  # %reserved_smem_offset_1: scratch of cooperative groups in shared memory


_VOLTA = ConstantBank0(0x0, 0xC, 0x28, 0x18, 0x20, 0x2C, 0x114, 0x10C, None, 0x8C, group_scratch=0x124)
_HOPPER_CLUSTERS = ClusterWindows(0x140, 0x144, 0x150, 0x15C, 0x188)
_HOPPER = replace(_VOLTA, clusters=_HOPPER_CLUSTERS, grid_barrier=0x44, parameters=0x198, group_scratch=0x6C)
_BLACKWELL_CLUSTERS = ClusterWindows(0x36C, 0x2A0, 0x2B0, 0x2C0, 0x2CC)
_BLACKWELL = ConstantBank0(
    0x360, 0x370, 0x37C, None, 0x2F8, 0x2AC, 0x16C, 0x2D0, _BLACKWELL_CLUSTERS, 0x254, 0x348, 0x27C
)


def bank0(arch: str) -> ConstantBank0:
    if chip_number(arch) >= 100:
        return _BLACKWELL
    return _HOPPER if chip_number(arch) >= 90 else _VOLTA


def shared_base(arch: str) -> int:
    """Where a block's shared memory starts: from sm_90 on, the driver keeps the first KB."""
    return 0x400 if chip_number(arch) >= 90 else 0


@lru_cache(16)
def launch_block(
    arch: str, initial: bytes, launch: Launch, multiprocessors: int, grid_barrier: int, cluster: Dim3 = (1, 1, 1),
    parameters: int = 0, scratch: int = 0,
) -> bytes:  # fmt: skip
    """Constant bank 0 of a launch, without the parameters.  grid_barrier: address of the counter of grid.sync(); 0
    makes it trap.  parameters: their address in global memory, 0 if the kernel does not take it.  scratch: of
    cooperative groups, behind the block's own shared memory."""
    bank = bytearray(initial.ljust(BANK_BYTES, b"\0"))
    place = bank0(arch)

    def put(offset: int | None, *words: int) -> None:
        if offset is not None:
            pack_into(f"<{len(words)}I", bank, offset, *words)

    put(place.block, *launch.block)
    put(place.grid, *launch.grid)
    put(place.stack, STACK_TOP)
    put(place.shared_window, 0, SHARED_WINDOW)
    put(place.local_window, 0, LOCAL_WINDOW)
    put(place.dynamic_shared, launch.shared)
    put(place.multiprocessors, multiprocessors)
    put(place.grid_barrier, grid_barrier >> 32, grid_barrier & 0xFFFFFFFF)
    put(place.parameters, parameters & 0xFFFFFFFF, parameters >> 32)
    if place.clusters is not None:  # without clusters, each block is one (seen on an H200)
        clusters = place.clusters
        put(clusters.given, cluster != (1, 1, 1))
        put(clusters.size, *cluster)
        pack_into("<3f", bank, clusters.reciprocals, *(1 / size for size in cluster))
        put(clusters.many, *(blocks // size for blocks, size in zip(launch.grid, cluster, strict=True)))
        put(clusters.blocks, prod(cluster))
    if chip_number(arch) >= 80:
        put(place.reserved_shared, shared_base(arch))
        put(place.group_scratch, shared_base(arch) + scratch)
    return bytes(bank)


def special_constants(arch: str) -> Mapping[str, int]:
    """Special registers equal for every thread of every launch on our machine.  Profiler counters are 0 without a
    profiler; the second byte of VIRTCFG is the warps of an SM (H200: 64)."""
    return {
        **{f"SR_PM{n}": 0 for n in range(8)},
        "SR_VIRTCFG": (48 if chip_number(arch) in (86, 89, 120) else 64) << 8,
        "SR_SWINHI": SHARED_WINDOW,
        "SR_CgaSize": 0,
        "SR_VIRTUALSMID": 0,
        "SR_LMEMHIOFF": 0,  # below which the stack of `nvcc -G` must not grow: what runs over its end is found anyway
        "SRZ": 0,
    }

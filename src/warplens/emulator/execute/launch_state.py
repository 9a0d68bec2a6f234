"""Launch state: what all workers of a launch share, and the configuration that their states are sized for."""

from __future__ import annotations

from ctypes import c_int32
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from warplens.core.launch import Dim3, Launch
from warplens.emulator.state.check_set import Checks
from warplens.emulator.state.counter_layout import CounterLayout


@dataclass(frozen=True)
class WorkerConfiguration:
    """Worker configuration: sizes and contents of a worker state common to all launches of one configuration.

    buffers   room for allocations of device memory;  stride: bytes of a warp's record
    banks     contents of the constant banks, of bank 0 without the parameters
    parameters   their offset in bank 0 and their size, in bytes
    cluster   its size in blocks;  registers: of a thread when it starts
    reserved  bytes at the start of shared memory that are the driver's
    """

    plan: CounterLayout
    launch: Launch
    buffers: int
    shared_bytes: int
    local_bytes: int
    stride: int
    budget: int
    checks: Checks
    banks: tuple[bytes, ...]
    parameters: tuple[int, int]
    cluster: Dim3 = (1, 1, 1)
    registers: int = 0
    reserved: int = 0

    def like(self, other: WorkerConfiguration) -> bool:
        """Whether a worker state of one serves the other.  Plans, which hold programs, compare by identity."""
        return self.plan is other.plan and self._rest == other._rest

    @property
    def _rest(self) -> tuple[object, ...]:
        return (
            self.launch, self.buffers, self.shared_bytes, self.local_bytes, self.stride, self.budget, self.checks,
            self.parameters, self.banks, self.cluster, self.registers, self.reserved,
        )  # fmt: skip


@dataclass(frozen=True)
class LaunchState:
    """Launch state: shared by all workers of a launch.

    parameters   of the kernel;  calls: whether it makes system calls;  stop: 1 asks native code to end
    """

    configuration: WorkerConfiguration
    parameters: bytes
    calls: bool
    stop: c_int32

    @property
    def launch(self) -> Launch:
        return self.configuration.launch

    @property
    def plan(self) -> CounterLayout:
        return self.configuration.plan


@lru_cache(16)
def thread_indices(block: Dim3) -> tuple[NDArray[np.int32], NDArray[np.uint32]]:
    """threadIdx by warp, axis and lane (x runs fastest), and the lanes that exist in each warp."""
    x, y, z = block
    threads = x * y * z
    warps = -(-threads // 32)
    linear = np.arange(32 * warps)
    axes = np.stack([linear % x, linear // x % y, linear // (x * y)])
    tid = np.ascontiguousarray(axes.reshape(3, warps, 32).swapaxes(0, 1), np.int32)
    exists = (linear < threads).reshape(warps, 32)
    return tid, (exists * (1 << np.arange(32, dtype=np.uint64))).sum(1).astype(np.uint32)

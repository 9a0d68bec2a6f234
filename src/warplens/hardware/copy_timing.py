"""Copy timing: copies between host and GPU, by the host's clock from the call until completion.

with Copies(gpu, size) as copies:
    copies.times(lambda: copies.to_device(copies.pinned, size))     # microseconds of each run
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplens.hardware.device import Gpu, check

RUNS = 15
STREAMS = 3


class Copies:
    """Buffers of `size` bytes on both sides; addresses of the host and of the device are plain numbers.

    pageable         ordinary memory of the host, all of it touched
    pinned, returned   page-locked memory;  device, other: on the GPU
    """

    def __init__(self, gpu: Gpu, size: int) -> None:
        from cuda.bindings import driver

        gpu.device.set_current()
        self.memory: NDArray[np.uint8] = np.ones(size, np.uint8)
        self.pageable = int(self.memory.ctypes.data)
        self.pinned, self.returned = (int(check(driver.cuMemHostAlloc(size, 0))) for _ in range(2))
        self.device, self.other = (int(check(driver.cuMemAlloc(size))) for _ in range(2))
        flags = driver.CUstream_flags.CU_STREAM_NON_BLOCKING
        self.streams = [check(driver.cuStreamCreate(flags)) for _ in range(STREAMS)]

    def to_device(self, host: int, size: int, offset: int = 0, stream: int = 0) -> None:
        from cuda.bindings import driver

        check(driver.cuMemcpyHtoDAsync(self.device + offset, host + offset, size, self.streams[stream]))

    def from_pageable(self, size: int) -> None:
        from cuda.bindings import driver

        check(driver.cuMemcpyHtoD(self.device, self.pageable, size))

    def to_host(self, host: int, size: int, offset: int = 0, stream: int = 0) -> None:
        from cuda.bindings import driver

        check(driver.cuMemcpyDtoHAsync(host + offset, self.other + offset, size, self.streams[stream]))

    def within_device(self, size: int, offset: int = 0, stream: int = 0) -> None:
        """A copy in place of a kernel that reads the one buffer and writes the other."""
        from cuda.bindings import driver

        check(driver.cuMemcpyDtoDAsync(self.other + offset, self.device + offset, size, self.streams[stream]))

    def rows_to_device(self, host: int, row: int, rows: int, pitch: int, stream: int = 0) -> None:
        """A 2-D copy: rows side by side on the host, `pitch` bytes apart on the GPU."""
        from cuda.bindings import driver

        copy = driver.CUDA_MEMCPY2D()
        copy.srcMemoryType, copy.srcHost = driver.CUmemorytype.CU_MEMORYTYPE_HOST, host
        copy.dstMemoryType, copy.dstDevice = driver.CUmemorytype.CU_MEMORYTYPE_DEVICE, driver.CUdeviceptr(self.device)
        copy.srcPitch, copy.dstPitch, copy.WidthInBytes, copy.Height = row, pitch, row, rows
        check(driver.cuMemcpy2DAsync(copy, self.streams[stream]))

    def row_to_device(self, host: int, row: int, number: int, pitch: int, stream: int = 0) -> None:
        """One of those rows by a copy of its own."""
        from cuda.bindings import driver

        place = self.device + number * pitch
        check(driver.cuMemcpyHtoDAsync(place, host + number * row, row, self.streams[stream]))

    def times(self, action: Callable[[], Any], runs: int = RUNS) -> list[float]:
        """Microseconds of each run, after one that does not count."""
        return [self._once(action) for _ in range(runs + 1)][1:]

    def _once(self, action: Callable[[], Any]) -> float:
        from cuda.bindings import driver

        check(driver.cuCtxSynchronize())
        started = time.perf_counter()
        action()
        check(driver.cuCtxSynchronize())
        return 1e6 * (time.perf_counter() - started)

    def close(self) -> None:
        from cuda.bindings import driver

        for stream in self.streams:
            check(driver.cuStreamDestroy(stream))
        for host in (self.pinned, self.returned):
            check(driver.cuMemFreeHost(host))
        for device in (self.device, self.other):
            check(driver.cuMemFree(device))


@contextmanager
def copies(gpu: Gpu, size: int) -> Iterator[Copies]:
    """HardwareError where the driver refuses."""
    made = Copies(gpu, size)
    try:
        yield made
    finally:
        made.close()

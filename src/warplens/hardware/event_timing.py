"""Event timing: duration of a launch on this machine's GPU, by CUDA events.

Before each cold run the buffers get their first contents back and L2 is filled with something else by reading, so that
nothing waits there to be written.  The clocks are left as they are, and noted.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from warplens.compiler import compile_source
from warplens.errors import KernelFault
from warplens.hardware.device import Gpu, Ready, check, prepared
from warplens.hardware.launch_job import Job

SOURCE = Path(__file__).with_name("timing.cu")
RUNS = 15
CACHES_SWEPT = 8  # times L2: reading them also takes longer than to queue the launch after it
CLOCK_CYCLES = 200_000
GRID, BLOCK = 1056, 256
RESET_BYTES = 1 << 20  # before a warm run: tickets, flags and counters, without which some kernels run out of bounds


@dataclass(frozen=True)
class Timing:
    """Microseconds from an event before the launch to one after it: about 1 more than Nsight's gpu__time_duration.

    microseconds   median of `runs` cold runs, low and high their 10th and 90th percentile
    warm           median of runs right after another one: what fits into L2 is there
    megahertz      of the multiprocessors right after the runs
    gpu            its name;  driver: its version, "" if unknown;  cuda: the CUDA version that it supports
    """

    microseconds: float
    low: float
    high: float
    warm: float
    megahertz: float
    runs: int
    gpu: str
    driver: str
    cuda: str


def time(job: Job, gpu: Gpu, runs: int = RUNS) -> Timing:
    """HardwareError and KernelFault as of launch()."""
    with prepared(job, gpu) as ready:
        bench = _Bench(gpu, ready)
        bench.once(cold=True)  # what the first launch costs besides
        cold = sorted(bench.once(cold=True) for _ in range(runs))
        warm = [bench.once(cold=False) for _ in range(runs)]
        megahertz = bench.megahertz()
        bench.close()
    tenth = runs // 10
    return Timing(
        statistics.median(cold), cold[tenth], cold[-1 - tenth], statistics.median(warm), megahertz, runs, gpu.name,
        gpu.driver, gpu.cuda,
    )  # fmt: skip


class _Bench:
    def __init__(self, gpu: Gpu, ready: Ready) -> None:
        from cuda.bindings import driver
        from cuda.core import ObjectCode

        self.ready = ready
        cubin, _ = compile_source(SOURCE.read_text(encoding="utf-8"), SOURCE.name, gpu.arch)
        self.module = ObjectCode.from_cubin(cubin)
        wanted = driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE
        self.bytes = CACHES_SWEPT * int(check(driver.cuDeviceGetAttribute(wanted, gpu.device.device_id)))
        self.swept = gpu.device.allocate(self.bytes, stream=ready.stream)
        self.sink = gpu.device.allocate(4096, stream=ready.stream)
        self.first = [gpu.device.allocate(buffer.size, stream=ready.stream) for buffer in ready.buffers]
        self._copy(self.first, ready.buffers)
        check(driver.cuMemsetD8Async(int(self.swept.handle), 0, self.bytes, ready.stream.handle))

    def once(self, cold: bool) -> float:
        """Microseconds."""
        from cuda.bindings import driver

        self._copy(self.ready.buffers, self.first)
        if cold:
            self._start("sweep", GRID, [self.swept, self.sink, np.int64(self.bytes // 16)])
        else:
            self.ready.start()
            self._copy(self.ready.buffers, self.first, RESET_BYTES)
        start, end = (check(driver.cuEventCreate(0)) for _ in range(2))
        check(driver.cuEventRecord(start, self.ready.stream.handle))
        self.ready.start()
        check(driver.cuEventRecord(end, self.ready.stream.handle))
        self._sync(self.ready.stream.sync)
        milliseconds = float(check(driver.cuEventElapsedTime(start, end)))
        for event in (start, end):
            check(driver.cuEventDestroy(event))
        return 1000 * milliseconds

    def megahertz(self) -> float:
        from cuda.bindings import driver

        self._start("clocks", 1, [self.sink, np.int64(CLOCK_CYCLES)], 1)
        self._sync(self.ready.stream.sync)
        found = np.zeros(2, np.int64)
        check(driver.cuMemcpyDtoH(found.ctypes.data, int(self.sink.handle), found.nbytes))
        return float(1000 * found[0] / found[1])

    def close(self) -> None:
        for buffer in (self.swept, self.sink, *self.first):
            buffer.close(self.ready.stream)

    def _start(self, kernel: str, grid: int, args: list[Any], block: int = BLOCK) -> None:
        from cuda.core import LaunchConfig, launch

        launch(self.ready.stream, LaunchConfig(grid=grid, block=block), self.module.get_kernel(kernel), *args)

    def _copy(self, to: list[Any], source: list[Any], most: int | None = None) -> None:
        """Of buffers of at most `most` bytes, if that is given."""
        from cuda.bindings import driver

        stream = self.ready.stream.handle
        for target, buffer in zip(to, source, strict=True):
            if most is not None and buffer.size > most:
                continue
            check(driver.cuMemcpyDtoDAsync(int(target.handle), int(buffer.handle), buffer.size, stream))

    def _sync(self, wait: Callable[[], Any]) -> None:
        try:
            wait()
        except Exception as error:  # cuda-core has no common class for these
            raise KernelFault(f"the kernel failed on the GPU: {error}") from None

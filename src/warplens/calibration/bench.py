"""Trials on the GPU of this machine.  F5."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from warplens.calibration.trials import Buffer, Trial
from warplens.hardware.device import SCALARS, Gpu, allow_shared, check

SWEPT_BYTES = 512 << 20  # read before a cold launch: many times an L2, and long enough to queue the launch behind it
REPEATS = 15
GRID, BLOCK = 1056, 256  # of the kernels that fill and sweep


@dataclass(frozen=True)
class Reading:
    """value: microseconds, or ticks of a warp for each thing that it did;  low, high: 10th and 90th percentile"""

    trial: Trial
    value: float
    low: float
    high: float


class Bench:
    def __init__(self, gpu: Gpu, cubin: bytes, parameters: Mapping[str, Sequence[int]]) -> None:
        """parameters: their sizes in bytes, by kernel."""
        from cuda.core import ObjectCode

        self.gpu, self.parameters = gpu, parameters
        self.module = ObjectCode.from_cubin(cubin)
        self.stream = gpu.device.create_stream()
        self.swept = self._made(Buffer(SWEPT_BYTES))
        self.sink = self._made(Buffer(4096, "zeros"))

    def _launch(self, kernel: str, grid: int, block: int, args: Sequence[Any], shared: int = 0) -> None:
        from cuda.core import LaunchConfig, launch

        config = LaunchConfig(grid=grid, block=block, shmem_size=shared)
        launch(self.stream, config, self.module.get_kernel(kernel), *args)

    def _made(self, wanted: Buffer) -> Any:
        from cuda.bindings import driver

        buffer = self.gpu.device.allocate(wanted.bytes, stream=self.stream)
        kind, _, step = wanted.fill.partition(" ")
        if kind == "chain":
            numbers = np.uint32(wanted.bytes // 4)
            self._launch("fill_chain", GRID, BLOCK, [buffer, numbers, np.uint32(int(step))])
        elif kind == "numbers":
            self._launch("fill", GRID, BLOCK, [buffer, np.int64(wanted.bytes // 4)])
        else:
            check(driver.cuMemsetD8Async(int(buffer.handle), 0, wanted.bytes, self.stream.handle))
        self.stream.sync()
        return buffer

    @contextmanager
    def _arguments(self, trial: Trial) -> Iterator[list[Any]]:
        made, buffers = [], []
        for argument, size in zip(trial.args, self.parameters[trial.kernel], strict=True):
            if isinstance(argument, Buffer):
                buffers.append(self._made(argument))
                made.append(buffers[-1])
            elif isinstance(argument, float):
                made.append(np.float32(argument))
            else:
                made.append(SCALARS[size](argument))
        yield made
        for buffer in buffers:
            buffer.close(self.stream)
        self.stream.sync()

    def read(self, trial: Trial, repeats: int = REPEATS) -> Reading:
        """The median of so many launches."""
        if trial.shared > 48 * 1024:
            allow_shared(self.module.get_kernel(trial.kernel), trial.shared, self.gpu)
        with self._arguments(trial) as args:
            self._launch(trial.kernel, trial.grid, trial.block, args, trial.shared)
            self.stream.sync()
            values = sorted(self._once(trial, args) for _ in range(repeats))
        n = len(values)
        return Reading(trial, statistics.median(values), values[n // 10], values[n - 1 - n // 10])

    def _once(self, trial: Trial, args: list[Any]) -> float:
        from cuda.bindings import driver

        self._launch("sweep", GRID, BLOCK, [self.swept, self.sink, np.int64(SWEPT_BYTES // 16)])
        if trial.warm:
            self._launch(trial.kernel, trial.grid, trial.block, args, trial.shared)
        start, end = (check(driver.cuEventCreate(0)) for _ in range(2))
        check(driver.cuEventRecord(start, self.stream.handle))
        self._launch(trial.kernel, trial.grid, trial.block, args, trial.shared)
        check(driver.cuEventRecord(end, self.stream.handle))
        self.stream.sync()
        milliseconds = float(check(driver.cuEventElapsedTime(start, end)))
        for event in (start, end):
            check(driver.cuEventDestroy(event))
        return milliseconds * 1000 if trial.reads == "time" else self._ticks(trial, args[0]) / trial.per

    def _ticks(self, trial: Trial, buffer: Any) -> float:
        """Of the slowest warp."""
        from cuda.bindings import driver

        found = np.zeros(trial.grid * -(-trial.block // 32), np.int64)
        check(driver.cuMemcpyDtoH(found.ctypes.data, int(buffer.handle), found.nbytes))
        return float(found.max())

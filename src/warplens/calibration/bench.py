"""Test bench: runs trials on the GPU of this machine."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplens.calibration.trial import Buffer, Trial
from warplens.hardware.device import SCALARS, STATIC_LIMIT, Gpu, allow_shared, check

SWEPT_BYTES = 512 << 20  # read before a cold launch: many times an L2, and long enough to queue the launch after it
REPEATS = 15
LONG_MICROSECONDS = 3000  # fewer repeats of a launch that takes longer
MEMORY_SHARE = 0.9  # of the free memory that a trial may take
GRID, BLOCK = 1056, 256  # of the kernels that fill and sweep
HELPERS = "launches"  # the subject that has them
CLOCK_BITS = 48  # of what a block writes when it starts; its multiprocessor is in the bits above
SHARES = (0, 1, 10, 25, 50, 75, 90, 99, 100)  # percentiles of a distribution


@dataclass(frozen=True)
class CompiledTrials:
    """A subject's cubin;  parameters: their sizes in bytes, by kernel."""

    cubin: bytes
    parameters: Mapping[str, Sequence[int]]


@dataclass(frozen=True)
class Reading:
    """value: microseconds, or cycles;  low, high: 10th and 90th percentile of the repeats;  share: which percentile of
    a distribution this is, None where the reading is none."""

    trial: Trial
    value: float
    low: float
    high: float
    share: int | None = None


class Bench:
    def __init__(self, gpu: Gpu, compiled: Mapping[str, CompiledTrials]) -> None:
        """compiled: by subject."""
        from cuda.core import ObjectCode

        self.gpu, self.compiled = gpu, compiled
        self.modules = {subject: ObjectCode.from_cubin(one.cubin) for subject, one in compiled.items()}
        self.stream = gpu.device.create_stream()
        self.cleared: list[tuple[Any, int]] = []  # buffers of the trial that are zeros before each launch
        self.swept = self._made(Buffer(SWEPT_BYTES))
        self.sink = self._made(Buffer(4096, "zeros"))

    def can(self, trial: Trial) -> bool:
        """Whether the architecture has the kernel, and the GPU the memory and the shared memory."""
        from cuda.bindings import driver

        optin = driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
        most = int(check(driver.cuDeviceGetAttribute(optin, self.gpu.device.device_id)))
        _, free, _ = driver.cuMemGetInfo()
        taken = sum(argument.bytes for argument in trial.args if isinstance(argument, Buffer))
        has = trial.kernel in self.compiled[trial.subject].parameters
        return has and trial.shared <= most and taken < MEMORY_SHARE * free

    def read(self, trial: Trial, repeats: int = REPEATS) -> list[Reading]:
        """One reading, or those of a distribution."""
        if trial.shared > STATIC_LIMIT:
            allow_shared(self.modules[trial.subject].get_kernel(trial.kernel), trial.shared, self.gpu)
        with self._arguments(trial) as args:
            first = self._once(trial, args)[0]
            repeats = repeats if first < LONG_MICROSECONDS else max(repeats // 4, 3)
            done = [self._once(trial, args) for _ in range(repeats)]
        if trial.reads in ("time", "ticks"):
            values = sorted(time if trial.reads == "time" else ticks.max() / trial.per for time, ticks in done)
            tenth = repeats // 10
            return [Reading(trial, statistics.median(values), values[tenth], values[-1 - tenth])]
        found = distribution(trial, done[-1][1])
        return [Reading(trial, value, value, value, share) for share, value in zip(SHARES, found, strict=True)]

    def launch(self, trial: Trial) -> None:
        """Once, with nothing around it: what a profiler looks at."""
        if trial.shared > STATIC_LIMIT:
            allow_shared(self.modules[trial.subject].get_kernel(trial.kernel), trial.shared, self.gpu)
        with self._arguments(trial) as args:
            self._start(trial.subject, trial.kernel, trial.grid, trial.block, args, trial.shared)
            self.stream.sync()

    def _start(self, subject: str, kernel: str, grid: int, block: int, args: Sequence[Any], shared: int = 0) -> None:
        from cuda.core import LaunchConfig, launch

        config = LaunchConfig(grid=grid, block=block, shmem_size=shared)
        launch(self.stream, config, self.modules[subject].get_kernel(kernel), *args)

    def _made(self, wanted: Buffer) -> Any:
        from cuda.bindings import driver

        buffer = self.gpu.device.allocate(wanted.bytes, stream=self.stream)
        kind, _, step = wanted.fill.partition(" ")
        if kind == "chain":
            args = [buffer, np.uint32(wanted.bytes // 4), np.uint32(int(step))]
            self._start(HELPERS, "fill_chain", GRID, BLOCK, args)
        elif kind == "pointers":
            args = [buffer, np.int64(wanted.bytes // 8), np.int64(int(step))]
            self._start(HELPERS, "fill_pointers", GRID, BLOCK, args)
        elif kind == "numbers":
            self._start(HELPERS, "fill", GRID, BLOCK, [buffer, np.int64(wanted.bytes // 4)])
        else:
            check(driver.cuMemsetD8Async(int(buffer.handle), 0, wanted.bytes, self.stream.handle))
        self.stream.sync()
        return buffer

    @contextmanager
    def _arguments(self, trial: Trial) -> Iterator[list[Any]]:
        sizes = self.compiled[trial.subject].parameters[trial.kernel]
        made, buffers = [], []
        self.cleared.clear()
        for argument, size in zip(trial.args, sizes, strict=True):
            if isinstance(argument, int):
                made.append(SCALARS[size](argument))
            elif isinstance(argument, float):
                made.append(np.float32(argument))
            else:
                wanted = argument if isinstance(argument, Buffer) else Buffer(8 * _written(trial), "zeros")
                buffers.append(self._made(wanted))
                made.append(buffers[-1])
                if wanted.fill == "cleared":
                    self.cleared.append((buffers[-1], wanted.bytes))
        try:
            yield made
        finally:
            for buffer in buffers:
                buffer.close(self.stream)
            self.stream.sync()

    def _once(self, trial: Trial, args: list[Any]) -> tuple[float, NDArray[np.int64]]:
        """Microseconds, and what the kernel wrote into its first argument if that is read."""
        from cuda.bindings import driver

        started = (trial.subject, trial.kernel, trial.grid, trial.block, args, trial.shared)
        self._start(HELPERS, "sweep", GRID, BLOCK, [self.swept, self.sink, np.int64(SWEPT_BYTES // 16)])
        if trial.warm:
            self._clear()
            self._start(*started)
        self._clear()
        start, end = (check(driver.cuEventCreate(0)) for _ in range(2))
        check(driver.cuEventRecord(start, self.stream.handle))
        self._start(*started)
        check(driver.cuEventRecord(end, self.stream.handle))
        self.stream.sync()
        microseconds = 1000 * float(check(driver.cuEventElapsedTime(start, end)))
        for event in (start, end):
            check(driver.cuEventDestroy(event))
        found = np.zeros(_written(trial) if trial.reads != "time" else 0, np.int64)
        if found.size:
            check(driver.cuMemcpyDtoH(found.ctypes.data, int(args[0].handle), found.nbytes))
        return microseconds, found

    def _clear(self) -> None:
        from cuda.bindings import driver

        for buffer, size in self.cleared:
            check(driver.cuMemsetD8Async(int(buffer.handle), 0, size, self.stream.handle))


def _written(trial: Trial) -> int:
    """Numbers of 8 bytes: one a warp, or as many as the trial names."""
    return max(trial.grid * -(-trial.block // 32), trial.count)


def distribution(trial: Trial, ticks: NDArray[np.int64]) -> list[float]:
    """Percentiles SHARES of what a distribution's trial wrote."""
    values = ticks[: trial.count]
    if trial.reads == "starts":
        where, clock = values >> CLOCK_BITS, values & ((1 << CLOCK_BITS) - 1)
        values = np.concatenate([np.diff(np.sort(clock[where == one])) for one in np.unique(where)])
    else:
        values = values[values != 0]
    return [float(value) for value in np.percentile(values, SHARES)] if values.size else [0.0] * len(SHARES)

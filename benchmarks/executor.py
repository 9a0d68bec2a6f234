"""How many warp instructions a second the executor does, counting all of them; Numba's simulator beside it.

    python benchmarks/executor.py

The columns are explained in README.md beside this file.
"""

from __future__ import annotations

import multiprocessing
import os
import platform
import re
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

import warplens as wl
from warplens.emulator.execute.grid import GridExecution
from warplens.emulator.execute.worker import Worker
from warplens.emulator.jit.compile_module import compile_object
from warplens.emulator.memory import device_memory

ROOT = Path(__file__).parent.parent
LESSONS = ROOT / "tests" / "kernels" / "lessons.cu"
LEAST, REPEATS = 9, 3.0  # runs, and seconds of them: other users of a host take more away than one run takes
MILLION = 1e6
SIMULATED = 1 << 13  # elements that Numba's simulator copies in about a second


def floats(n: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.random.default_rng(1).random(n, np.float32) - np.float32(0.5)


def copies(n: int) -> list[Any]:
    return [floats(n), np.zeros(n, np.float32), np.int32(n)]


def additions(n: int) -> list[Any]:
    return [floats(n), floats(n), np.zeros(n, np.float32), np.int32(n)]


def sums(n: int) -> list[Any]:
    numbers = np.random.default_rng(1).integers(0, 1000, n, np.int32)
    return [numbers, np.zeros(n // 256, np.int32), np.int32(n)]


def matrices(n: int) -> list[Any]:
    return [floats(n * n), floats(n * n), np.zeros(n * n, np.float32), np.int32(n)]


@dataclass(frozen=True)
class Case:
    """A launch: `n` elements, or the side of a matrix."""

    kernel: str
    n: int
    grid: tuple[int, ...]
    block: tuple[int, ...]
    arguments: Callable[[int], list[Any]]


CASES = (
    *(Case("nccopy", n, (n // 128,), (128,), copies) for n in (1 << 20, 1 << 24)),
    *(Case("add1", n, (2048,), (256,), additions) for n in (1 << 20, 1 << 24)),
    *(Case("reduce_sequential", n, (n // 256,), (256,), sums) for n in (1 << 20, 1 << 24)),
    *(Case("matmul_tiled", n, (n // 16, n // 16), (16, 16), matrices) for n in (256, 1024)),
)


@dataclass(frozen=True)
class Timed:
    """The best of the repeats, in seconds: what passed, what the process had of the processors, of that what machine
    code had, and the longest way through it all.

    code   of Worker.run, in which Python only asks for the next share of blocks
    path   cpu without what other threads did while one worked longest: the time that would pass if every thread had
           a processor for itself
    """

    wall: float
    cpu: float
    code: float
    path: float


@dataclass(frozen=True)
class Row:
    """What one case gave.  Seconds by number of host threads; bytes: the peak of the whole process, and the arrays."""

    case: Case
    instructions: int
    translation: float
    timed: dict[int, Timed]
    peak: int
    arrays: int


def timed(launch: Callable[[], wl.Run]) -> Timed:
    """Best of the repeats after one run that nobody times."""
    launch()
    begun, runs = time.perf_counter(), []
    while len(runs) < LEAST or time.perf_counter() - begun < REPEATS:
        runs.append(stopwatch(launch))
    return Timed(*(min(figures) for figures in zip(*runs, strict=True)))


def stopwatch(launch: Callable[[], wl.Run]) -> tuple[float, float, float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    code, beside = spent[0], saved[0]
    launch()
    cpu = time.process_time() - cpu
    return time.perf_counter() - wall, cpu, spent[0] - code, cpu - (saved[0] - beside)


spent = [0.0]  # seconds of processor time in Worker.run
saved = [0.0]  # of them those beside a thread that took longer
shares: list[float] = []  # of the threads that run now


def watch_the_workers() -> None:
    run, drive, copy = Worker.run, GridExecution.drive, device_memory.copy

    def watched(*arguments: Any) -> Any:
        start = time.thread_time()
        try:
            return run(*arguments)
        finally:
            shares.append(time.thread_time() - start)

    def driven(*arguments: Any, **named: Any) -> Any:
        shares.clear()
        try:
            return drive(*arguments, **named)
        finally:
            spent[0] += sum(shares)
            saved[0] += sum(shares) - max(shares)

    def copied(pairs: Any, threads: int) -> None:
        start = time.process_time()
        copy(pairs, threads)
        if threads > 1 and sum(target.size for target, _ in pairs) > device_memory.SHARE:
            saved[0] += (time.process_time() - start) * (1 - 1 / threads)

    Worker.run, GridExecution.drive, device_memory.copy = watched, driven, copied  # type: ignore[method-assign]


def measure(case: Case) -> Row:
    watch_the_workers()
    kernel = wl.compile(LESSONS)[case.kernel]
    start = time.perf_counter()
    compile_object(kernel.kernel, kernel.program, 32)
    translation = time.perf_counter() - start
    arguments = case.arguments(case.n)

    def launch(threads: int) -> wl.Run:
        return kernel.launch(case.grid, case.block, *arguments, threads=threads)

    instructions = int(launch(1)["smsp__inst_executed.sum"])
    results = {threads: timed(partial(launch, threads)) for threads in (1, 2)}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    arrays = sum(a.nbytes for a in arguments if a.ndim)
    return Row(case, instructions, translation, results, peak, arrays)


def numba_seconds(n: int) -> float:
    """Numba's CUDA simulator on the kernel nccopy."""
    from numba_copy import seconds

    return seconds(n, LEAST)


def thread_instructions(n: int) -> int:
    """How many thread instructions the compiled nccopy executes for n elements."""
    run = wl.compile(LESSONS)["nccopy"].launch(n // 128, 128, *copies(n))
    return int(run["smsp__thread_inst_executed.sum"])


def table(rows: list[Row]) -> str:
    head = (
        f"{'kernel':<18} {'n':>9} {'Minst':>7} {'translate':>9} "
        f"{'code':>9} {'1 core':>9} {'1 core':>9} {'2 cores':>9} {'ratio':>5} {'alone':>5} {'peak':>8} {'besides':>8}"
    )
    units = f"{'':<46} {'of CPU, Minst/s':>19} {'of time, Minst/s':>19} {'':>5} {'':>5} {'MiB':>8} {'MiB':>8}"
    return "\n".join([units, head, *(line(row) for row in rows)])


def line(row: Row) -> str:
    one, two = row.timed[1], row.timed[2]

    def speed(seconds: float) -> str:
        return f"{row.instructions / seconds / MILLION:9,.0f}"

    return (
        f"{row.case.kernel:<18} {row.case.n:>9} {row.instructions / MILLION:7.1f} {row.translation:7.2f} s "
        f"{speed(one.code)} {speed(one.cpu)} {speed(one.wall)} {speed(two.wall)} {one.wall / two.wall:5.2f} "
        f"{one.cpu / two.path:5.2f} {row.peak >> 20:>8} {(row.peak - row.arrays) >> 20:>8}"
    )


def beside_numba(nccopy: Row, seconds: float) -> str:
    theirs = thread_instructions(SIMULATED) / seconds
    ours = thread_instructions(nccopy.case.n) / nccopy.timed[1].cpu
    return (
        f"nccopy, million thread instructions a second, one core:  {ours / MILLION:,.0f} warplens "
        f"(n = {nccopy.case.n}), {theirs / MILLION:,.3f} Numba's CUDA simulator (n = {SIMULATED})"
    )


def about() -> str:
    """When and where this was measured, with what."""
    cpu = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text())
    name = cpu[1] if cpu else platform.machine()
    packages = ", ".join(f"{name} {version(name)}" for name in ("warplens", "llvmlite", "numpy", "numba"))
    busy = os.getloadavg()[0]
    return (
        f"{date.today()}, {name}, {len(os.sched_getaffinity(0))} processors, load {busy:.1f} at the end\n"
        f"Python {platform.python_version()}, {packages}\n"
    )


def main() -> None:
    # Each in a process of its own: the peak of memory is then the case's.
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        rows = pool.map(measure, CASES, chunksize=1)
        seconds = pool.apply(numba_seconds, (SIMULATED,))
    print(about())
    print(table(rows))
    print(beside_numba(rows[1], seconds))


if __name__ == "__main__":
    main()

"""How many warp instructions a second one core does at each size, and what its memory alone would allow.

    python benchmarks/sizes.py

Each line is a loop of launches with the same arrays, as users write it.  The columns are explained in README.md.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from executor import LESSONS, MILLION, about, additions, copies, matrices, stopwatch, sums, watch_the_workers

import warplens as wl

LEAST, SECONDS = 7, 2.0  # launches, and seconds of them
ELEMENTS = tuple(1 << n for n in (18, 20, 22, 24, 26))
SIDES = (128, 256, 512, 1024)
TILE = 16


@dataclass(frozen=True)
class Subject:
    """A kernel: its sizes, its arguments for one, grid and block, and the least that must be done with its arrays."""

    kernel: str
    sizes: tuple[int, ...]
    arguments: Callable[[int], list[Any]]
    shape: Callable[[int], tuple[tuple[int, ...], tuple[int, ...]]]
    least: Callable[[list[Any]], Any] | None = None


def copied(arguments: list[Any]) -> None:
    np.copyto(arguments[1], arguments[0])


def added(arguments: list[Any]) -> None:
    np.add(arguments[0], arguments[1], out=arguments[2])


def read(arguments: list[Any]) -> Any:
    return arguments[0].max()


SUBJECTS = (
    Subject("nccopy", ELEMENTS, copies, lambda n: ((n // 128,), (128,)), copied),
    Subject("add1", ELEMENTS, additions, lambda n: ((2048,), (256,)), added),
    Subject("reduce_sequential", ELEMENTS, sums, lambda n: ((n // 256,), (256,)), read),
    Subject("matmul_tiled", SIDES, matrices, lambda n: ((n // TILE, n // TILE), (TILE, TILE))),
)


def best(action: Callable[[], tuple[float, ...]]) -> list[float]:
    """The least of each figure."""
    begun, runs = time.perf_counter(), [action()]
    while len(runs) < LEAST or time.perf_counter() - begun < SECONDS:
        runs.append(action())
    return [min(figures) for figures in zip(*runs, strict=True)]


def line(subject: Subject, n: int) -> str:
    kernel, arguments = wl.compile(LESSONS)[subject.kernel], subject.arguments(n)
    grid, block = subject.shape(n)

    def launch() -> wl.Run:
        return kernel.launch(grid, block, *arguments, threads=1)

    count = int(launch()["smsp__inst_executed.sum"])
    _, cpu, code, _ = best(lambda: stopwatch(launch))
    speeds = [count / cpu, count / code]
    if subject.least:
        least = subject.least
        least(arguments)
        (alone,) = best(lambda: moved(lambda: least(arguments)))
        speeds.append(count / alone)
    size = sum(a.nbytes for a in arguments if a.ndim)
    cells = "".join(f"{speed / MILLION:>9,.0f}" for speed in speeds)
    return f"{subject.kernel:<18} {n:>9} {size / (1 << 20):>7.1f} {count / MILLION:>7.2f} {cpu * 1e3:>8.2f} {cells}"


def moved(action: Callable[[], Any]) -> tuple[float]:
    start = time.process_time()
    action()
    return (time.process_time() - start,)


def main() -> None:
    watch_the_workers()
    print(f"{'':<45} {'launch':>8} {'launch':>8} {'code':>8} {'memory':>8}")
    print(f"{'kernel':<18} {'n':>9} {'MiB':>7} {'Minst':>7} {'ms':>8}  {'Minst/s':>8} {'Minst/s':>8} {'Minst/s':>8}")
    for subject in SUBJECTS:
        for n in subject.sizes:
            print(line(subject, n), flush=True)
    print(about())


if __name__ == "__main__":
    main()

"""Launches back to back: from the start of one to the start of the next, by how long a kernel runs.

Blocks of 256 threads whose first one waits `wait_ns`.  Read: microseconds between two events around one launch
(`alone_us`), and of one of 50 launches in a stream whose queue is full (`interval_us`), of one node of 50 in a chain of
a graph (`node_us`), and of one of 20 graphs of one node each (`graph_us`).
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

from gpu import COMMON, SPIN, Gpu

SOURCE = (
    COMMON
    + SPIN
    + """
extern "C" __global__ void wait(int cycles) {
  long long start = clock64();
  while (clock64() - start < cycles);
}
"""
)
READS = ("alone_us", "interval_us", "node_us", "graph_us")
LAUNCHES, GRAPHS, TIMES = 50, 20, 7


def read(gpu: Gpu, row: dict[str, str]) -> dict[str, float]:
    import numpy as np

    cupy = gpu.cupy
    kernel, spin = gpu.module.get_function("wait"), gpu.module.get_function("spin")
    blocks, cycles = int(row["blocks"]), np.int32(row["cycles"])

    def launches(number: int) -> None:
        for _ in range(number):
            kernel((blocks,), (256,), (cycles,))

    def between(work: Callable[[], Any], stream: Any) -> float:
        start, end = cupy.cuda.Event(), cupy.cuda.Event()
        with stream:
            spin((1,), (1,), (1_500_000,))
            start.record()
            work()
            end.record()
        end.synchronize()
        return 1000 * float(cupy.cuda.get_elapsed_time(start, end))

    stream = cupy.cuda.Stream(non_blocking=True)

    def graph(number: int) -> Any:
        with stream:
            stream.begin_capture()
            launches(number)
            made = stream.end_capture()
            made.launch()
        stream.synchronize()
        return made

    def median(work: Callable[[], Any]) -> float:
        return statistics.median([between(work, stream) for _ in range(TIMES + 1)][1:])

    chain, single = graph(LAUNCHES), graph(1)
    return {
        "alone_us": round(median(lambda: launches(1)), 3),
        "interval_us": round(median(lambda: launches(LAUNCHES)) / LAUNCHES, 3),
        "node_us": round(median(lambda: chain.launch()) / LAUNCHES, 3),
        "graph_us": round(median(lambda: [single.launch() for _ in range(GRAPHS)]) / GRAPHS, 3),
    }

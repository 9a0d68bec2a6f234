"""Adds a cycle of all SMs to so many ports of L2 and so many lines behind each (atomic_ports.py finds the ports)."""

from __future__ import annotations

import statistics
from collections import defaultdict
from typing import Any

import atomic_ports
from gpu import COMMON, Gpu

ORDERS = {
    "lanes in turn": "i * 32 + threadIdx.x % 32 + threadIdx.x / 32 * 7",
    "a warp at one place": "i + threadIdx.x / 32 + blockIdx.x",
    "lanes anywhere": "mixed(i * 135168 + blockIdx.x * 1024 + threadIdx.x)",
}
KERNEL = """
extern "C" __global__ void {name}(unsigned* page, const int* words, int size, int times, unsigned* sink) {{
  unsigned sum = 0;
  for (unsigned i = 0; i < times; ++i) {{
    unsigned* p = page + words[({place}) % size];
    {body};
  }}
  if (sum == 12345) *sink = sum;
}}
"""
NAMES = {order: f"order{n}" for n, order in enumerate(ORDERS)}
SOURCE = (
    COMMON + atomic_ports.SOURCE
    + "".join(
        KERNEL.format(name=f"{NAMES[order]}{'_used' * used}", place=place,
                      body=("sum += " if used else "") + "atomicAdd(p, threadIdx.x)")
        for order, place in ORDERS.items() for used in (False, True)
    )
)  # fmt: skip
READS = ("adds_per_cycle",)
THREADS, ROUNDS, LINE = 1024, 60, 128
GHZ = 1.98
USED = ", result used"
_lines: dict[int, list[int]] = defaultdict(list)  # by port: offsets of lines in words


def lines_of(gpu: Gpu, page: Any) -> dict[int, list[int]]:
    if not _lines:
        for place, (port, _) in atomic_ports.ports_of(gpu, page).items():
            _lines[port] += [(place + line * LINE) // 4 for line in (0, 1, 4, 5)]
    return _lines


def read(gpu: Gpu, row: dict[str, str]) -> dict[str, str] | None:
    if not hasattr(gpu, "page"):
        gpu.page = gpu.zeros(atomic_ports.PAGE)  # type: ignore[attr-defined]
    page = gpu.page  # type: ignore[attr-defined]
    ports, each, order = int(row["ports"]), int(row["lines_each"]), row["order"]
    lines = lines_of(gpu, page)
    if ports > len(lines):
        return None
    chosen = [line for n in range(each) for port in range(ports) for line in lines[port][n : n + 1]]
    words = gpu.cupy.array(chosen, gpu.cupy.int32)
    kernel = gpu.module.get_function(NAMES[order.removesuffix(USED)] + "_used" * order.endswith(USED))

    def microseconds(times: int) -> float:
        start, end = gpu.cupy.cuda.Event(), gpu.cupy.cuda.Event()
        took = []
        for _ in range(5):
            start.record()
            kernel((gpu.multiprocessors,), (THREADS,), (page, words, len(chosen), times, gpu.sink))
            end.record()
            end.synchronize()
            took.append(1000 * gpu.cupy.cuda.get_elapsed_time(start, end))
        return statistics.median(took[1:])

    more = microseconds(3 * ROUNDS) - microseconds(ROUNDS)
    return {"adds_per_cycle": f"{2 * ROUNDS * THREADS * gpu.multiprocessors / more / GHZ / 1000:.2f}"}

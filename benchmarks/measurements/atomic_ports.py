"""Ports of L2: which of them, and which of the two units behind it, does the atomics of which lines of a page of 2 MB.

All SMs add to two places.  If one port does both that takes longer than if two do, and longer again if one unit does
both.  A port has the number of the place by which it was found first; numbers differ between allocations.
"""

from __future__ import annotations

import statistics
from typing import Any

from gpu import Gpu

SOURCE = """
extern "C" __global__ void add_two(unsigned* page, int a, int b, int times) {
  unsigned* p = page + (threadIdx.x / 32 % 2 ? a : b);
  if (threadIdx.x % 32 == 0)
    for (int i = 0; i < times; ++i) atomicAdd(p, threadIdx.x + i);
}
"""
READS = ("port", "unit", "second_port", "second_unit")
PAGE, KILOBYTE, HALF = 2 << 20, 1024, 256  # bytes: lines 0, 1, 4, 5 of a KB belong together, and 2, 3, 6, 7
TIMES = 1500
THREADS = 256
SAME_PORT, SAME_UNIT = 1.12, 1.5  # of the time with two ports


def microseconds(gpu: Gpu, page: Any, a: int, b: int, launches: int = 2) -> float:
    """Of one launch in which all SMs add to the words at two offsets in bytes; the least of some launches."""
    found = gpu.module.get_function("add_two")
    start, end = gpu.cupy.cuda.Event(), gpu.cupy.cuda.Event()
    least = float("inf")
    for _ in range(launches):
        start.record()
        found((gpu.multiprocessors,), (THREADS,), (page, a // 4, b // 4, TIMES))
        end.record()
        end.synchronize()
        least = min(least, 1000 * gpu.cupy.cuda.get_elapsed_time(start, end))
    return least


def ports_of(gpu: Gpu, page: Any) -> dict[int, tuple[int, int]]:
    """Port and unit of each place, by its offset in bytes."""
    places = [kb * KILOBYTE + half for kb in range(PAGE // KILOBYTE) for half in (0, HALF)]
    apart = statistics.median(
        microseconds(gpu, page, a, b) for a, b in zip(places[:40:2], places[41:81:2], strict=True)
    )
    firsts: list[int] = []
    found: dict[int, tuple[int, int]] = {}
    for place in places:
        for port, first in enumerate(firsts):
            ratio = microseconds(gpu, page, first, place) / apart
            if ratio > SAME_PORT:  # again, in case that something else took the time
                ratio = microseconds(gpu, page, first, place, launches=6) / apart
            if ratio > SAME_PORT:
                found[place] = port, int(ratio < SAME_UNIT)
                break
        else:
            found[place] = len(firsts), 0
            firsts.append(place)
    return found


_found: dict[int, tuple[int, int]] = {}


def read(gpu: Gpu, row: dict[str, str]) -> dict[str, int]:
    if not _found:
        _found.update(ports_of(gpu, gpu.zeros(PAGE)))
    place = int(row["kilobyte"]) * KILOBYTE
    return dict(zip(READS, (*_found[place], *_found[place + HALF]), strict=True))

"""The SM clock while SMs multiply matrices: `python matrix_clocks.py OUT.csv` on an H100 or H200, with nvcc, PyTorch
and the driver.  Each launch is `clocked` of warpgroup_overlap.cu: so many times 16 products of 64x128x16 of two
warpgroups an SM, with a pause after each 16; factors are zeros or noise.  Cycles and
nanoseconds are of the median block."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator

from bulk_copies import SMS, Kernels

SHORT, LONG = (2, 8, 32, 256, 2048), (16384, 65536, 262144)  # 4 us to 2 ms, to half a second: groups of products
PAUSES = (0, 2, 8, 16, 32, 64, 128, 256, 1024)  # multiply-adds in a loop, 30 cycles each


def launches() -> Iterator[tuple[int, int, int, int, int]]:
    """Noise, blocks, groups, pause, repeats."""
    for noise, blocks, groups, pause in itertools.product((0, 1), (1, 8, 33, SMS), SHORT, PAUSES):
        if groups * (pause + 64) <= 1 << 18:
            yield noise, blocks, groups, pause, 5
    for noise, groups, pause in itertools.product((0, 1), LONG, (0, 8, 32, 128)):
        if groups * (pause + 64) <= 1 << 24:
            yield noise, SMS, groups, pause, 2


def main(out: str) -> None:
    gpu = Kernels("warpgroup_overlap.cu")
    with open(out, "w", encoding="utf-8") as file:
        print("noise,blocks,groups,pause,launch,cycles,nanoseconds", file=file)
        for noise, blocks, groups, pause, repeats in launches():
            for launch in range(repeats):
                found = gpu.start("clocked", blocks, 256, groups, pause, noise, gpu.sink)
                middle = (sorted(part)[blocks // 2] for part in (found[:blocks], found[blocks:]))
                print(noise, blocks, groups, pause, launch, *middle, sep=",", file=file, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])

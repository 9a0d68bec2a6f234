"""Whether the cost of executing is linear: a matrix product from 10^6 to 10^10 warp instructions, on one thread.

    python benchmarks/linearity.py

Takes about two minutes.  The columns are explained in README.md beside this file.
"""

from __future__ import annotations

import time

from executor import LESSONS, MILLION, about, matrices

import warplens as wl

SIDES = (208, 464, 1008, 2176, 4704)  # each about ten times the work of the one before
TILE = 16


def main() -> None:
    kernel = wl.compile(LESSONS)["matmul_tiled"]
    print(f"{'n':>6} {'instructions':>15} {'seconds':>8} {'ns each':>8} {'Minst/s':>8}")
    for n in (TILE, *SIDES):  # the smallest only to have everything loaded
        arguments, blocks = matrices(n), n // TILE
        start = time.process_time()  # which other users of the machine change less
        run = kernel.launch((blocks, blocks), (TILE, TILE), *arguments, threads=1)
        seconds = time.process_time() - start
        count = int(run["smsp__inst_executed.sum"])
        if n in SIDES:
            speed = count / seconds / MILLION
            print(f"{n:>6} {count:>15,} {seconds:>8.2f} {seconds / count * 1e9:>8.2f} {speed:>8.0f}", flush=True)
    print(about())


if __name__ == "__main__":
    main()

"""Cycles of what goes on beside a warpgroup's products: `python warpgroup_overlap.py OUT.csv` on an H200, with nvcc,
PyTorch and the driver.  One block; cycles are those of the first thread of each warpgroup."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from bulk_copies import SMS, Kernels

Row = tuple[str, int, int, int, int, list[int]]
KINDS = ("mufu", "ffma", "fadd", "fmnmx", "pack", "iadd", "shuffle", "softmax")
ROUNDS = {"mufu": 128, "shuffle": 512, "softmax": 64}  # of 64 instructions; as long as the products at least
PRODUCTS = 160  # times eight


def issued(gpu: Kernels) -> Iterator[Row]:
    """Cycles until so many products with A in registers are issued and done, by warpgroup; of two groups of eight, as
    in attention, until the first is issued, both, the first is done, both."""
    for warpgroups in (1, 2, 3):
        for number in (1, 2, 4, 8, 16):
            for _ in range(2):
                found = gpu.start(f"registers{number}", 1, 128 * warpgroups, gpu.sink, numbers=2 * warpgroups)
            yield "registers", number, 0, 0, warpgroups, found
    for warpgroups in (1, 2):  # three need more registers than there are
        for _ in range(2):
            found = gpu.start("two_groups", 1, 128 * warpgroups, gpu.sink, numbers=4 * warpgroups)
        yield "two_groups", 8, 0, 0, warpgroups, found


def shapes(gpu: Kernels) -> Iterator[Row]:
    """Cycles until 16 products of 256 and 32 columns are issued and done."""
    for warpgroups in (1, 2):
        for columns in (256, 32):
            for _ in range(2):
                found = gpu.start(f"columns{columns}", 1, 128 * warpgroups, gpu.sink, numbers=2 * warpgroups)
            yield f"columns{columns}", 16, 0, 0, warpgroups, found


def clocks(gpu: Kernels) -> Iterator[Row]:
    """Cycles and nanoseconds of the median block: of one, and of all SMs; rounds: multiply-adds of a pause."""
    for noise in (0, 1):
        for blocks in (1, SMS):
            for groups in (32, 256, 2048):
                for pause in (0, 64, 256, 1024):
                    for _ in range(3):
                        found = gpu.start("clocked", blocks, 256, groups, pause, noise, gpu.sink)
                    middle = [sorted(part)[blocks // 2] for part in (found[:blocks], found[blocks:])]
                    yield f"clock {'noise' if noise else 'zeros'} {blocks}", groups, 0, pause, 2, middle


def beside(gpu: Kernels) -> Iterator[Row]:
    """A warpgroup multiplies, with A in either memory, beside none, one or two that do 64 instructions a round."""
    for kind in KINDS:
        for in_registers, products in ((0, 0), (0, PRODUCTS), (1, PRODUCTS)):
            for warpgroups in (1, 2, 3):
                rounds = ROUNDS.get(kind, 512) if warpgroups > 1 else 0
                for _ in range(2):
                    given = in_registers, products, rounds, gpu.sink
                    found = gpu.start(f"beside_{kind}", 1, 128 * warpgroups, *given, numbers=warpgroups)
                yield kind, products, in_registers, rounds, warpgroups, found


def turns(gpu: Kernels) -> Iterator[Row]:
    for _ in range(2):
        found = gpu.start("turns", 1, 256, 256)
    yield "turns", 0, 0, 256, 2, found


def main(out: str) -> None:
    gpu = Kernels("warpgroup_overlap.cu")
    with open(out, "w", encoding="utf-8") as file:
        print("what,products,in_registers,rounds,warpgroups,cycles", file=file)
        for part in (issued, shapes, turns, beside, clocks):
            for *columns, cycles in part(gpu):
                print(*columns, " ".join(map(str, cycles)), sep=",", file=file, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])

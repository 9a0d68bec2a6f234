"""Cycles of asynchronous copies by the banks that they write, of bulk stores that are waited for, and time of blocks
that take locks in turn: `python copy_waits.py OUT.csv` on an H100 or H200, with nvcc and the driver."""

from __future__ import annotations

import ctypes
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from warpgroup_ports import Driver

SMS, ROUNDS = 132, 64
HERE = Path(__file__).parent
Row = tuple[Any, ...]


class Gpu(Driver):
    def __init__(self) -> None:
        super().__init__()
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["nvcc", "-arch=sm_90a", "-cubin", "-o", f"{folder}/c", HERE / "copy_waits.cu"], check=True)
            self.cubin = Path(f"{folder}/c").read_bytes()
        self.big = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(self.big), 1 << 30)
        self.results = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(self.results), 1 << 20)
        self.kernels: dict[str, Any] = {}

    def start(
        self, name: str, grid: int, block: int, *given: Any, numbers: int, shared: int = 200 << 10, runs: int = 2
    ) -> list[int]:  # fmt: skip
        """What the last of some runs wrote."""
        if name not in self.kernels:
            self.kernels[name] = self.kernel(self.cubin, name)
        values = [x if not isinstance(x, int) else ctypes.c_int(x) for x in (*given, self.results)]
        places = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))
        for _ in range(runs):
            self.call("cuMemsetD8_v2", self.big, 0, 1 << 22)
            self.call("cuLaunchKernel", self.kernels[name], grid, 1, 1, block, 1, 1, shared, None, places, None)
            self.call("cuCtxSynchronize")
        found = (ctypes.c_longlong * numbers)()
        self.call("cuMemcpyDtoH_v2", found, self.results, ctypes.sizeof(found))
        return list(found)


def copies(gpu: Gpu) -> Iterator[Row]:
    """Cycles of the SM for one copy of a warp, of the slowest warp."""
    places = [(size, from_, to, 32, 0) for size in (4, 8, 16) for from_ in {size, 16, 32, 128} if from_ >= size
              for to in (size, 2 * size, 4 * size, 32, 64, 128) if to >= size]  # fmt: skip
    places += [(4, 16, 128, 8, 8 - 1024), (4, 16, 128, 8, 32 - 1024), (4, 16, 256, 4, 4 - 1024)]
    for size, from_, to, row, skip in sorted(set(places)):
        for name in ("copied", "passed") if size == 16 else ("copied",):
            for blocks, warps in ((1, 1), (1, 4), (1, 16), (SMS, 16)):
                far = 4 if from_ == 16 and size == 4 else size if from_ > size else 0
                given = gpu.big, from_, to, row, skip, far, ROUNDS
                found = gpu.start(f"{name}{size}", blocks, 32 * warps, *given, numbers=blocks * warps)
                yield name, size, from_, to, row, skip, blocks, warps, max(found) / ROUNDS / 16 / warps


def stores(gpu: Gpu) -> Iterator[Row]:
    for size in (1024, 4096, 16384, 32768):
        for whole in (0, 1):
            for blocks in (1, 16, SMS):
                for pause in (0, 100, 500):
                    given = gpu.big, size, whole, pause, ROUNDS, gpu.room
                    found = gpu.start("stored", blocks, 32, *given, numbers=blocks)
                    yield "whole" if whole else "read", size, blocks, pause, 0, 0, blocks, 1, sorted(found)[blocks // 2]


def locks(gpu: Gpu) -> Iterator[Row]:
    """Nanoseconds from the first block's start to the last one's end."""
    for number in (1, 16, 256):
        for a_lock in (1, 2, 4, 8, 16, 32):
            for steps in (0, 1, 4):
                for fences in (0, 1):
                    blocks = number * a_lock
                    if blocks > 4224:
                        continue
                    chain = ctypes.c_uint64(gpu.big.value + (1 << 21))
                    took = []
                    for _ in range(5):
                        given = gpu.big, number, steps, fences, chain
                        found = gpu.start("locked", blocks, 32, *given, numbers=2 * blocks, shared=0, runs=1)
                        took.append(max(found[1::2]) - min(found[::2]))
                    yield "locks", number, a_lock, steps, fences, 0, blocks, 1, sorted(took)[2]


def main(out: str) -> None:
    gpu = Gpu()
    with open(out, "w", encoding="utf-8") as file:
        print("what,a,b,c,d,e,blocks,warps,cycles", file=file)
        for part in (copies, stores, locks):
            for row in part(gpu):
                print(*row, sep=",", file=file, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])

"""Cycles of bulk copies, boxes, those that several SMs fetch, multicasts, mbarriers, register reallocation, and of
products beside copies: `python bulk_copies.py OUT.csv` on an H200, with nvcc, PyTorch and the driver."""

from __future__ import annotations

import ctypes
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

HERE = Path(__file__).parent
SHARED = (200 << 10) + 2048
BIG, SMALL = 4 << 30, 16 << 20  # bytes that are read: of DRAM, and what L2 holds
SMS = 132
driver = ctypes.CDLL("libcuda.so.1")
Row = tuple[str, str, int, int, int, int, int, float, float]


def checked(result: int) -> None:
    if result:
        raise RuntimeError(f"the driver returned {result}")


def tensor_map(memory: torch.Tensor, rows: int) -> Any:
    """Rows of 128 bytes, in boxes of so many, swizzled."""
    room = (ctypes.c_char * 256)()
    at = -ctypes.addressof(room) % 64
    place = ctypes.c_void_p(ctypes.addressof(room) + at)
    sizes = (ctypes.c_uint64 * 2)(64, memory.numel() // 128)
    box, one = (ctypes.c_uint32 * 2)(64, rows), (ctypes.c_uint32 * 2)(1, 1)
    strides = (ctypes.c_uint64 * 1)(128)
    data = ctypes.c_void_p(memory.data_ptr())
    checked(driver.cuTensorMapEncodeTiled(place, 9, 2, data, sizes, strides, box, one, 0, 3, 2, 0))
    return (ctypes.c_char * 128).from_buffer(room, at)


class Kernels:
    def __init__(self, source: str = "bulk_copies.cu") -> None:
        torch.zeros(1, device="cuda")
        with tempfile.TemporaryDirectory() as folder:
            cubin = f"{folder}/copies.cubin"
            subprocess.run(["nvcc", "-arch=sm_90a", "-cubin", "-o", cubin, HERE / source], check=True)
            self.module = ctypes.c_void_p()
            checked(driver.cuModuleLoad(ctypes.byref(self.module), cubin.encode()))
        self.memory = torch.zeros(BIG, dtype=torch.uint8, device="cuda")
        self.cycles = torch.zeros(1024, dtype=torch.int64, device="cuda")
        self.sink = torch.zeros(256 * 128, device="cuda")
        self.swept = torch.zeros(256 << 20, dtype=torch.uint8, device="cuda")

    def start(self, name: str, grid: int, block: int, *given: Any, numbers: int = 0) -> list[int]:
        """The numbers that the blocks write, two each."""
        kernel = ctypes.c_void_p()
        checked(driver.cuModuleGetFunction(ctypes.byref(kernel), self.module, name.encode()))
        checked(driver.cuFuncSetAttribute(kernel, 8, SHARED))
        values = [
            ctypes.c_void_p(x.data_ptr()) if isinstance(x, torch.Tensor)
            else ctypes.c_int(x) if isinstance(x, int) else x
            for x in (*given, self.cycles)
        ]  # fmt: skip
        places = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        checked(driver.cuLaunchKernel(kernel, grid, 1, 1, block, 1, 1, SHARED, stream, places, None))
        torch.cuda.synchronize()
        return list(map(int, self.cycles[: numbers or 2 * grid].tolist()))

    def slowest(self, grid: int, found: list[int]) -> tuple[int, int]:
        """The median and the slowest of the blocks."""
        return sorted(found[:grid])[grid // 2], max(found[:grid])


def copies(gpu: Kernels) -> Iterator[Row]:
    """Each copy by itself (none in flight), and with 1 to as many as fit in flight."""
    for boxes in (0, 1):
        for size in (1024, 2048, 4096, 8192, 16384, 32768):
            for grid in (1, SMS):
                for where, span in (("l2", SMALL), ("dram", BIG)):
                    for ahead in (0, 1, 2, 4, 16) if size < 16384 else (0, 1, 2, 4):
                        number = 512 if grid == 1 else 256
                        given = tensor_map(gpu.memory, size // 128), gpu.memory, boxes, size, max(ahead, 1), number
                        for _ in range(2):  # the first brings it into L2
                            if where == "dram":
                                gpu.swept.fill_(1)
                            found = gpu.start("copies", grid, 32, *given, grid, span // size, int(ahead == 0), 1)
                        yield "box" if boxes else "row", where, grid, size, ahead, number, 1, *gpu.slowest(grid, found)


def shared(gpu: Kernels) -> Iterator[Row]:
    """Boxes that so many SMs fetch from L2 at the same time, each for itself; the number is in the column `cluster`."""
    for sharers in (1, 2, 4, 8, 16, 33, 66, SMS):
        for size in (8192, 16384, 32768):
            for ahead in (2, 4):
                given = tensor_map(gpu.memory, size // 128), gpu.memory, 1, size, ahead, 256
                for _ in range(2):
                    found = gpu.start("copies", SMS, 32, *given, -(-SMS // sharers), SMALL // size, 0, sharers)
                yield "shared", "l2", SMS, size, ahead, 256, sharers, *gpu.slowest(SMS, found)


def issues(gpu: Kernels) -> Iterator[Row]:
    """Cycles until so many products of 64x128x16 are issued (median_cycles), and until they are done (most_cycles), of
    one to three warpgroups (in the column `in_flight`)."""
    for groups in (1, 2, 3):
        for number in (1, 2, 4, 8, 16):
            for _ in range(2):
                found = gpu.start(f"issue{number}", 1, 128 * groups, gpu.sink)
            yield "issue", "", 1, 0, groups, number, 1, found[0], found[1]


def multicasts(gpu: Kernels) -> Iterator[Row]:
    for blocks in (2, 4):
        for size in (8192, 16384, 32768):
            for grid in (blocks, SMS):
                for where, span in (("l2", SMALL), ("dram", BIG)):
                    for ahead in (1, 4):
                        given = tensor_map(gpu.memory, size // blocks // 128), size, ahead, 256, grid // blocks
                        for _ in range(2):
                            if where == "dram":
                                gpu.swept.fill_(1)
                            found = gpu.start(f"multicast{blocks}", grid, 32, *given, span // size)
                        yield "multicast", where, grid, size, ahead, 256, blocks, *gpu.slowest(grid, found)


def stores(gpu: Kernels) -> Iterator[Row]:
    for size in (4096, 8192, 16384, 32768):
        for grid in (1, SMS):
            for where, span in (("l2", SMALL), ("dram", BIG)):
                for _ in range(2):
                    mapped = tensor_map(gpu.memory, size // 128)
                    found = gpu.start("stores", grid, 32, mapped, size, 256, grid, span // size)
                yield "store", where, grid, size, 4, 256, 1, *gpu.slowest(grid, found)


def others(gpu: Kernels) -> Iterator[Row]:
    for what, name in enumerate(("try_wait", "arrive", "arrive_wait", "two_warps")):
        gpu.start("barriers", 1, 64, what)
        yield name, "", 1, 0, 0, 256, 1, *gpu.slowest(1, gpu.start("barriers", 1, 64, what))
    gpu.start("far_barriers", 2, 32, 0)
    yield "two_blocks", "", 2, 0, 0, 256, 2, *gpu.slowest(2, gpu.start("far_barriers", 2, 32, 0))
    gpu.start("registers", 1, 384)
    down, up = gpu.start("registers", 1, 384)
    yield "setmaxnreg.dec", "", 1, 0, 0, 1, 1, down, down
    yield "setmaxnreg.inc", "", 1, 0, 0, 1, 1, up, up
    for grid in (1, SMS):
        for ahead in (0, 1, 2, 4, 8):
            given = tensor_map(gpu.memory, 128), 512, ahead, grid, SMALL // 16384, gpu.sink
            gpu.start("beside", grid, 384, *given)
            found = gpu.start("beside", grid, 384, *given)
            fetched = sum(found[grid:]) // grid if ahead else 0
            yield "beside", "l2", grid, 16384, ahead, fetched, 1, *gpu.slowest(grid, found)


def main(out: str) -> None:
    gpu = Kernels()
    with open(out, "w", encoding="utf-8") as file:
        print("what,where,blocks,bytes,in_flight,number,cluster,median_cycles,most_cycles", file=file)
        for part in (others, issues, copies, shared, multicasts, stores):
            for row in part(gpu):
                print(*row, sep=",", file=file, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])

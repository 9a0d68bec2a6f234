"""Times of captured launches on this machine's GPU: `measure.py FOLDER OUT.csv`; needs PyTorch and the driver.

Median of 15 by CUDA events, L2 swept by reading before each; then right behind the same launch.  With `--once` each
launch is made once, for a profiler.
"""

from __future__ import annotations

import csv
import ctypes
import json
import statistics
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

ROUNDS, SWEPT = 15, 8
MAP = 128  # bytes of a tensor map, whose first word is the address
driver = ctypes.CDLL("libcuda.so.1")


class Config(ctypes.Structure):
    _fields_ = [("sizes", ctypes.c_uint * 7), ("stream", ctypes.c_void_p), ("attributes", ctypes.c_void_p),
                ("count", ctypes.c_uint)]  # fmt: skip


class Attribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_int), ("pad", ctypes.c_char * 4), ("value", ctypes.c_uint * 16)]


def checked(result: int) -> None:
    if result:
        raise RuntimeError(f"the driver returned {result}")


def filled(data: Any, buffer: dict[str, Any]) -> torch.Tensor:
    size, kind, fill = buffer["bytes"], buffer["type"], buffer["fill"]
    made = torch.zeros(size + 256, dtype=torch.uint8, device="cuda")[:size]
    if fill == "noise" and kind in ("float32", "float16", "float64"):
        one = torch.rand(size // np.dtype(kind).itemsize, device="cuda") - 0.5
        made.copy_(one.to(getattr(torch, kind)).view(torch.uint8))
    elif fill == "noise" and kind in ("uint16", "int16"):
        made.copy_((torch.rand(size // 2, device="cuda") - 0.5).bfloat16().view(torch.uint8))
    elif fill == "noise":
        made.copy_((torch.rand(size, device="cuda") - 0.5).to(torch.float8_e5m2).view(torch.uint8))
    elif fill != "zeros":
        made.copy_(torch.from_numpy(data[fill].copy()))
    return made


class Launch:
    def __init__(self, data: Any, row: dict[str, Any]) -> None:
        self.cubin = bytes(data[row["cubin"]])
        self.module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        checked(driver.cuModuleLoadData(ctypes.byref(self.module), self.cubin))
        checked(driver.cuModuleGetFunction(ctypes.byref(self.function), self.module, row["kernel"].encode()))
        if row["shared"] > 48 << 10:
            checked(driver.cuFuncSetAttribute(self.function, 8, row["shared"]))
        self.buffers = [filled(data, buffer) for buffer in row["buffers"]]
        block = bytearray(bytes(data[row["parameters"]]))
        self.room = (ctypes.c_char * (len(block) + 256 * len(row["places"]) + 64))()
        base = -ctypes.addressof(self.room) % 64
        self.values = []
        for offset, size in row["places"]:
            value = block[offset : offset + size]
            place = ctypes.addressof(self.room) + base
            base += -(-size // 64) * 64
            ctypes.memmove(place, bytes(value), size)
            word = int.from_bytes(value[:8], "little")
            moved = self.moved(word, row["buffers"]) if size in (8, MAP) else None
            if moved is not None and size == MAP:
                checked(driver.cuTensorMapReplaceAddress(ctypes.c_void_p(place), ctypes.c_void_p(moved)))
            elif moved is not None:
                ctypes.memmove(place, moved.to_bytes(8, "little"), 8)
            self.values.append(place)
        self.places = (ctypes.c_void_p * len(self.values))(*self.values)
        attributes = (Attribute * 2)()
        count = 0
        if np.prod(row["cluster"]) > 1:
            attributes[count].id, attributes[count].value[:3] = 4, row["cluster"]
            count += 1
        if row["cooperative"]:
            attributes[count].id, attributes[count].value[0] = 2, 1
            count += 1
        self.attributes = attributes
        self.config = Config((ctypes.c_uint * 7)(*row["grid"], *row["block"], row["shared"]), None,
                             ctypes.cast(attributes, ctypes.c_void_p), count)  # fmt: skip

    def moved(self, address: int, buffers: list[dict[str, Any]]) -> int | None:
        for buffer, made in zip(buffers, self.buffers, strict=True):
            if buffer["address"] <= address < buffer["address"] + max(buffer["bytes"], 1):
                return int(made.data_ptr()) + address - buffer["address"]
        return None

    def start(self) -> None:
        self.config.stream = torch.cuda.current_stream().cuda_stream
        checked(driver.cuLaunchKernelEx(ctypes.byref(self.config), self.function, self.places, None))

    def microseconds(self) -> float:
        before, behind = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        before.record()
        self.start()
        behind.record()
        behind.synchronize()
        return 1000 * before.elapsed_time(behind)

    def close(self) -> None:
        driver.cuModuleUnload(self.module)


def main(folder: str, out: str, *flags: str) -> None:
    torch.zeros(1, device="cuda")
    properties = torch.cuda.get_device_properties(0)
    sweep = torch.ones(SWEPT * properties.L2_cache_size // 4, device="cuda")
    with open(out, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["case", "launch", "kernel", "grid", "threads", "cold_us", "low_us", "high_us", "warm_us"])
        for path in sorted(Path(folder).glob("*.npz")):
            data = np.load(path)
            for n, row in enumerate(json.loads(bytes(data["launches"]))):
                told = [str(data["name"]), n, row["kernel"], "x".join(map(str, row["grid"])), row["block"][0]]
                try:
                    launch = Launch(data, row)
                    launch.start()
                    torch.cuda.synchronize()
                    if not flags:
                        cold, warm = [], []
                        for _ in range(ROUNDS):
                            torch.sum(sweep)
                            cold.append(launch.microseconds())
                            launch.start()
                            warm.append(launch.microseconds())
                        cold.sort()
                        numbers = statistics.median(cold), cold[1], cold[-2], statistics.median(warm)
                        writer.writerow([*told, *(f"{us:.3f}" for us in numbers)])
                    else:
                        print("ran", *told, sep=",", flush=True)
                    launch.close()
                except Exception as error:
                    print("failed", *told, error, flush=True)
                    if "700" in str(error) or "illegal" in str(error):
                        return
                file.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])

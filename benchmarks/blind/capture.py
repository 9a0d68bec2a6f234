"""Cubins and parameters of the blind list: `capture.py MODULES OUT [NAME ...]`, without a GPU.

MODULES is a folder with Triton's tutorials as modules (t03_matrix_multiplication.py ...), stripped of what they run on
import; with `--predict GPU,...` in front each launch is executed and predicted as well, and OUT/predicted.csv written;
behind it `--cases second_cases` takes the second list.
"""

from __future__ import annotations

import contextlib
import csv
import importlib
import json
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
import triton

import warplens as wl
from warplens import kernel as kernels
from warplens.core.launch import Launch

SMALL = 256 << 10  # bytes of a buffer whose contents are kept; larger ones are filled anew
chosen = 0  # configuration that autotuned kernels take


@dataclass
class Captured:
    """Launches of a case, with Triton's driver replaced."""

    gpus: tuple[str, ...]
    launches: list[dict[str, Any]] = field(default_factory=list)
    arrays: dict[str, Any] = field(default_factory=dict)

    def kept(self, data: bytes) -> str:
        name = f"d{zlib.crc32(data):08x}{len(data)}"
        self.arrays[name] = np.frombuffer(data, np.uint8)
        return name

    def launch(
        self, kernel: Any, grid: Any, block: Any, *args: Any, shared: int = 0, cluster: Any = None, **more: Any
    ) -> Any:  # fmt: skip
        """In place of LaunchableKernel.launch."""
        if cluster is not None:
            return self.launch(kernel.in_clusters(cluster), grid, block, *args, shared=shared, **more)
        launch = Launch(kernels.dim3(grid, "grid"), kernels.dim3(block, "block"), shared, bool(more.get("cooperative")))
        memory = kernels.DeviceMemory()
        passed = kernels.pass_arguments(kernel.kernel, kernel.name, args, more.get("labels", ()), memory, kernel._types)
        row = {
            "kernel": kernel.name, "registers": kernel.registers, "grid": launch.grid, "block": launch.block,
            "shared": shared, "cooperative": launch.cooperative, "cluster": kernel.kernel.cluster,
            "cubin": self.kept(kernel.cubin.data), "parameters": self.kept(bytes(passed.block)),
            "places": [(p.offset, p.size) for p in kernel.parameters],
            "buffers": [self.buffer(a) for a in memory.allocations],
        }  # fmt: skip
        self.launches.append(row)
        if not self.gpus:
            return Skipped(self)
        run = original(kernel, grid, block, *args, shared=shared, **more)
        for gpu in self.gpus:
            try:
                row[gpu] = run.predict(gpu).time_us
            except wl.UsageError as refused:
                row[gpu], row["refused"] = None, str(refused)
        return run

    def buffer(self, allocation: Any) -> dict[str, Any]:
        array = np.asarray(allocation.array).reshape(-1)
        row: dict[str, Any] = {"address": allocation.address, "bytes": array.nbytes, "type": array.dtype.name}
        data = array.view(np.uint8)
        if not data.any():
            return row | {"fill": "zeros"}
        if array.nbytes <= SMALL:
            return row | {"fill": self.kept(data.tobytes())}
        return row | {"fill": "noise"}


@dataclass(frozen=True)
class Skipped:
    """What Triton's launcher adds to its launches where none is executed."""

    captured: Any
    title: str = ""
    file: str = ""


original = kernels.LaunchableKernel.launch
autotune = triton.autotune


def with_one_config(configs: Any, **more: Any) -> Any:
    return autotune(configs[min(chosen, len(configs) - 1) :][:1], **more)


@contextlib.contextmanager
def capturing(gpus: tuple[str, ...]) -> Iterator[Captured]:
    captured = Captured(gpus)
    kernels.LaunchableKernel.launch = lambda kernel, *args, **more: captured.launch(kernel, *args, **more)  # type: ignore
    try:
        with wl.triton_launches(gpu="h200"):
            yield captured
    finally:
        kernels.LaunchableKernel.launch = original  # type: ignore[method-assign]


def main(*given: str) -> None:
    gpus: tuple[str, ...] = ()
    cases = "cases"
    if given[0] == "--predict":
        gpus, given = tuple(given[1].split(",")), given[2:]
    if given[0] == "--cases":
        cases, given = given[1], given[2:]
    modules, out, *names = given
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    sys.path[:0] = [modules, str(Path(__file__).parent)]
    torch.cuda.get_device_capability = lambda *_: (9, 0)  # type: ignore[assignment]
    torch.cuda.get_device_properties = lambda *_: SimpleNamespace(  # type: ignore[assignment,return-value]
        multi_processor_count=132, name="H200", major=9, minor=0
    )
    torch.cuda.is_available = lambda: False
    torch.cuda.current_device = lambda: 0
    triton.autotune = with_one_config
    global chosen
    predicted = open(folder / "predicted.csv", "a", newline="", encoding="utf-8")  # noqa: SIM115
    for case in importlib.import_module(cases).CASES:
        if names and not any(name in case.name for name in names):
            continue
        chosen = case.config
        torch.manual_seed(zlib.crc32(case.name.encode()))
        sys.modules.pop(case.module, None)
        try:
            with capturing(gpus) as captured:
                case.start(importlib.import_module(case.module) if case.module else None)
        except Exception as error:
            print("failed", case.name, f"{type(error).__name__}: {error}"[:300], flush=True)
            continue
        captured.arrays["launches"] = np.frombuffer(json.dumps(captured.launches).encode(), np.uint8)
        np.savez_compressed(folder / f"{zlib.crc32(case.name.encode()):08x}.npz", name=case.name, **captured.arrays)
        for n, row in enumerate(captured.launches):
            told = [case.name, n, row["kernel"], "x".join(map(str, row["grid"])), row["block"][0], row["shared"]]
            print(*told, *(row.get(gpu) for gpu in gpus), flush=True)
            if gpus:
                csv.writer(predicted).writerow([*told, *(row.get(gpu) for gpu in gpus)])
                predicted.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])

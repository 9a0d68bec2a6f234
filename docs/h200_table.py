"""The README's table: what warplens counts for 14 kernels, beside what Nsight Compute counted on an H200.

The binary that was measured is tests/data/kernels.sm_90.cubin (its source: tests/kernels/lessons.cu), the counts
stand in tests/data/h200_counts.json.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import warplens as wl

DATA = Path(__file__).parent.parent / "tests" / "data"
N = 1 << 18
SIDE = 128
ROUNDING = 0.005  # Nsight Compute's percentages and waves have two decimals
Arguments = list[Any]


def main() -> None:
    measured = json.loads((DATA / "h200_counts.json").read_text())["kernels"]
    module = wl.load(DATA / "kernels.sm_90.cubin")
    print("| kernel | warp instructions | sectors | shared wavefronts | counters compared | equal |")
    print("|---|--:|--:|--:|--:|--:|")
    for name, counters in measured.items():
        print(row(name, launch(module[name]), counters))


def launch(kernel: wl.LaunchableKernel) -> wl.Run:
    """As it was started on the H200."""
    name = kernel.name
    if name.startswith("matmul"):
        columns = SIDE // 16 // (2 if name == "matmul_coarse2" else 1)
        matrices = [floats(SIDE * SIDE) for _ in range(3)]
        return kernel.launch((columns, SIDE // 16), (16, 16), *matrices, np.int32(SIDE), gpu="h200")
    if name.startswith("reduce"):
        blocks = N // 256 // (8 if name == "reduce_unroll8_warp" else 1)
        return kernel.launch(blocks, 256, integers(N), integers(blocks), np.int32(N), gpu="h200")
    if name.startswith("add"):
        return kernel.launch(256, 256, floats(N), floats(N), floats(N), np.int32(N), gpu="h200")
    return kernel.launch(N // 128, 128, floats(N), floats(N), np.int32(N), gpu="h200")


def floats(n: int) -> Any:
    return np.random.default_rng(0).random(n, np.float32) - np.float32(0.5)


def integers(n: int) -> Any:
    return np.random.default_rng(0).integers(0, 1000, n, np.int32)


def row(name: str, run: wl.Run, measured: dict[str, float]) -> str:
    compared = [counter for counter in measured if counter in run.metrics]
    equal = [counter for counter in compared if abs(run[counter] - measured[counter]) <= ROUNDING]
    shown = ("smsp__inst_executed.sum", "smsp__sass_sectors_mem_global.sum", "memory_l1_wavefronts_shared")
    counts = " | ".join(f"{run[counter]:,}" for counter in shown)
    return f"| {name} | {counts} | {len(compared)} | {len(equal)} |"


if __name__ == "__main__":
    main()

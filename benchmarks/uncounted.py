"""How fast launches are executed with and without counters, in million warp instructions a second of processor time.

    python benchmarks/uncounted.py [KERNEL ...]

One thread, compiled code, best of ROUNDS launches each, in turn; on random data.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import warplens as wl
from warplens.emulator import run as execute

ROUNDS = 10
N = 1 << 21
Case = tuple[str, tuple[int, ...], tuple[int, ...], list[Any]]


def cases() -> Iterator[Case]:
    numbers = np.random.default_rng(1)
    keys = numbers.integers(0, 1 << 30, N).astype(np.int32)
    yield "bitonic_step", (N // 256,), (256,), [keys, np.int32(64), np.int32(1024)]
    yield "scan_blocks", (N // 256,), (256,), [keys % 100, np.zeros(N, np.int32)]
    table, wanted = np.sort(numbers.integers(0, 1 << 40, N // 16)), numbers.integers(0, 1 << 40, N // 8)
    found = np.zeros(wanted.size, np.int32)
    yield "binary_search", (wanted.size // 256,), (256,), [table, np.int32(table.size), wanted, found]
    n = 1024
    grid = numbers.random((n, n))
    yield "heat_step", (n // 32, n // 8), (32, 8), [grid, np.zeros_like(grid), np.int32(n), 0.1]
    n = 256
    a, b = numbers.random((2, n, n)).astype(np.float32)
    yield "sgemm_tiled", (n // 16, n // 16), (16, 16), [a, b, np.zeros_like(a), np.int32(n)]
    x = numbers.random(N).astype(np.float32)
    yield "copy", (N // 256,), (256,), [x, np.zeros_like(x), np.int32(N)]
    yield "histogram", (N // 256,), (256,), [keys.view(np.uint32), np.zeros(1024, np.uint32)]
    charges = numbers.random((1000, 4)).astype(np.float32)
    yield "potential", (64,), (256,), [charges.reshape(-1), np.int32(1000), np.zeros(64 * 256, np.float32)]
    few = 1 << 17
    rows = numbers.random(64 * few).astype(np.float32)
    yield "entropies", (few // 256,), (256,), [rows, np.zeros(few, np.float32)]
    order = numbers.permutation(few).astype(np.int32)
    yield "walks", (few // 256,), (256,), [order, np.zeros(few, np.int32)]
    yield "shared_walks", (few // 256,), (256,), [numbers.permutation(4096).astype(np.int32), np.zeros(few, np.int32)]
    lengths = np.where(numbers.random(few) < 1 / 16, 200, 1).astype(np.int32)
    yield "uneven_walks", (few // 256,), (256,), [order, lengths, np.zeros(few, np.int32)]


def seconds(run: wl.Run, counted: bool) -> float:
    """Of the processor, for another execution of a launch, whose memory is put back."""
    assert run.again is not None
    start = time.process_time()
    execute(run.again, threads=1, counted=counted)
    took = time.process_time() - start
    run.again.memory.undo()
    run.again.memory.release()
    return took


def main(names: list[str]) -> None:
    os.environ["WARPLENS_TIER"] = "whole"
    module = wl.compile(Path(__file__).with_suffix(".cu"), arch="sm_90")
    print("kernel          Minst  counted  without  ratio")
    for name, grid, block, arguments in cases():
        if names and name not in names:
            continue
        run = module[name].launch(grid, block, *arguments, threads=1)
        rounds = [(seconds(run, True), seconds(run, False)) for _ in range(ROUNDS)]
        counted, light = (min(column) for column in zip(*rounds, strict=True))
        minst = int(run.counted.executed().sum()) / 1e6
        print(
            f"{name:14} {minst:6.1f} {minst / counted:8,.0f} {minst / light:8,.0f} {counted / light:6.2f}", flush=True
        )


if __name__ == "__main__":
    main(sys.argv[1:])

"""Kernels whose lanes yield: CUDA has no YIELD, so they use `pmevent`, whose machine code is replaced."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import warplens as wl
from helpers.kernel_launches import KERNELS
from warplens.emulator import LaneAccess

RECORDS = Path(__file__).parents[2] / "measurements" / "h200"
CONTROL = 105  # bits below hold the instruction, those above how long it waits
YIELD = 0x38000000000000000007946


@cache
def with_yields(file: str) -> wl.Module:
    made = wl.compile(KERNELS / file, arch="sm_90")
    code = made.cubin.data
    for word in {i.encoding for name in made for i in made[name].program.instructions if i.base == "PMTRIG"}:
        instead = word >> CONTROL << CONTROL | YIELD
        code = code.replace(word.to_bytes(16, "little"), instead.to_bytes(16, "little"))
    return wl.load(code)


def order(kernel: wl.Kernel, words: NDArray[np.uint32], steps: int) -> list[list[str]]:
    """Of each warp what it stamps: which step, and which lanes take it together."""
    warps = len(words)
    log = np.zeros((warps, steps, 32, 2), np.uint32)
    run = kernel.launch(warps, 32, words, log, threads=1)
    assert run.again is not None
    base = run.again.memory.allocations[1].address
    orders: list[list[str]] = [[] for _ in range(warps)]
    for step in run.steps(list(range(warps))):
        if isinstance(step, LaneAccess) and step.bytes == 8:
            places = {lane: (at - base) // 8 for lane, at in step.reached.items()}
            (found,) = {int(log.reshape(-1, 2)[place, 1]) for place in places.values()}
            orders[step.block].append(f"{found}:{sum(1 << lane for lane in places):08x}")
    return orders


def measured(file: str, name: str) -> list[list[str]]:
    rows = [line.split(",") for line in (RECORDS / file).read_text(encoding="utf-8").splitlines()]
    return [row[2].split() for row in rows if row[0] == name]

"""Recursion: which lanes are where together, step by step, as on an H200 (measurements/h200/recursion.csv)."""

from __future__ import annotations

import csv
from collections import defaultdict
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from helpers.kernel_launches import kernel
from warplens.core.launch import Launch
from warplens.emulator import DeviceMemory, LaunchRequest, pass_arguments, record
from warplens.emulator.state import trace_format

MEASURED = Path(__file__).parents[3] / "measurements" / "h200" / "recursion.csv"
EVENTS = 384  # of a thread


@cache
def measured() -> dict[str, list[dict[str, str]]]:
    found = defaultdict(list)
    with MEASURED.open() as file:
        for row in csv.DictReader(file):
            found[row["kernel"]].append(row)
    return found


def places(name: str, values: np.ndarray) -> list[list[tuple[int, int]]]:  # type: ignore[type-arg]
    """Of each block of one warp: where (as the kernel numbers its places) which lanes were, one after the other."""
    n = values.size
    log, count = np.zeros((n, EVENTS, 2), np.int32), np.zeros(n, np.int32)
    arguments = (values, log.reshape(-1), count, np.zeros(n, np.int32))
    recursive = kernel("recursion.cu", name, "sm_90")
    recursive.launch(n // 32, 32, *arguments, threads=1)
    memory = DeviceMemory()
    passed = pass_arguments(recursive.kernel, name, arguments, (), memory)
    blocks, program = tuple(range(n // 32)), recursive.program
    launch = Launch((n // 32, 1, 1), (32, 1, 1), 0)
    words = record(LaunchRequest(recursive.kernel, program, launch, passed.block, memory), blocks).words
    clocks = {
        number: [i.index for i in program.instructions[block.first : block.last + 1] if "CLOCK" in i.text]
        for number, block in enumerate(program.blocks)
    }
    steps: list[list[tuple[int, int]]] = [[] for _ in blocks]
    at = 0
    while at < words.size:
        word, place, mask = (int(w) for w in words[at : at + 3])
        if word & trace_format.ENTER:
            steps[place] += [(clock, mask) for clock in clocks[word & trace_format.MOST_BASIC_BLOCKS]]
            at += trace_format.ENTERED
        else:
            at += trace_format.ACCESSED + (word >> trace_format.SECTORS & trace_format.MOST_SECTORS)
    named: dict[int, int] = {}
    for block, seen in enumerate(steps):
        for lane in range(32):
            mine = [clock for clock, mask in seen if mask >> lane & 1]
            named.update(zip(mine, log[32 * block + lane, :, 0].tolist(), strict=False))
    return [[(named[clock], mask) for clock, mask in seen] for seen in steps]


@pytest.mark.every(7)
@pytest.mark.parametrize("name", sorted(measured()))
def test_which_lanes_are_where(name: str) -> None:
    rows = measured()[name]
    want = [[(int(i), int(mask, 16)) for i, mask in (e.split(":") for e in row["places"].split())] for row in rows]
    values = np.concatenate([np.array(row["values"].split(), np.int32) for row in rows])
    for got, wanted in zip(places(name, values), want, strict=True):
        assert got == wanted

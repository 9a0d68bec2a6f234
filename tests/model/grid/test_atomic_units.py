"""Which units of L2 do the atomics of which lines, and blocks that add their counters to the same words."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import warplens as wl
from helpers.snapshots import Snapshot
from warplens.machine import machine
from warplens.model.grid.atomic_units import PortDistances, unit_of

MEASURED = Path(__file__).parents[3] / "measurements" / "h200"
PORTS = 47
UNITS = machine("h200").microarchitecture
DISTANCES = PortDistances(int(UNITS.second_8kb), int(UNITS.next_16kb))
FLUSH = """extern "C" __global__ void flush(const unsigned* x, unsigned* p, int loads, int words) {
  __shared__ unsigned own[4096];
  for (int k = threadIdx.x; k < 4096; k += blockDim.x) own[k] = 0;
  __syncthreads();
  for (int r = 0, i = blockIdx.x * blockDim.x + threadIdx.x; r < loads; ++r, i += gridDim.x * blockDim.x)
    atomicAdd(own + ((i * 77 + x[i]) & 4095), 1u);
  __syncthreads();
  for (int k = threadIdx.x; k < words; k += blockDim.x) atomicAdd(p + k, own[k] + 1);
}"""


def _rows(name: str) -> list[dict[str, str]]:
    lines = (MEASURED / name).read_text().splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def _modelled() -> NDArray[np.int64]:
    """(port, unit) of both halves of each KB of 2 MB."""
    return np.array([[unit_of(32 * kb + 8 * n, PORTS, DISTANCES, 1) for n in (0, 1)] for kb in range(2048)])


def _measured() -> NDArray[np.int64]:
    rows = _rows("atomic_ports.csv")
    both = (("port", "unit"), ("second_port", "second_unit"))
    return np.array([[(int(r[a]) - 1, 2 * (int(r[a]) - 1) + int(r[b])) for a, b in both] for r in rows])


@pytest.mark.every(3)
@pytest.mark.parametrize("kilobytes", [1, 8, 16, 32, 64, 256])
def test_so_many_ports_and_units_have_a_part_of_memory(kilobytes: int, snapshot: Snapshot) -> None:
    """On the average over a page: how many there are, and how many places of 256 bytes the busiest of them has."""
    for which in (0, 1):
        told = []
        for found in (_modelled(), _measured()):
            parts = found[:, :, which].reshape(-1, 2 * kilobytes)
            busiest = np.mean([np.bincount(part).max() for part in parts])
            told.append((np.mean([np.unique(part).size for part in parts]), busiest))
        assert tuple(map(snapshot, told[0])) == pytest.approx(told[1], rel=0.2, abs=1)


@pytest.mark.every(5)
@pytest.mark.parametrize(("loads", "off"), [(0, 0.5), (64, 0.4)])
def test_blocks_in_step_wait_for_each_other_at_the_same_words(loads: int, off: float, snapshot: Snapshot) -> None:
    """Of 528 blocks: what it costs that they add 4,096 counters, right away and after they have read for 16 us."""
    rows = {(int(r["blocks"]), int(r["loads"]), int(r["words"])): float(r["us"]) for r in _rows("flush.csv")}
    kernel = wl.compile(source=FLUSH, arch="sm_90")["flush"]
    x, p = np.zeros(max(528 * 256 * loads, 1), np.uint32), np.zeros(4096, np.uint32)

    def time_us(words: int) -> float:
        return kernel.launch(528, 256, x, p, np.int32(loads), np.int32(words)).predict("h200").time_us

    assert snapshot(time_us(4096) - time_us(0)) == pytest.approx(rows[528, loads, 4096] - rows[528, loads, 0], rel=off)


def test_chunks_of_64_kb_occupy_ports_at_the_measured_distances() -> None:
    """16 ports in a row for each 8 KB, shifted by the distances of the description."""
    found = _modelled()[:, :, 0].reshape(-1, 4, 2, 16)  # by 64 KB: 16 KB, 8 KB, the halves of its KB
    for chunk in found:
        of_first = {int(port) for port in chunk[0, 0]}
        for group in range(4):
            for second in range(2):
                shift = DISTANCES.second_8kb * second + DISTANCES.next_16kb * group
                assert {(int(port) - shift) % PORTS for port in chunk[group, second]} == of_first

"""Requests that are joined on their way to L2, and those that come a little later, as an H200 counts them."""

from __future__ import annotations

import csv
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import warplens as wl
from helpers.snapshots import Snapshot
from warplens.machine import machine
from warplens.model.grid.neighbours import use_times
from warplens.model.grid.request_coalescing import MergeSettings, arrival_share, coalesced_requests
from warplens.model.grid.sector_footprint import SectorFootprint

UNITS = machine("h200").microarchitecture
MERGING = MergeSettings(UNITS.merge_together_cycles, UNITS.merge_drift, UNITS.merge_drift_cycles)
RECORD = Path(__file__).parents[3] / "measurements" / "h200" / "joined.csv"
LINE_BY_WORDS = """
extern "C" __global__ void line_by_words(const float* x, float* sink, int rounds) {
  int warps = gridDim.x * blockDim.x / 32, warp = (threadIdx.x + blockIdx.x * blockDim.x) / 32;
  float sum = 0;
  for (int r = 0; r < rounds; ++r)
#pragma unroll
    for (int i = 0; i < 32; ++i) sum += x[(r * warps + warp) * 32 + i];
  if (sum == 12345.678f) sink[0] = sum;
}
"""


@cache
def record() -> dict[str, dict[str, float]]:
    with RECORD.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    return {row["what"]: {name: float(value) for name, value in row.items() if name != "what"} for row in rows}


def arrived(name: str, own: int = 0) -> float:
    """Share of the sectors asked for that L2 saw, without those of which each warp has its own."""
    row = record()[name]
    return (row["l2_reads"] - own) / (row["l1_sectors_loaded"] - own)


def shared_by(blocks: int, all_blocks: int) -> SectorFootprint:
    """Each block reads 16 pieces, each of which so many read."""
    return SectorFootprint(all_blocks, 16.0, 0.0, 1.0, 16.0 * all_blocks / blocks, blocks, 1 << 20, 16)


@pytest.mark.every(3)
@pytest.mark.parametrize("blocks", [2, 16, 24, 32, 66, 99, 132])
def test_of_what_blocks_ask_for_in_step_so_much_arrives(blocks: int, snapshot: Snapshot) -> None:
    measured = arrived(f"table of {blocks}") if blocks > 2 else arrived("same table 16 KiB, 2 blocks, 0")
    group = coalesced_requests(shared_by(blocks, blocks), blocks, blocks, UNITS)
    assert snapshot(arrival_share(group, 0.0, 5_000.0, MERGING)) == pytest.approx(measured, abs=0.12)


@pytest.mark.every(4)
@pytest.mark.parametrize("name", [name for name in record() if re.match(r"steps of tiles \d+, n \d+, (0|512) ", name)])
def test_of_tiles_that_blocks_share_so_much_arrives(name: str, snapshot: Snapshot) -> None:
    edge, n, between = (int(number) for number in re.findall(r"\d+", name))
    across = n // edge
    group = coalesced_requests(shared_by(across, across * across), across * across, 132, UNITS)
    late = record()[name]["nanoseconds"] * 1.98 if across * across > 144 and between else 0.0
    assert snapshot(arrival_share(group, 0.0, late, MERGING)) == pytest.approx(arrived(name), abs=0.12)


@pytest.mark.every(3)
@pytest.mark.parametrize("stages", [1, 4, 16, 32])
def test_who_has_waited_for_lines_of_its_own_is_joined_more_seldom(stages: int, snapshot: Snapshot) -> None:
    measured = arrived(f"table after {stages}", own=132 * 8 * stages)
    group = coalesced_requests(shared_by(132, 132), 132, 132, UNITS)
    assert snapshot(arrival_share(group, 0.0, 800.0 * stages, MERGING)) == pytest.approx(measured, abs=0.06)


def test_blocks_that_come_to_a_line_at_times_of_their_own_are_joined_seldom() -> None:
    assert arrival_share(4.0, 1.0, 20_000.0, MERGING) > 0.9 > 0.3 > arrival_share(4.0, 0.0, 5_000.0, MERGING)


def test_the_first_of_many_asks_of_a_block_tells_whether_blocks_go_in_step() -> None:
    """Two warps of a block read the same lines one behind the other."""
    lines, blocks = np.tile(np.arange(8, dtype=np.uint32), 8), np.repeat(np.arange(4, dtype=np.int32), 16)
    when = np.tile(np.repeat([0.0, 1.0], 8), 4)
    assert use_times(lines, blocks, when) == (0, 0, 1)


def test_blocks_that_come_in_groups_are_in_step_within_each() -> None:
    """Tiles of 16 blocks each use a line, the first at the beginning, the second in the middle of the launch."""
    lines, blocks = np.repeat(np.arange(20, dtype=np.uint32), 32), np.tile(np.arange(32, dtype=np.int32), 20)
    when = np.repeat(np.linspace(0, 0.2, 20), 32) + 0.5 * (blocks % 2)
    found = use_times(lines, blocks, when)
    assert found.in_step
    assert found.drift == 0
    assert found.groups == pytest.approx(2)
    assert coalesced_requests(shared_by(32, 32), 32, 32, UNITS, found.groups) == pytest.approx(1 + 15 / 16)


@pytest.mark.parametrize("warps", [4, 16])
def test_the_other_half_of_what_is_on_its_way_hits(warps: int, snapshot: Snapshot) -> None:
    """A warp reads a line word by word: of each 64 bytes the second sector is asked for while both come from DRAM."""
    x = np.zeros(16 * 132 * warps * 32, np.float32)
    kernel = wl.compile(source=LINE_BY_WORDS, arch="sm_90")["line_by_words"]
    run = kernel.launch((132,), (32 * warps,), x, np.zeros(1, np.float32), np.int32(16))
    row = record()[f"line by words, {warps} warps"]
    measured = 100 * row["l2_hits"] / row["l2_sectors"]
    assert snapshot(run.predict("h200").metrics["lts__t_sector_hit_rate.pct"].value) == pytest.approx(measured, abs=6)

"""What DRAM fills up and writes once more of what threads store part by part."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import warplens as wl
from helpers.snapshots import Snapshot
from warplens.calibration import source_of
from warplens.model.sm.l2_partial_sectors import (
    SectorBytes,
    StoredSectors,
    partial_sector_table,
    record_store,
    sector_bytes,
)
from warplens.model.sm.l2_share import ALL_PLACES

MEASURED = Path(__file__).parents[3] / "measurements" / "h200" / "parts_lost.csv"
WALKS = wl.compile(source=source_of("walks"), arch="sm_90")
PARTS, WAYS, LINES = 744, 4, 6976


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("what", "kernel", "row", "size", "warps", "near"),
    [
        ("walk stores, 512 of every 512 B, 4 B at once, 32 warps", "walk_stores_4", 512, 4, 32, 0.15),
        ("walk stores, 256 of every 256 B, 1 B at once, 16 warps", "walk_stores_1", 256, 1, 16, 0.3),
        ("walk sums, 64 every 64, 32 warps", "walk_sums", 256, 4, 32, 0.2),
    ],
)
def test_dram_moves_as_much_for_parts_of_sectors_as_on_an_h200(
    what: str, kernel: str, row: int, size: int, warps: int, near: float, snapshot: Snapshot
) -> None:
    with MEASURED.open(encoding="utf-8") as lines:
        rows = csv.DictReader(line for line in lines if line[0] != "#")
        counted = next(r for r in rows if f"{r['what']}, {r['parameter']}" == what)
    grid, arrays = warps * 132 // 8, 2 if kernel == "walk_sums" else 1
    buffers: list[Any] = [np.zeros(row * grid * 64, np.float32) for _ in range(arrays)]
    run = WALKS[kernel].launch((grid,), (256,), *buffers, row // size, row // size)
    found = run.predict("h200").metrics
    for way in ("read", "write"):
        name = f"dram__bytes_{way}.sum"
        assert snapshot(found[name].value) == pytest.approx(float(counted[name]), rel=near), name


def row(first: int, count: int) -> np.ndarray:
    return np.arange(first, first + count, dtype=np.uint32)


def test_a_sector_inside_a_row_is_whole_and_its_ends_are_halves() -> None:
    assert sector_bytes(row(8, 4), 0, 4, 84) == (32, 16, 32)
    assert sector_bytes(row(8, 4), 0, 4, 128) == (32, 32, 32)
    assert sector_bytes(row(8, 32), 0, 32, 128) == (4, 4, 4)  # 32 lanes, each a word of a row of its own
    assert sector_bytes(row(8, 32)[::2].copy(), 0, 16, 64) == (4, 4, 4)
    assert sector_bytes(np.array([8, 9, 40], np.uint32), 0, 3, 40)[0] == 8


class Walk:
    def __init__(self) -> None:
        self.book = partial_sector_table(PARTS, WAYS, LINES, 1 << 20)
        self.known, self.clock = np.zeros(ALL_PLACES, np.uint32), 0.0

    def store(self, sector: int, each: float, kept: bool = True) -> tuple[int, int]:
        self.clock += 1
        stored = StoredSectors(row(sector, 1), 0, 1, 0, 1, SectorBytes(float(each), float(each), float(each)))
        found = record_store(sector // 4, stored, kept, self.known, self.book, self.clock)
        return int(found[0]), int(found[1])


def walked(threads: int, steps: int, each: float, kept: bool = True) -> tuple[int, int]:
    """Threads that each store one sector of a line of their own, so many bytes a step."""
    walk = Walk()
    found = [walk.store(4 * thread, each, kept) for _ in range(steps) for thread in range(threads)]
    return sum(f[0] for f in found), sum(f[1] for f in found)


def test_few_parts_wait_for_the_rest() -> None:
    filled, again = walked(PARTS // 8, 8, 4)
    assert filled == again < PARTS // 8 // 20  # some sets are fuller than others
    assert walked(4 * PARTS, 1, 4) == (0, 0)  # what nobody completes, stored.py tells


def test_many_parts_are_filled_up_once_each_unless_l2_loses_them() -> None:
    filled, again = walked(2 * PARTS, 8, 4)
    assert 1.7 * PARTS < filled <= 2 * PARTS
    assert again == filled
    assert walked(2 * PARTS, 8, 4, kept=False)[0] > 10 * PARTS


@pytest.mark.long
def test_whole_sectors_are_written_once_more_where_too_many_wait() -> None:
    assert walked(LINES // 2, 4, 32)[1] < LINES // 20
    filled, again = walked(2 * LINES, 4, 32)
    assert filled == 0
    assert again > 5.5 * LINES


def test_a_short_record_needs_no_book() -> None:
    assert partial_sector_table(PARTS, WAYS, LINES, PARTS // 2 - 1).tags.size == 0
    assert partial_sector_table(PARTS, WAYS, LINES, LINES).written.size > 0


TABLE = """extern "C" __global__ void rows_table(const float* x, const float* t, float* sink, int words, int mask) {
  const unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
#pragma unroll 1
  for (int w = 0; w < words; ++w) {
    unsigned h = (row * words + w) * 2654435761u;
    h ^= h >> 15; h *= 0x85ebca6bu; h ^= h >> 13; h *= 0xc2b2ae35u; h ^= h >> 16;
    sum += x[row * words + w] + t[h & mask];
  }
  if (sum == -12345) sink[0] = sum;
}"""


def test_a_table_and_rows_that_are_in_use_at_the_same_time_push_each_other_out_of_l2(snapshot: Snapshot) -> None:
    """Each word of the table is asked for by one thread or two of a multiprocessor, and by all others."""
    with MEASURED.open(encoding="utf-8") as lines:
        rows = csv.DictReader(line for line in lines if line[0] != "#")
        counted = next(r for r in rows if (r["what"], r["parameter"]) == ("rows and table", "32 MiB, 64 warps"))
    words = 1 << 23
    arrays = np.zeros(64 * 1056 * 256, np.float32), np.zeros(words, np.float32), np.zeros(64, np.float32)
    run = wl.compile(source=TABLE, arch="sm_90")["rows_table"].launch(1056, 256, *arrays, 64, words - 1)
    found = run.predict("h200")
    for name, near in (("dram__bytes_read.sum", 0.1), ("lts__t_sector_hit_rate.pct", 0.25)):
        assert snapshot(found.metrics[name].value) == pytest.approx(float(counted[name]), rel=near)

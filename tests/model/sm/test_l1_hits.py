"""What counts as a hit in L1 of loads and stores to lines that other loads and stores have touched, beside an H200."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import warplens as wl

MEASURED = Path(__file__).parents[3] / "measurements" / "h200" / "l1_stores.csv"
SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_"
LINES = 256
KINDS = ("load", "store")
TWO = """extern "C" __global__ void two(float* x, float* sink, int stores, int sector, int stores2, int sector2) {
  float sum = 0;
  for (int turn = 0; turn < 2; ++turn)
    for (int line = threadIdx.x / 8; line < 256; line += 4) {
      float* p = x + line * 1024 + (turn ? sector2 : sector) * 8 + threadIdx.x % 8;
      if (turn ? stores2 : stores) *p = turn; else sum += __ldca(p);
    }
  if (sum == 1234.5f) *sink = sum;
}"""


def whole_sectors() -> dict[tuple[str, int, str, int], float]:
    """Percent of the sectors that hit, of the readings in which all of each sector is loaded or stored."""
    found = {}
    with MEASURED.open() as file:
        for row in csv.DictReader(file):
            sectors, hits = (sum(int(row[f"{SECTORS}{op}{n}.sum"]) for op in ("ld", "st")) for n in ("", "_lookup_hit"))
            if row["words"] == row["then_words"] == "8" and {row["first"], row["then"]} <= set(KINDS):
                key = row["first"], int(row["sector"]), row["then"], int(row["then_sector"])
                assert found.setdefault(key, 100 * hits / sectors) == 100 * hits / sectors  # however much comes between
    return found


@pytest.mark.every(4)
@pytest.mark.parametrize(("case", "percent"), whole_sectors().items(), ids=str)
def test_a_store_hits_a_line_that_is_there_and_a_load_its_sector(
    case: tuple[str, int, str, int], percent: float
) -> None:
    first, sector, then, sector2 = case
    x, sink = np.ones(1024 * LINES, np.float32), np.zeros(1, np.float32)
    arguments = (np.int32(each) for each in (KINDS.index(first), sector, KINDS.index(then), sector2))
    run = wl.compile(source=TWO)["two"].launch(1, 32, x, sink, *arguments)
    assert run.predict("h200").metrics["l1tex__t_sector_hit_rate.pct"].value == pytest.approx(percent)


@pytest.mark.every(3)
@pytest.mark.parametrize(("kibibytes", "percent"), [(160, 50.0), (200, 50.0), (216, 50.0), (320, 0.0)])
def test_what_is_read_twice_is_found_again_if_the_lines_of_l1_hold_it(kibibytes: int, percent: float) -> None:
    """l1_share of 256 KB less a KB of shared memory are 222 KB; LRU keeps nothing of what is read in turn beyond."""
    source = """extern "C" __global__ void twice(const float* x, float* sink, int n) {
      float sum = 0;
      for (int turn = 0; turn < 2; ++turn)
        for (int i = threadIdx.x; i < n; i += 1024) sum += __ldca(x + i);
      if (sum == 1234.5f) *sink = sum;
    }"""
    n = 256 * kibibytes
    run = wl.compile(source=source)["twice"].launch(1, 1024, np.ones(n, np.float32), np.zeros(1, np.float32), n)
    assert run.predict("h200").metrics["l1tex__t_sector_hit_rate.pct"].value == pytest.approx(percent, abs=8)

"""How many sectors L1 counts for atomics whose lanes share words, beside an H200."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import warplens as wl
from helpers.snapshots import Snapshot

MEASURED = Path(__file__).parents[3] / "measurements" / "h200" / "l1_atomics.csv"
ADDS = """extern "C" __global__ void adds(int* y, const float* x, float* sink, int words, int apart, int turn) {
  int lane = threadIdx.x;
  float a = __ldca(x + lane);
  __syncthreads();
  if (a + __ldca(x + lane + (a == 1234.5f)) == 1234.5f) *sink = a;
  atomicAdd(y + (turn ? lane % words : lane * words / 32) * apart, lane);
}"""
OF_LOADS = 4  # sectors that miss, and then hit


def readings() -> list[tuple[int, int, int, float]]:
    with MEASURED.open() as file:
        rows = [row for row in csv.DictReader(file) if (row["what"], row["lanes"]) == ("add s32", "32")]
    keys = ("words", "words_apart", "lane_by_lane")
    return [(*(int(row[key]) for key in keys), int(row["sectors"]) / int(row["requests"])) for row in rows]


@pytest.mark.every(4)
@pytest.mark.parametrize(("words", "apart", "turn", "sectors"), readings())
def test_l1_counts_a_sector_for_each_lane_on_its_fullest_word(
    words: int, apart: int, turn: int, sectors: float, snapshot: Snapshot
) -> None:
    y, x, sink = np.zeros(4096, np.int32), np.ones(64, np.float32), np.zeros(1, np.float32)
    run = wl.compile(source=ADDS)["adds"].launch(1, 32, y, x, sink, np.int32(words), np.int32(apart), np.int32(turn))
    hits = run.predict("h200").metrics["l1tex__t_sector_hit_rate.pct"].value / 100
    assert snapshot(OF_LOADS / hits - 2 * OF_LOADS) == pytest.approx(sectors, rel=0.35)

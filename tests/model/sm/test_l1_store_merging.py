"""Which second store to a line is a hit in L1, beside an H200."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import warplens as wl
from helpers.snapshots import Snapshot

MEASURED = Path(__file__).parents[3] / "measurements" / "h200" / "l1_leaving.csv"
ROUNDS = 32
APART = """__device__ void put(char* p, int lines, float f) {
  int lane = threadIdx.x % 32, unit = lane * lines / 32;
  asm volatile("st.global.f32 [%0],%1;" ::"l"(p + unit * 128 + lane % 8 * 4), "f"(f) : "memory");
}
extern "C" __global__ void apart(char* y, float* sink, int own, int more, int rest, int rounds) {
  char* p = y + (long long)((blockIdx.x * blockDim.x + threadIdx.x) / 32) * rounds * 128 * (own + more + rest);
  float f = threadIdx.x;
  for (int r = 0; r < rounds; ++r) {
    __syncthreads();
    put(p, own, f);
    if (more) put(p + own * 128, more, f);
    if (rest) put(p + (own + more) * 128, rest, f);
    put(p, own, f);
    p += (own + more + rest) * 128;
#pragma unroll 1
    for (int i = 0; i < 100; ++i) asm volatile("fma.rn.f32 %0,%0,%0,%0;\\nfma.rn.f32 %0,%0,%0,%0;" : "+f"(f));
  }
  if (f == 1234.5f) sink[0] = f;
}"""
CASES = [(1, 1, 4, between) for between in (14, 20, 24, 26, 28, 32, 36, 44, 56)]
CASES += [(132, 4, 8, between) for between in (0, 2, 4, 8)]


@pytest.mark.every(4)
@pytest.mark.parametrize(("many", "warps", "own", "between"), CASES)
def test_a_store_to_a_line_that_is_leaving_misses(
    many: int, warps: int, own: int, between: int, snapshot: Snapshot
) -> None:
    keys = {"multiprocessors": many, "warps": warps, "lines": own, "lines_between": between}
    with MEASURED.open() as file:
        row = next(
            r for r in csv.DictReader(file)
            if r["what"] == "stores to others between" and all(int(r[k]) == v for k, v in keys.items())
        )  # fmt: skip
    y = np.zeros(many * warps * ROUNDS * 128 * (own + between), np.uint8)
    more = min(between, 28)
    sizes = (np.int32(each) for each in (own, more, between - more, ROUNDS))
    run = wl.compile(source=APART)["apart"].launch(many, 32 * warps, y, np.zeros(1, np.float32), *sizes)
    hits = run.predict("h200").metrics["l1tex__t_sector_hit_rate.pct"].value
    off = 6 if warps == 1 else 26  # a model in which no line is leaving has 50 for 0
    assert snapshot(hits) == pytest.approx(100 * int(row["hits"]) / int(row["sectors_stored"]), abs=off)

"""Compare-and-swap loops in shared memory that several warps of a block are in, beside an H200."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import warplens as wl
from helpers.snapshots import Snapshot

MEASURED = Path(__file__).parents[3] / "measurements" / "h200" / "contended.csv"
REPEATS = 4
SOURCE = """extern "C" __global__ void adds(double* out, int repeats, int words, int warp_words) {
  __shared__ double sums[1024];
  sums[threadIdx.x] = 0;
  __syncthreads();
  int word = warp_words ? threadIdx.x / 32 : threadIdx.x % words;
  for (int r = 0; r < repeats; ++r) atomicAdd(&sums[word], 1.0 + threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = sums[threadIdx.x];
}"""


def cycles(threads: int, words: int, warp_words: bool = False) -> float:
    """Of the loop."""
    kernel = wl.compile(source=SOURCE, arch="sm_90")["adds"]
    times = [
        kernel.launch(1, threads, np.zeros(1024), np.int32(n), np.int32(words), np.int32(warp_words)).predict("h200")
        for n in (REPEATS, 0)
    ]
    return (times[0].duration_us - times[1].duration_us) * 1980


def measured(threads: int) -> float:
    with MEASURED.open(encoding="utf-8") as file:
        rows = {int(row["threads"]): row for row in csv.DictReader(file) if row["trial"] == "builtin_shared"}
    return float(rows[threads]["most_cycles"])


@pytest.mark.every(2)
@pytest.mark.parametrize("threads", [32, 64, 128, 1024])
def test_warps_that_add_to_one_word_are_as_slow_as_on_an_h200(threads: int, snapshot: Snapshot) -> None:
    """1.4, 2.7, 5.4 and 25.7 thousand cycles a repetition: one lane of all warps succeeds at a time."""
    assert snapshot(cycles(threads, 1)) == pytest.approx(measured(threads), rel=0.2)


def test_warps_with_a_word_each_do_not_disturb_each_other() -> None:
    alone, each = cycles(32, 1), cycles(128, 1, warp_words=True)
    assert each < 1.3 * alone
    assert cycles(128, 1) > 2.5 * each


def test_lanes_that_fail_share_the_next_try() -> None:
    """Four warps on 32 words, of which each lane has one: four tries a warp at most, and no fewer than one."""
    one_warp, four = cycles(32, 32), cycles(128, 32)
    assert 1.2 * one_warp < four < 5 * one_warp

"""What warps wait for that begin together, as on an H200: measurements/h200/short_launches.csv, special.csv and
lines_in_order.csv."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import warplens as wl
from helpers.snapshots import Snapshot
from warplens.model.sm.dram_share import latency_group

MEASURED = Path(__file__).parents[3] / "measurements" / "h200"
ONCE = """
extern "C" {
__global__ void in_1(const float* x, float* sink) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float s = 0;
  s += x[i];
  if (s == 1e38f) sink[0] = s;
}
__global__ void out_1(float* y) { y[blockIdx.x * blockDim.x + threadIdx.x] = 0; }
__global__ void places(unsigned* sink) {
  unsigned s = 0, place;
  for (int k = 0; k < 64; ++k) {
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(place));
    s += place;
  }
  if (s == 123456789) sink[0] = s;
}
}
"""
KERNELS = wl.compile(source=ONCE, arch="sm_90")
REASONS = ("mio_throttle", "short_scoreboard")
OCCUPANCY = "sm__warps_active.avg.pct_of_peak_sustained_active"


def rows(name: str) -> Iterator[dict[str, str]]:
    with (MEASURED / name).open(newline="") as file:
        yield from csv.DictReader(line for line in file if not line.startswith("#"))


def launched(kernel: str, blocks: int, threads: int) -> tuple[wl.Prediction, dict[str, str]]:
    wanted = kernel, f"{blocks}", f"{threads}"
    (row,) = (r for r in rows("short_launches.csv") if (r["kernel"], r["blocks"], r["threads"]) == wanted)
    arrays = [np.zeros(blocks * threads, np.float32) for _ in KERNELS[kernel].parameters]
    return KERNELS[kernel].launch((blocks,), (threads,), *arrays).predict("h200"), row


@pytest.mark.parametrize(("blocks", "threads"), [(132, 1024), (264, 1024), (1056, 256)])
def test_warps_that_begin_together_queue_up_for_the_numbers_of_their_threads_and_blocks(
    blocks: int, threads: int, snapshot: Snapshot
) -> None:
    found, row = launched("out_1", blocks, threads)
    # Before they ask, where the queue is full, or behind: for their number.
    waited = sum(found.stalls[reason] for reason in REASONS) * float(row["warp_instructions"])
    assert snapshot(waited) == pytest.approx(sum(float(row[reason]) for reason in REASONS), rel=0.2)


def test_one_unit_tells_a_multiprocessor_its_special_registers(snapshot: Snapshot) -> None:
    cycles = {int(r["warps_a_multiprocessor"]): float(r["cycles"]) for r in rows("special.csv")}
    sink = np.zeros(4, np.uint32)
    one, many = (KERNELS["places"].launch((132,), (32 * n,), sink).predict("h200").time_us for n in (1, 32))
    assert snapshot(1980 * (many - one)) == pytest.approx(64 * (cycles[32] - cycles[1]), rel=0.1)


@pytest.mark.every(3)
@pytest.mark.parametrize(("blocks", "threads"), [(132, 1024), (264, 1024), (1056, 256), (8448, 128)])
def test_as_many_warps_are_active_in_launches_that_load_once(blocks: int, threads: int, snapshot: Snapshot) -> None:
    found, row = launched("in_1", blocks, threads)
    assert snapshot(found.metrics[OCCUPANCY].value) == pytest.approx(float(row["warps_active_percent"]), abs=5)


def test_lines_are_slow_with_those_with_which_an_h200s_were() -> None:
    """So many lines behind a slow one another is slow, too, as often as by this rule of those in the same kilobyte."""
    alike = latency_group.python(np.arange(1 << 12))
    found = [r for r in rows("lines_in_order.csv") if (r["bytes_a_lane"], r["lines"]) == ("4", "in order")]
    many = [r for r in found if int(r["warps"]) > 8000]
    for apart in (1, 2, 3, 4, 5, 6, 8):
        measured = np.mean([float(r[f"slow_{apart}_on"]) for r in many])
        anyway = np.mean([float(r["slow_24_on"]) for r in many])
        together = float((alike[:-apart] == alike[apart:]).mean())
        assert measured == pytest.approx(anyway + together * (1 - anyway), abs=0.13)

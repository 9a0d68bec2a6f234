"""Threads that walk along rows of their own, as an H200 does them (its calibration.csv)."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import warplens as wl
from helpers.snapshots import Snapshot
from warplens.calibration import source_of, trials
from warplens.calibration.readings import read
from warplens.calibration.trial import Buffer, Trial
from warplens.machine import machine
from warplens.model.sm.l1_cache import L1Settings, bank_of

MEASURED = Path(__file__).parents[3] / "measurements" / "h200"
READ = read(MEASURED / "calibration.csv")
with (MEASURED / "walks.csv").open(encoding="utf-8") as file:
    COUNTED = {f"{row['what']}, {row['parameter']}": row for row in csv.DictReader(file)}
UNITS = machine("h200").microarchitecture
HIGH, LOW = int(UNITS.tag_bank_high_bits), int(UNITS.tag_bank_low_bits)
TAGS = L1Settings(0.0, 0.0, 0.0, HIGH, LOW)
TRIALS = {trial.name: trial for trial in trials(132) if trial.subject in ("walks", "caches", "shared")}


def predicted(trial: Trial, rounds: int = 1) -> Any:
    kernel = wl.compile(source=source_of(trial.subject), arch="sm_90")[trial.kernel]
    arguments: list[Any] = []
    for argument in trial.args:
        if isinstance(argument, Buffer):
            arguments.append(np.zeros(argument.bytes // 4, np.float32))
        else:
            arguments.append(argument if isinstance(argument, int) else np.zeros(64, np.int64))
    if rounds > 1:
        first = next(n for n, argument in enumerate(trial.args) if isinstance(argument, int))
        arguments[first] *= rounds
    return kernel.launch((trial.grid,), (trial.block,), *arguments, shared=trial.shared).predict("h200")


@pytest.mark.every(4)
@pytest.mark.parametrize(
    "name",
    [
        "L1 hits, step 3, 8 warps", "L1 hits, step 9, 8 warps",  # no conflicts, and 12 and 36 sectors
        "L1 hits, step 16, 1 warps", "L1 hits, step 32, 1 warps", "L1 hits, step 32, 8 warps",
        "L1 hits, step 33, 1 warps", "L1 hits, step 33, 8 warps",  # 33 lines in four banks of tags
        "shared load 4 B, step 32, 1 warps", "shared load 4 B, step 32, 8 warps", "shared load 16 B, step 4, 1 warps",
    ],
)  # fmt: skip
def test_wavefronts_take_as_many_cycles_as_on_an_h200(name: str, snapshot: Snapshot) -> None:
    """One warp gets a wavefront every other cycle, eight get one a cycle."""
    few, many = (predicted(TRIALS[name], rounds).time_us for rounds in (1, 3))
    cycles = (many - few) * machine("h200").boost_megahertz / 2 / TRIALS[name].per
    assert snapshot(cycles) == pytest.approx(float(READ[name]["value"]), rel=0.06)


def test_a_walk_takes_as_long_as_on_an_h200(snapshot: Snapshot) -> None:
    """It waits for lines of its own that L1 holds, each word for 32 wavefronts."""
    name = "walk 256 of every 512 words, 1 arrays, 1 warps, 32 lanes"
    assert snapshot(predicted(TRIALS[name]).time_us) == pytest.approx(float(READ[name]["value"]), rel=0.06)


@pytest.mark.long
@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("parameter", "near"),
    [
        ("2 arrays, 32 warps", 0.12),  # 35 MB in use at the same time: DRAM gives each line once
        ("2 arrays, 48 warps", 0.35),  # 52 MB: 9 times
        ("2 arrays, 64 warps", 0.26), ("4 arrays, 32 warps", 0.26),  # 69 MB: 27 times
    ],
)  # fmt: skip
def test_l2_loses_rows_of_which_too_many_are_in_use(parameter: str, near: float, snapshot: Snapshot) -> None:
    name = f"walk 64 of every 64 words, {parameter}, 32 lanes"
    found, metric = predicted(TRIALS[name]), "dram__bytes_read.sum"
    assert snapshot(found.metrics[metric].value) == pytest.approx(float(COUNTED[name][metric]), rel=near)
    assert snapshot(found.time_us) == pytest.approx(float(READ[name]["value"]), rel=0.25)


def test_banks_of_tags_are_parities() -> None:
    for line in np.random.default_rng(2).integers(0, 1 << 30, 200).tolist():
        assert bank_of(line, TAGS) == 2 * ((line & HIGH).bit_count() & 1) + ((line & LOW).bit_count() & 1)


def test_two_lines_are_slow_where_they_share_a_bank() -> None:
    """Pairs of lines so far from each other, behind a first line that all 42 readings agree on."""
    first = 1956
    for name, row in READ.items():
        if name.startswith("lines of a load, 2 at "):
            second = first + int(name.rsplit(" ", 1)[1])
            assert (bank_of(first, TAGS) == bank_of(second, TAGS)) == (float(row["value"]) > 28), name


RUNS = """
extern "C" __global__ void runs(const float* x, float* sink, int apart) {
  const float* p = x + (long)(blockIdx.x * blockDim.x + threadIdx.x) * apart;
  float f = 0;
#pragma unroll 1
  for (int r = 0; r < 2; ++r, p += 16) {
    float v[16];
#pragma unroll
    for (int i = 0; i < 16; ++i) asm volatile("ld.global.f32 %0,[%1];" : "=f"(v[i]) : "l"(p + i) : "memory");
#pragma unroll
    for (int i = 0; i < 16; ++i) f += v[i];
  }
  if (f == 12345.f) sink[0] = f;
}
"""


def test_what_comes_from_l2_takes_tags_once_more(snapshot: Snapshot) -> None:
    """Runs of 16 words, 41 apart, of 64 warps a multiprocessor: 18.2 us on an H200 (runs.csv), and 1.2 of the launch.

    Without it 13.6; DRAM alone would take 12.
    """
    apart, grid = 41, 132 * 16
    x = np.zeros(apart * grid * 128, np.float32)
    run = wl.compile(source=RUNS, arch="sm_90")["runs"].launch((grid,), (128,), x, np.zeros(4, np.float32), apart)
    assert snapshot(run.predict("h200").time_us) == pytest.approx(19.4, rel=0.15)

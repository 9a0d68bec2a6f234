"""Streams through DRAM and stores beside each other, as an H200 took and counted them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import warplens as wl
from helpers.snapshots import Snapshot
from warplens.calibration.readings import read
from warplens.calibration.trial import source_of

RECORD = read(Path(__file__).parents[3] / "measurements" / "h200" / "calibration.csv")
ARCH = "sm_90"


def test_stores_to_a_line_that_was_just_stored_to_hit(snapshot: Snapshot) -> None:
    """16 warps store 8 bytes each to one line: Nsight Compute counts 15 of 16 as hits (93.75 %)."""
    others = ("BODY(", "WIDE(", "JUMPS(")  # kernels that take 12 s to compile
    kept = [line for line in source_of("instructions").split("\n") if not line.startswith(others)]
    kernel = wl.compile(source="\n".join([*kept, "WIDE(256, C256)"]), arch=ARCH)["wide_256"]
    run = kernel.launch((1,), (512,), np.zeros(16, np.int64), np.zeros(1024, np.float32), np.float32(2))
    hits = run.predict("h200").metrics["l1tex__t_sector_hit_rate.pct"].value
    assert snapshot(hits) == pytest.approx(100 * 15 / 16, abs=0.1)


@pytest.mark.long
@pytest.mark.parametrize(("words", "threads"), [("4_4", 32), ("4_1", 128), ("1_1", 32)])
def test_wide_loads_wait_no_longer_than_narrow_ones(words: str, threads: int, snapshot: Snapshot) -> None:
    measured = float(RECORD[f"read {words}, 1 x {threads}"]["value"])
    n = 64 << 20
    kernel = wl.compile(source=source_of("streams"), arch=ARCH)[f"read_{words}"]
    run = kernel.launch((132,), (threads,), np.ones(n, np.float32), np.zeros(1024, np.float32), np.int64(n))
    assert snapshot(run.predict("h200").time_us) == pytest.approx(measured, rel=0.08)


@pytest.mark.long
@pytest.mark.parametrize("mib", [16, 64, 256])
def test_copies_take_turns_once_l2_is_full(mib: int, snapshot: Snapshot) -> None:
    name = "copy 4_1, 8 x 256" if mib == 256 else f"copy 4_1, {mib} MiB"
    n = mib << 18
    kernel = wl.compile(source=source_of("streams"), arch=ARCH)["copy_4_1"]
    run = kernel.launch((1056,), (256,), np.ones(n, np.float32), np.zeros(n, np.float32), np.int64(n))
    assert snapshot(run.predict("h200").time_us) == pytest.approx(float(RECORD[name]["value"]), rel=0.06)

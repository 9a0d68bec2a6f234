"""Register banks: cycles of multiply-adds of chosen registers, as on an H200 (measurements/h200/register_banks.csv)."""

from __future__ import annotations

import csv
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import warplens as wl
from helpers.snapshots import Snapshot
from warplens.machine import machine

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "benchmarks" / "measurements"))
register_banks: Any = import_module("register_banks")
FEW, MANY = 4, 12  # rounds: what surrounds them does not count
ROWS = list(csv.DictReader((ROOT / "measurements/h200/register_banks.csv").open()))


@pytest.mark.every(4)
@pytest.mark.parametrize("row", ROWS, ids=[f"{row['pattern']} {row['warps']}" for row in ROWS])
def test_an_instruction_takes_as_long_as_on_an_h200(row: dict[str, str], snapshot: Snapshot) -> None:
    kernel, times = wl.load(register_banks.cubin(row["pattern"]))["own"], []
    for rounds in (FEW, MANY):
        arguments = np.zeros(1024, np.float32), np.int32(rounds), np.float32(0.5), np.float32(1.5)
        run = kernel.launch((1,), (32 * int(row["warps"]),), *arguments, np.zeros(32, np.int64))
        times.append(run.predict("h200").time_us * machine("h200").boost_megahertz)
    found = (times[1] - times[0]) / (MANY - FEW) / register_banks.BODY
    assert snapshot(found) == pytest.approx(float(row["cycles"]), rel=0.06)

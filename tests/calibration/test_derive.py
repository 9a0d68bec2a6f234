"""What the record of an H200 says is what stands in its file."""

from __future__ import annotations

from pathlib import Path

import pytest

from warplens.calibration.derive import tables
from warplens.calibration.record import read
from warplens.machine import machine

RECORD = Path(__file__).parents[2] / "measurements" / "h200" / "calibration.csv"


@pytest.mark.parametrize(
    ("table", "key", "name"),
    [
        ("l2_rates", "atomic_word_cycles", "atomic_word_cycles"),
        ("l2_rates", "atomic_float_cycles", "atomic_float_cycles"),
        ("l2_rates", "atomic_sector_cycles", "atomic_sector_cycles"),
        ("l2_rates", "line_update_cycles", "l2_line_update_cycles"),
        ("load_path", "table_word_cycles", "table_word_cycles"),
        ("load_path", "table_replay_cycles", "table_replay_cycles"),
    ],
)
def test_rates_follow_from_the_record(table: str, key: str, name: str) -> None:
    h200 = machine("h200")
    found = tables(read(RECORD), h200.multiprocessors, h200.dram_gigabytes_per_second)
    assert found[table][key] == pytest.approx(getattr(h200.speeds, name), rel=0.03)

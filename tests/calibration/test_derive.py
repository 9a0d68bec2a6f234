"""What the record of an H200 says is what stands in its file."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path

import pytest

from warplens.calibration.derive import ColdLines, event_microseconds, tables, toml
from warplens.calibration.readings import durations, read
from warplens.errors import UsageError
from warplens.machine import machine
from warplens.machine.parameter import TEXTS

ROOT = Path(__file__).parents[2]
MEASURED = ROOT / "measurements" / "h200"
RECORD = read(MEASURED / "calibration.csv")
DURATIONS = durations(MEASURED / "calibration_counters.csv") | durations(MEASURED / "calibration_active.csv")
TEXT = (ROOT / "src" / "warplens" / "machine" / "h200.toml").read_text(encoding="utf-8")
FILE = tomllib.loads(TEXT)
H200 = machine("h200")
L2_BYTES = 62_914_560
FOUND = tables(RECORD, H200.multiprocessors, H200.dram_gigabytes_per_second, L2_BYTES)
FOUND["launch_cost"]["event_microseconds"] = event_microseconds(RECORD, DURATIONS)


def derived(table: str) -> list[str]:
    """Keys of a table in the order of the file, but those that have a source of their own."""
    return [key for key in FILE[table] if key not in TEXTS and key not in FILE[table].get("sources", ())]


@pytest.mark.parametrize("table", sorted(FOUND))
def test_the_record_rebuilds_the_file(table: str) -> None:
    """All numbers in the GPU's own file that do not have a source of their own, and no others."""
    stands = {key: FILE[table][key] for key in derived(table)}
    assert FOUND[table] == pytest.approx(stands, rel=1e-9)
    assert "measurements/h200/calibration.csv" in FILE[table]["source"]


@pytest.mark.parametrize("table", sorted(FOUND))
def test_the_record_rebuilds_the_files_text(table: str) -> None:
    """Every byte of the table up to its source, given the order of its keys; the others follow after a blank line."""
    source = FILE[table]["source"].removeprefix("measured: ")
    text = toml({table: {key: FOUND[table][key] for key in derived(table)}}, source)
    assert text.split("\n\n")[0] in TEXT.split("\n\n")


def test_the_record_rebuilds_the_text_of_its_own_source() -> None:
    assert TEXT.endswith("\n\n" + toml({}, FILE["calibration"]["source"]))


@pytest.mark.parametrize("source", ["a GPU's record", 'the "record"', "both: '\"'", "a\\b"])
def test_any_source_is_read_back(source: str) -> None:
    assert tomllib.loads(toml({}, source))["calibration"]["source"] == source


def test_a_missing_trial_is_named() -> None:
    rows = {name: row for name, row in RECORD.items() if name != "chain mufu"}
    with pytest.raises(UsageError, match="'chain mufu': run warplens calibrate again"):
        tables(rows, 132, 4800, L2_BYTES)


def test_a_small_l2_is_judged_by_what_it_holds() -> None:
    """Trials of 2 MiB in place of 48: launches so short that their rate is another."""
    small = tables(RECORD, 132, 4800, 4 << 20)
    assert small["l2_rates"]["write"] != FOUND["l2_rates"]["write"]
    assert small["latency_cycles"] == FOUND["latency_cycles"]


def test_cold_lines_are_spread_between_percentiles() -> None:
    """As many at every latency from 500 to 1500: a mean of 1000, a standard deviation of 1000 / sqrt(12)."""
    lines = ColdLines([500, 600, 750, 1000, 1250, 1400, 1490, 1500])
    assert lines.mean == pytest.approx(1000)
    assert lines.spread == pytest.approx(1000 / math.sqrt(12))
    assert lines.off(3) == pytest.approx(0, abs=1e-9)
    assert lines.off(7) == pytest.approx(math.sqrt(3))

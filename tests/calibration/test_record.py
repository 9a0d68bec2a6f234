"""Readings, their file, and the tables that follow from them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from warplens.calibration import trials
from warplens.calibration.bench import Reading
from warplens.calibration.derive import tables, toml
from warplens.calibration.readings import read, rows, text_of
from warplens.calibration.trial import Trial
from warplens.errors import UsageError

RECORD = Path(__file__).parents[2] / "measurements" / "h200" / "calibration.csv"


def test_rows_come_back(tmp_path: Path) -> None:
    trial = Trial("read 4_4, 1 GiB", "read_4_4", 1056, 256, moves=1 << 30)
    kept = rows([Reading(trial, 239.25, 238, 241), Reading(trial, 1, 1, 1, 50)], "GPU", "2026-11-21", "580", "tools")
    file = tmp_path / "calibration.csv"
    file.write_text(text_of(kept))
    assert read(file) == {"read 4_4, 1 GiB": kept[0], "read 4_4, 1 GiB, percentile 50": kept[1]}
    assert (kept[0]["value"], kept[0]["unit"], kept[0]["bytes"]) == ("239.25", "us", str(1 << 30))


def test_another_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    file.write_text("a,b\n1,2\n")
    with pytest.raises(UsageError, match="no record of a calibration: it needs the columns what"):
        read(file)


def test_the_tables_are_toml() -> None:
    parsed = tomllib.loads(toml({"pipe_cycles": {"fma": 1.05}}, "a GPU, a day"))
    assert parsed["pipe_cycles"] == {"fma": 1.05, "source": "measured: a GPU, a day"}
    assert parsed["calibration"] == {"source": "a GPU, a day"}


def test_a_record_without_a_trial_says_which() -> None:
    with pytest.raises(UsageError, match="no trial 'pipe fma, 16 warps'"):
        tables({"clock, computing": {"value": "1980"}}, 132, 4800, 60 << 20)


def test_the_tag_banks_of_the_documentation_give_every_reading() -> None:
    """docs/mechanisms/l1_cache.md: cycles of a load that hits, by the fullest of four banks."""

    def parity(number: int) -> int:
        return number.bit_count() & 1

    first = 36  # line of the buffer, modulo 128: the one that fits
    found = 0
    for name, row in read(RECORD).items():
        if not name.startswith("lines of a load, "):
            continue
        groups, distance = map(int, name.removeprefix("lines of a load, ").split(" at "))
        lines = [first + i * distance for i in range(groups)]
        banks = [(parity(line & 0b01010110101), parity(line & 0b11101101111)) for line in lines]
        fullest = max(banks.count(bank) for bank in set(banks))
        cycles = float(row["value"]) / 16  # of the 16 warps of the block
        assert max(fullest, 1.35) <= cycles <= max(fullest, 1.4) + 0.25, name
        found += 1
    assert found == 196


def test_stores_cost_a_piece_for_each_sector_and_one_for_parts_of_them() -> None:
    """Cycles of a multiprocessor that stores alone; an instruction takes 2.35 at the least, of 16 bytes a lane 5.35."""
    found = 0
    for name, row in read(RECORD).items():
        said = re.fullmatch(r"lines of a store, stored_(words|fours) to (\d+) of (\d+), 1 multiprocessors", name)
        if said:
            lines, sectors, lanes_bytes = int(said[2]), int(said[3]), 4 if said[1] == "words" else 16
            whole = 32 * lanes_bytes >= 32 * lines * sectors
            pieces = lines * (sectors + (not whole))
            least = 2.35 if lanes_bytes == 4 else 5.35
            assert float(row["value"]) == pytest.approx(max(pieces, least), rel=0.05), name
            found += 1
    assert found == 27


def test_the_record_has_every_trial() -> None:
    recorded = {name.partition(", percentile")[0] for name in read(RECORD)}
    assert recorded == {trial.name for trial in trials(132)}


def test_a_folder_that_cannot_be_written_is_told_before_anything_is_measured(tmp_path):
    from warplens.calibration.session import calibrated

    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"cannot write .*calibration\.csv: .*; choose another folder with --out"):
        calibrated(None, str(tmp_path / "file"))

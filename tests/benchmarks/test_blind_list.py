"""The table of the blind list: predictions beside measurements."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from helpers.programs import module_of


@pytest.fixture
def table() -> ModuleType:
    return module_of("benchmarks/blind/table.py", "blind_table")


def test_kendalls_tau(table: ModuleType) -> None:
    tau = table.kendall
    assert tau([(1, 10), (2, 20), (3, 30)]) == 1
    assert tau([(1, 10), (2, 20), (3, 15)]) == pytest.approx(1 / 3)
    assert tau([(1, 30), (2, 20), (3, 10)]) == -1


def test_launches_are_joined_by_case_and_number(
    table: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    predicted, measured, out = (tmp_path / name for name in ("p.csv", "m.csv", "out.csv"))
    predicted.write_text("a/1,0,k,2x1x1,128,0,11.0,12.0\na/2,0,k,2x1x1,128,0,18.0,20.0\na/3,0,k,1x1x1,32,0,,\n")
    measured.write_text(
        "case,launch,kernel,grid,threads,cold_us,low_us,high_us,warm_us\n"
        "a/2,0,k,2x1x1,128,20.0,19,21,9\na/1,0,k,2x1x1,128,10.0,9,11,5\na/3,0,k,1x1x1,32,5,5,5,5\n"
    )
    table.main(str(predicted), str(measured), "h200", str(out))
    assert out.read_text().splitlines()[1:3] == [
        "a/1,0,k,2x1x1,128,0,11.0,10.0,9,11", "a/2,0,k,2x1x1,128,0,18.0,20.0,19,21",
    ]  # fmt: skip
    told = capsys.readouterr().out.splitlines()
    assert told[0].startswith("2 of 3 predicted: median 10.0%, mean 10.0%")
    assert told[1] == "a: 2 launches, tau 1.00, of times that differ by 3 % or more 1.00"

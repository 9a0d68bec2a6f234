"""The list of public programs, and the comparison of their kernels with an H200."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from helpers.programs import ROOT, module_of

FOLDER = ROOT / "benchmarks" / "programs"


@pytest.fixture
def compare() -> ModuleType:
    return module_of("benchmarks/programs/compare.py", "compare")


@pytest.fixture
def suite() -> Iterator[ModuleType]:
    return module_of("benchmarks/programs/suite.py", "suite")


def counters() -> list[dict[str, str]]:
    with (FOLDER / "h200" / "counters.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def test_each_program_is_listed_once_with_all_that_it_takes(suite: ModuleType) -> None:
    listed = suite.programs([])
    names = [program.name for program in listed]
    assert len(set(names)) == len(names) >= 40
    assert all(program.repository.count("/") == 1 and program.build and program.command for program in listed)
    assert {row["program"] for row in counters()} <= set(names)
    assert [program.name for program in suite.programs(["vectorAdd"])] == ["vectorAdd"]


def test_a_build_that_fails_says_why(suite: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "a+b" / "c").mkdir(parents=True)
    assert suite.Program("x", "a/b", "c", "echo no compiler >&2; exit 3", "./x").built(tmp_path) == "no compiler"
    assert suite.Program("x", "a/b", "c", "test $NVCC_APPEND_FLAGS = -lineinfo", "./x").built(tmp_path) == ""


def test_kernels_are_found_by_name_and_shape_and_differences_are_named(compare: ModuleType, tmp_path: Path) -> None:
    row = counters()[0]
    read = {name: float(value) for name, value in row.items() if "__" in name or name.startswith("memory_")}
    kernel = {
        "kernel": row["kernel"], "launch": {"grid": compare.size(row["grid"]), "block": compare.size(row["block"])},
        "metrics": {name: {"value": value, "provenance": "exact"} for name, value in read.items()},
    }  # fmt: skip
    kernel["metrics"]["smsp__inst_executed.sum"]["value"] = 1.0
    kernel["metrics"]["smsp__inst_executed_op_branch.sum"]["provenance"] = "modelled"
    (tmp_path / f"{row['program']}.json").write_text(json.dumps({"kernels": [kernel]}))
    (found,) = compare.compared(tmp_path)
    assert found.counters == len(read) - 2
    assert found.equal == found.counters - 1
    assert (found.modelled, found.modelled_equal) == (1, 1)
    assert found.differences == [("smsp__inst_executed.sum", read["smsp__inst_executed.sum"], 1.0)]
    assert found.error == pytest.approx(0)


@pytest.mark.parametrize(
    ("full", "short"),
    [("void ns::scan<int, (bool)1>(const int *, int)", "scan"), ("copy(float *)", "copy"), ("a::b::copy", "copy")],
)
def test_short_names_of_kernels(compare: ModuleType, full: str, short: str) -> None:
    assert compare.short(full) == short

"""Truth, columns, shares, orders and records of labs, each by itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from warplens.core.metric import Metric
from warplens.core.run_options import USUAL
from warplens.errors import UsageError
from warplens.hardware import Job, Timing
from warplens.labs import gpu_measurement
from warplens.labs.columns import value
from warplens.labs.lab import Lab
from warplens.labs.new_lab import create
from warplens.labs.peak_share import limit, share
from warplens.labs.rank_order import rank_inversions
from warplens.labs.reference_check import difference
from warplens.labs.result_files import read_measured, read_results, write_measured
from warplens.labs.run_lab import Size, runs
from warplens.launchspec.lab_toml import read_lab_file
from warplens.machine import machine
from warplens.report.lab.lab_table import LabRow, MeasuredTime, Predicted

METRICS = {"a.sum": Metric(10, "", "exact"), "b.sum": Metric(4, "", "modelled"), "none.sum": Metric(0, "", "exact")}


@pytest.mark.parametrize(
    ("expected", "found", "tolerance", "said"),
    [
        ([1, 2, 3], [1, 2, 3], 0, ""),
        ([1, 2, 3], [1, 5, 3], 0, "x[1]: expected 2, found 5; 1 element differs"),
        ([[1, 2], [3, 4]], [[1, 2], [0, 4]], 0, "x[1, 0]: expected 3, found 0; 1 element differs"),
        ([1.0, np.nan], [1.0, np.nan], 0, ""),
        ([1.0, 2.0], [1.0, np.nan], 1.0, "x[1]: expected 2.0, found nan; 1 element differs"),
        ([1.0, 2.0], [1.0, 2.00001], 1e-4, ""),
        ([1.0, 2.0], [1.0, 2.01], 1e-4, "x[1]: expected 2.0, found 2.01; 1 element differs"),
        (7, 8, 0, "x: expected 7, found 8; 1 element differs"),
        ([1, 2], [1], 0, "x: expected 2 elements, found 1"),
        ([1, 2], None, 0, "x: result() does not give it"),
        (np.zeros(9), np.ones(9), 0, "x[0]: expected 0.0, found 1.0; x[1]: expected 0.0, found 1.0; "
         "x[2]: expected 0.0, found 1.0; 9 of 9 elements differ"),
    ],
)  # fmt: skip
def test_differences(expected: object, found: object, tolerance: float, said: str) -> None:
    array = found if found is None else np.array(found)
    assert difference("x", np.array(expected), array, tolerance) == said


@pytest.mark.parametrize(
    ("text", "wanted", "provenance"),
    [
        ("a.sum", 10, "exact"),
        ("{a.sum} / {b.sum}", 2.5, "modelled"),
        ("{a.sum} / n", 5, "exact"),
        ("{a.sum} / {none.sum}", None, ""),
        ("{c.sum} / 2", None, ""),
    ],
)
def test_columns(text: str, wanted: float | None, provenance: str) -> None:
    found = value(text, METRICS, {"n": 2})
    assert (found.value, found.provenance) == (wanted, provenance) if found else wanted is None


def test_the_share_is_of_the_limit_that_takes_longest() -> None:
    h200 = machine("h200")
    assert share({"bytes": "48 * n"}, {"n": 10**8}, h200, 2000) == 0.5, "4,800 GB/s"
    assert limit({"bytes": "48 * n", "flops": "n"}, {"n": 10**8}, h200) == "DRAM"
    assert limit({"bytes": "n", "flops": "10 ** 6 * n"}, {"n": 10**8}, h200) == "FP32"
    assert share({}, {}, h200, 1) is None


def row(title: str, predicted: float, low: float, high: float) -> LabRow:
    measured = MeasuredTime("NVIDIA H200", "2026-01-01", "1", "13.0", "", "full", title, (low + high) / 2, low, high)
    forecast = {"h200": Predicted("h200", predicted, None, None, "", True)}
    return LabRow(title, "", "", (), (), forecast, "", measured, None)


def test_orders_that_differ() -> None:
    rows = [row("1", 10, 20, 21), row("2", 12, 14, 15), row("3", 12.05, 18, 19), row("4", 30, 20.5, 22)]
    # 2 and 3 are predicted alike, 1 and 4 measured alike.
    assert rank_inversions(rows, "h200") == (("1", "2"), ("1", "3"))


def test_measured_rows_replace_those_of_the_same_rung(tmp_path: Path) -> None:
    first = [MeasuredTime("NVIDIA H200", "2026-01-01", "1", "13.0", "", "full", rung, 1.0, 0.5, 2.0) for rung in "ab"]
    write_measured(tmp_path, first)
    write_measured(tmp_path, [MeasuredTime("NVIDIA H200", "2026-02-01", "1", "13.0", "", "full", "a", 3.0, compared=4)])
    kept = {time.rung: time for time in read_measured(tmp_path)}
    assert {rung: time.time_us for rung, time in kept.items()} == {"a": 3.0, "b": 1.0}
    assert (kept["a"].compared, kept["a"].equal) == (4, 0)
    (tmp_path / "measured.csv").write_text("gpu,rung\nx,y\n")
    with pytest.raises(UsageError, match=r"measured.csv has no column cuda"):
        read_measured(tmp_path)


def test_counters_are_compared_where_there_is_a_profiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lab = Lab.of(create("mine", tmp_path))
    counted = iter([{"smsp__inst_executed.sum": 1}, {"smsp__inst_executed.sum": 11264}])

    def profiled(jobs: list[Job], names: object) -> list[dict[str, Metric]]:
        return [{name: Metric(n, "inst", "measured") for name, n in next(counted).items()} for _ in jobs]

    monkeypatch.setattr(gpu_measurement, "measure", profiled)
    monkeypatch.setattr(gpu_measurement, "ncu_version", lambda: "2025.3")
    monkeypatch.setattr("shutil.which", lambda _: "/bin/ncu")
    timing = Timing(2.0, 1.5, 2.5, 1.0, 1980.0, 15, "NVIDIA H200", "580.1", "13.0")
    times = [gpu_measurement.measured_time(rung.entry.title, "full", timing) for rung in lab.rungs]
    found = gpu_measurement.counted(times, lab.rungs, {}, "h200", USUAL)
    assert [(time.rung, time.compared, time.equal) for time in found] == [("1_scalar", 1, 0), ("2_wide", 1, 1)]
    assert "Nsight Compute 2025.3" in found[0].versions
    write_measured(tmp_path / "mine", found)
    (kept, _) = read_measured(tmp_path / "mine")
    assert (kept.time_us, kept.low_us, kept.warm_us, kept.megahertz) == (2.0, 1.5, 1.0, 1980)


LAB = """
title = "Sums"
[names]
n = 8
stride = 1
[small]
n = 4
[columns]
"Bytes" = "bytes"
[1_all]
teaches = "all"
published = ["1 ms on a GPU"]
[2_some]
teaches = "some"
sweep = { stride = [2, 4] }
counts = { bytes = "4 * n / stride" }
"""
RUNG = """
def quantities(*, n, stride):
    return {"bytes": 4 * n // stride}
def predicted(machine, *, n):
    return n / machine.multiprocessors
"""


def test_rungs_of_python_and_sweeps(tmp_path: Path) -> None:
    (tmp_path / "lab.toml").write_text(LAB)
    for name in ("1_all.py", "2_some.py"):
        (tmp_path / name).write_text(RUNG)
    lab = Lab.of(tmp_path)
    assert [rung.entry.title for rung in lab.rungs] == ["1_all", "2_some_02", "2_some_04"]
    done = list(runs(lab, lab.rungs, Size.parse("small"), ["h200", "a100"]))
    assert [each.wrong for each in done] == [(), (), ()]
    assert [each.outcomes["h200"].metrics["bytes"].value for each in done] == [16, 8, 4]
    times = {gpu: each.predicted.time_us for gpu, each in done[0].outcomes.items() if each.predicted}
    assert times == {"h200": 4 / 132, "a100": 4 / 108}
    assert read_results(tmp_path) == {}


def test_size_of_the_user_wins_over_what_a_rung_sets(tmp_path: Path) -> None:
    (tmp_path / "lab.toml").write_text(LAB)
    for name in ("1_all.py", "2_some.py"):
        (tmp_path / name).write_text(RUNG)
    lab = read_lab_file(tmp_path)
    entry = lab.rungs["2_some_02"]
    assert lab.names(entry, None) == {"n": 4, "stride": 2}
    assert lab.names(entry, {}) == {"n": 8, "stride": 2}
    assert lab.names(entry, {"stride": 1}) == {"n": 8, "stride": 1}

"""Rates for each cycle, for each second and of peaks: beside an H200, and as they follow from each other."""

from __future__ import annotations

import csv
import re
import statistics
from pathlib import Path

import pytest

from helpers.snapshots import Snapshot
from model.test_predict import run_of
from warplens.machine import machine
from warplens.model.result.rates import WITH_PEAK
from warplens.report.definitions import definitions

ROOT = Path(__file__).parents[3]
MEASURED = sorted((ROOT / "tests" / "validation").glob("*/h200/times.csv"))
H200 = machine("h200")


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def rows() -> list[dict[str, str]]:
    """Of the launches that Nsight Compute was given, with the cycles."""
    return [row for path in MEASURED for row in read(path) if row.get("sm__cycles_elapsed.max")]


def test_elapsed_cycles_are_the_duration_at_the_boost_clock() -> None:
    """As the model takes it; measured counters of 1,139 launches."""
    found = [
        float(row["sm__cycles_elapsed.max"]) / (float(row["gpu__time_duration.sum"]) * H200.boost_megahertz / 1000)
        for row in rows()
    ]
    assert len(found) > 1000
    assert statistics.median(found) == pytest.approx(1, abs=0.01)
    assert sorted(abs(ratio - 1) for ratio in found)[int(0.9 * len(found))] < 0.02


def test_dram_throughput_of_the_published_predictions() -> None:
    """In points, as docs/metrics.md has it: predicted bytes and duration beside the measured ones."""
    found = []
    for path in MEASURED:
        measured = {row["name"]: row for row in read(path)}
        for ours in read(path.with_name("predictions.csv")):
            theirs = measured.get(ours["name"], {})
            if not ours["dram_read_bytes"] or not theirs.get("dram__bytes_read.sum"):
                continue
            moved = float(ours["dram_read_bytes"]) + float(ours["dram_write_bytes"])
            counted = float(theirs["dram__bytes_read.sum"]) + float(theirs["dram__bytes_write.sum"])
            if max(moved, counted) < 1e6:
                continue
            rate = 1e6 * moved / (float(ours["time_us"]) - H200.speeds.event_microseconds)
            off = abs(rate - 1e9 * counted / float(theirs["gpu__time_duration.sum"]))
            found.append(100 * off / (1e9 * H200.dram_gigabytes_per_second))
    assert len(found) == 852
    assert statistics.median(found) < 0.85
    assert sorted(found)[int(0.9 * len(found))] < 6.35


@pytest.mark.every(3)
@pytest.mark.parametrize(("name", "bits"), [("ccopy", 18), ("nccopy", 18), ("ccopy", 20), ("nccopy", 20)])
def test_beside_an_h200(name: str, bits: int, snapshot: Snapshot) -> None:
    row = next(row for row in rows() if row["name"] == f"{name} 2^{bits}")
    cycles, seconds = float(row["sm__cycles_elapsed.max"]), float(row["gpu__time_duration.sum"]) / 1e9
    moved = float(row["dram__bytes_read.sum"]) + float(row["dram__bytes_write.sum"])
    a_cycle = float(row["smsp__inst_executed.sum"]) / H200.multiprocessors / 4 / cycles
    metrics = run_of(name, 1 << bits).predict("h200").metrics
    for wanted, value in {
        "sm__cycles_elapsed.max": cycles,
        "smsp__inst_executed.avg.per_cycle_elapsed": a_cycle,
        "sm__inst_executed.avg.pct_of_peak_sustained_elapsed": 100 * a_cycle,
        "dram__bytes.sum": moved,
        "dram__bytes.sum.per_second": moved / seconds,
        "dram__bytes_read.sum.per_second": float(row["dram__bytes_read.sum"]) / seconds,
    }.items():
        assert snapshot(metrics[wanted].value) == pytest.approx(value, rel=0.06), wanted


@pytest.mark.parametrize("name", ["nccopy", "matmul_tiled"])
def test_how_they_follow_from_each_other(name: str) -> None:
    run = run_of(name)
    metrics = run.predict("h200").metrics
    value = {name: metric.value for name, metric in metrics.items()}
    percent = value["dram__bytes.sum.per_second"] / (H200.dram_gigabytes_per_second * 1e9) * 100
    for of in ("dram__throughput", "gpu__dram_throughput"):
        assert value[f"{of}.avg.pct_of_peak_sustained_elapsed"] == pytest.approx(percent)
    executed, active = run.metrics["smsp__inst_executed.sum"].value, value["sm__cycles_active.avg"]
    assert value["sm__inst_executed.avg.pct_of_peak_sustained_active"] == pytest.approx(
        100 * executed / H200.multiprocessors / 4 / active
    )
    assert (
        sum(value[key] for key in value if key.startswith("sm__inst_executed_pipe") and key.endswith("sum")) <= executed
    )
    for pipe, a_cycle in zip(WITH_PEAK, (2, 4, 2, 0.5), strict=True):  # of a multiprocessor
        busy = value[f"sm__inst_executed_pipe_{pipe}.sum"] / H200.multiprocessors / active / a_cycle
        assert value[f"sm__inst_executed_pipe_{pipe}.avg.pct_of_peak_sustained_active"] == pytest.approx(100 * busy)


def test_pipes_are_told_where_they_were_measured() -> None:
    names = [found.name for found in definitions() if "__inst_executed_pipe_" in found.name]
    pipes = [name for name in names if not re.search("_pipe_(tc|tmem)", name)]  # of tcgen05: of sm_100 alone
    assert (len(pipes), len(names)) == (22, 30)
    run = run_of("ccopy")
    assert set(pipes) <= {*run.predict("h100").metrics, *run.metrics}

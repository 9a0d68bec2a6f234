"""Plots of sweeps: what is on which axis, a line for each other parameter, the interval of a time."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import pytest

from warplens.errors import UsageError
from warplens.sweep.sweep_table import Sweep

mpl.use("Agg")

EXECUTED = "smsp__inst_executed.sum"


def row(block: Any, gpu: str | None, time: float | None, error: str = "") -> dict[str, Any]:
    times = {"time_us": time, "low_us": time and time - 1, "high_us": time and time + 2, "limit": None}
    shared = {"grid": 4096 // block if isinstance(block, int) else 8, "shared": 0}
    return {"block": block, **shared, "gpu": gpu, **times, EXECUTED: 10 * (time or 0) or None, "error": error}


def sweep(*rows: dict[str, Any]) -> Sweep:
    return Sweep("copy", rows, {"time_us": "modelled", EXECUTED: "exact"})


def test_time_against_the_parameter_that_varies_with_its_interval() -> None:
    axes = sweep(row(64, "h200", 5.0), row(128, "h200", 4.0), row(256, "h200", None, "refused")).plot()
    (line,) = axes.get_lines()
    assert list(line.get_ydata()) == [5, 4]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["64", "128"]
    (interval,) = axes.collections
    assert {tuple(point) for point in interval.get_paths()[0].vertices} >= {(0, 4), (0, 7), (1, 3), (1, 6)}
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("block", "time, µs (modelled)")
    assert axes.get_legend() is None, "the grid follows from the block"


def test_a_line_for_each_gpu() -> None:
    rows = [row(block, gpu, 1.0) for block in (64, (32, 4)) for gpu in ("h200", "h100")]
    axes = sweep(*rows).plot(y=EXECUTED)
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["gpu h200", "gpu h100"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["64", "(32, 4)"]
    assert not axes.collections
    assert axes.get_ylabel() == f"{EXECUTED} (exact)"


def test_what_cannot_be_drawn_is_named() -> None:
    with pytest.raises(UsageError, match="no column 'blocks', only block, grid"):
        sweep(row(64, "h200", 5.0)).plot(x="blocks")
    with pytest.raises(UsageError, match="no row has a value of time_us: name a GPU"):
        sweep(row(64, None, None)).plot()

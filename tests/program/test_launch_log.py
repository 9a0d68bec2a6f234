"""What the report has of a run that is stopped."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import warplens as wl
from warplens.core.program import Program
from warplens.counters.metric_collection import metrics
from warplens.machine import machine
from warplens.program.launch_log import LaunchLog
from warplens.program.timing.predicted_launch import LaunchTime
from warplens.report.program_view import ProgramView

SOURCE = 'extern "C" __global__ void add(int* x) { x[threadIdx.x] += 1; }'


def test_a_launch_that_is_interrupted_before_it_counts_leaves_no_group(monkeypatch: pytest.MonkeyPatch) -> None:
    """The report of lud of HeCBench ended with a division by its 0 launches."""
    view = ProgramView("./app", machine("h200"))
    log = LaunchLog(view)
    run = wl.compile(source=SOURCE)["add"].launch(1, 32, np.zeros(32, np.int32))

    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(log, "repeated", stopped)
    with pytest.raises(KeyboardInterrupt):
        log.launched(1, "add", run, *[LaunchTime(3.0, 2.5, 3.5, "")] * 2)
    assert view.groups == []


def test_the_metrics_of_a_launch_are_worked_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of lud, whose every launch has another grid, this took a third of the time, and as much again for the view."""
    view = ProgramView("./app", machine("h200"))
    view.processes[1] = "app"
    computed: list[str] = []

    def noted(program: Program, *rest: Any) -> Any:
        computed.append(program.name)
        return metrics(program, *rest)

    monkeypatch.setattr("warplens.run.metrics", noted)
    run = wl.compile(source=SOURCE)["add"].launch(1, 32, np.zeros(32, np.int32))
    LaunchLog(view).launched(1, "add", run, *[LaunchTime(3.0, 2.5, 3.5, "", unpredicted="no time")] * 2)
    shown = view.groups[0].first
    assert computed == ["add"]
    assert shown is not None
    assert (shown.file, shown.unpredicted, shown.machine_from) == ("app", "no time", "--gpu")
    assert shown.metrics == run.metrics

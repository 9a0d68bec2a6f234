"""Metrics in the terminal: their launch, and why a prediction is missing."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest

from helpers.report_runs import subject_of
from warplens.report.terminal import metric_table
from warplens.report.terminal.console_layout import console


@pytest.mark.parametrize("reason", [None, "one block only"])
def test_why_there_is_no_prediction(reason: str | None) -> None:
    out = console(file := io.StringIO())
    metric_table.show(replace(subject_of("ccopy"), unpredicted=reason), ["smsp__inst_executed.sum"], out)
    lines = file.getvalue().splitlines()
    assert lines[0].startswith("ccopy of ")
    assert [line for line in lines if "no prediction" in line] == ([f"no prediction: {reason}"] if reason else [])
    assert any("smsp__inst_executed.sum" in line and "exact" in line for line in lines)

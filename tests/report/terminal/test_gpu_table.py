"""One kernel on several GPUs; the predictions are made up."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest

from helpers.made_up_predictions import predicted
from helpers.report_runs import subject_of
from report.html.test_launch_page import read
from warplens.machine import machine
from warplens.report.html.launch_page import page
from warplens.report.terminal import gpu_table
from warplens.report.terminal.console_layout import console
from warplens.report.terminal.gpu_table import GpuAnswer


def answers() -> list[GpuAnswer]:
    slow, fast = predicted("nccopy", calibrated=""), predicted("nccopy")
    assert fast.prediction
    fast = replace(fast, prediction=replace(fast.prediction, time_us=73.0))
    silent = replace(subject_of("nccopy"), unpredicted="one block only")
    return [
        GpuAnswer(machine("a100"), slow), GpuAnswer(machine("h200"), fast), GpuAnswer(machine("h100"), silent),
        GpuAnswer(machine("t4"), None, "too much shared memory"),
    ]  # fmt: skip


@pytest.mark.parametrize("width", [80, 100])
def test_a_row_each_with_time_or_reason(width: int) -> None:
    out = console(file := io.StringIO())
    out.width = width
    gpu_table.show("nccopy", answers(), out)
    text = file.getvalue()
    assert max(map(len, text.splitlines())) <= width
    words = " ".join(text.split())
    assert words.startswith("nccopy: 73.0 µs on the NVIDIA H200 SXM, the fastest of 2 (modelled)")
    assert "a100* sm_80 80.0 µs 72.5 µs - 1.23 ms each thread" in words
    assert "h200 sm_90 73.0 µs" in words
    assert "h100 sm_90 – no prediction: one block only" in words
    assert "t4 sm_75 – no prediction: too much shared memory" in words
    assert "* uncalibrated: " in words


def test_no_gpu_has_a_time() -> None:
    told = gpu_table.fastest(answers()[2:])
    assert told == "no time can be predicted on any of 2 GPUs"


def test_as_json() -> None:
    rows = gpu_table.document("nccopy", answers())["gpus"]
    assert [row["gpu"] for row in rows] == ["a100", "h200", "h100", "t4"]
    assert [row["prediction"] and row["prediction"]["time_us"] for row in rows] == [80, 73, None, None]
    assert [row["unpredicted"] for row in rows] == [None, None, "one block only", "too much shared memory"]


def test_causes_that_are_removed() -> None:
    found = answers()
    for answer in found[:2]:
        assert answer.subject
        assert answer.subject.prediction
    removed = {"ideal_access": replace(found[1].subject.prediction, time_us=40.0)}
    found = [replace(a, subject=a.subject and replace(a.subject, what_if=removed)) for a in found[:2]] + found[2:]
    out = console(file := io.StringIO())
    gpu_table.show("nccopy", found, out)
    words = " ".join(file.getvalue().split())
    assert "What If modelled GPU Now ideal_access a100* 80.0 µs 40.0 µs h200 73.0 µs 40.0 µs" in words
    rows = gpu_table.document("nccopy", found)["gpus"]
    assert [[then["time_us"] for then in row.get("what_if", [])] for row in rows] == [[40], [40], [], []]


def test_on_the_page() -> None:
    subjects = [found.subject for found in answers() if found.subject]
    reader = read(page(subjects, [("nccopy", answers())]))
    assert "nccopy: 73.0 µs on the NVIDIA H200 SXM, the fastest of 2 (modelled)" in reader.words
    assert "no prediction: too much shared memory" in reader.words

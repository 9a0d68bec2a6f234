"""The timeline of an SM as a page has it and as Perfetto reads it: the same segments."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from helpers.hand_made_traces import program
from helpers.report_runs import COPY
from warplens.cli.main import main
from warplens.model.layout import REASONS
from warplens.model.result.warp_timeline import WarpTimeline
from warplens.report.sm_timeline import chrome_trace, page_data

WAIT, ISSUE = REASONS.index("wait"), REASONS.index("selected")
CODE = program("LDG.E R0,[R2.64]\nEXIT", lines=(7, None))
TIMELINE = WarpTimeline(
    ((0, 0), (0, 1)), np.array([0, 0, 0, 1]), np.array([WAIT, WAIT, ISSUE, ISSUE]), np.array([0, 0, 0, 1]),
    np.array([0.0, 2.0, 4.0, 1.25]), np.array([2.0, 4.0, 5.0, 2.25]), 500.0, False,
)  # fmt: skip


def test_the_page_has_segments_that_follow_each_other_alike_as_one() -> None:
    data = json.loads(page_data(TIMELINE, CODE))
    assert data["lanes"] == [[0, 4, WAIT, 0, 4, 1, ISSUE, 0], [1.2, 1, ISSUE, 1]]
    assert data["code"] == {"0": "LDG.E", "1": "EXIT"}
    assert data["warps"] == [[0, 0], [0, 1]]


def test_the_trace_has_the_same_in_microseconds() -> None:
    events = json.loads("".join(chrome_trace(TIMELINE, CODE, "k<1>")))["traceEvents"]
    done = [event for event in events if event["ph"] == "X"]
    assert [(event["tid"], event["name"], event["ts"], event["dur"]) for event in done] == [
        (0, "wait", 0.0, 0.008), (0, "LDG.E", 0.008, 0.002), (1, "EXIT", 0.0025, 0.002),
    ]  # fmt: skip
    assert done[0]["args"] == {"instruction": "0000 LDG.E R0,[R2.64]", "line": 7}
    assert {event["args"]["name"] for event in events if event["name"] == "thread_name"} == {
        "block 0, warp 0", "block 0, warp 1",
    }  # fmt: skip


def test_explain_writes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "warps.json"
    asked = ["explain", COPY, "--kernel", "ccopy", "--set", "n=4096", "--gpu"]
    assert main([*asked, "h200", "--trace", str(file)]) == 0
    assert any(event["name"] == "LDG.E" for event in json.loads(file.read_text())["traceEvents"])
    assert main([*asked, "none", "--trace", str(file)]) == 2
    assert "--trace is of one kernel on one GPU" in capsys.readouterr().err

"""Timelines: what is busy when, and the trace of it."""

from __future__ import annotations

import io
import json
import time

import numpy as np
import pytest
from rich.console import Console

from warplens.machine import machine
from warplens.report.program_view import ProgramView
from warplens.report.terminal import program_progress, timeline_chart
from warplens.report.timeline import COPY, FILL, KERNEL, KINDS, Timeline, Track, Work, chrome_trace

ADD, IN, ZERO = Work(KERNEL, "add"), Work(COPY, "host to device"), Work(FILL, "fill")


def add(timeline: Timeline, track: Track, work: Work, start: int, duration: int, size: int = 0) -> None:
    timeline.add(timeline.number_of_track(track), timeline.number_of_work(work), start, duration, size)


@pytest.fixture
def timeline() -> Timeline:
    made = Timeline()
    add(made, Track(7, 0), IN, 1000, 400, 4096)
    add(made, Track(7, 16), ADD, 1200, 400)
    add(made, Track(7, 0), ZERO, 1800, 200, 64)
    return made


def test_time_is_counted_once(timeline: Timeline) -> None:
    assert (timeline.begin, timeline.end) == (1000, 2000)
    assert timeline.busy() == 800
    assert (timeline.busy_on(0), timeline.busy_on(1)) == (600, 400)
    assert Timeline().busy() == 0


def test_buckets_hold_all_of_the_time() -> None:
    """Against a plain count, nanosecond by nanosecond."""
    random = np.random.default_rng(3)
    made, plain = Timeline(), np.zeros((len(KINDS), 1000), int)
    for start in range(0, 1000, 40):
        work, length = (ADD, IN, ZERO)[random.integers(3)], int(random.integers(1, 41))
        add(made, Track(1, 1), work, 5000 + start, length)
        plain[KINDS.index(work.kind), start : start + length] = 1
    add(made, Track(1, 2), ADD, 5999, 1)  # up to the end
    for count in (1, 8, 50):
        expected = plain.reshape(len(KINDS), count, -1).sum(axis=2)
        np.testing.assert_allclose(made.buckets(0, count), expected, atol=1e-6)


def test_the_chart_shows_streams_over_time(timeline: Timeline) -> None:
    out = io.StringIO()
    timeline_chart.show(timeline, {7: "app"}, Console(file=out, width=70))
    lines = out.getvalue().splitlines()
    assert lines[2] == "█ kernel  ▒ copy  ░ fill  · idle; 0.80 µs of 1.00 µs busy (80 %)"
    default, other = lines[4:]
    columns = default.split("  ")[1]
    assert columns.count("▒") == pytest.approx(0.4 * len(columns), abs=1.5)
    assert columns.count("░") == pytest.approx(0.2 * len(columns), abs=1.5)
    assert default.startswith("default stream")
    assert default.endswith("60 %")
    assert other.endswith("40 %")
    assert {len(line) for line in (default, other)} == {70}


def test_many_streams_are_cut_and_counted() -> None:
    made, out = Timeline(), io.StringIO()
    for stream in range(40):
        add(made, Track(1 + stream % 2, stream), ADD, 10 * stream, 10 + stream)
    timeline_chart.show(made, {1: "one", 2: "two"}, Console(file=out, width=100))
    lines = out.getvalue().splitlines()
    assert "28 more streams: --trace F writes all" in lines[2]
    assert len(lines) == 4 + timeline_chart.MOST_ROWS
    assert sum(line.startswith("two 2, stream") for line in lines) == 6
    nothing = io.StringIO()
    timeline_chart.show(Timeline(), {}, Console(file=nothing))
    assert not nothing.getvalue()


def test_the_trace_begins_at_nothing(timeline: Timeline) -> None:
    content = json.loads("".join(chrome_trace(timeline, {7: "app"}, "predicted")))
    assert content["otherData"] == {"about": "predicted"}
    events = [event for event in content["traceEvents"] if event["ph"] == "X"]
    assert events[1] == {"ph": "X", "pid": 7, "tid": 16, "name": "add", "cat": "kernel", "ts": 0.2, "dur": 0.4}
    assert [event["ts"] for event in events] == [0, 0.2, 0.8]
    assert [Track(7, 3, 1).title, Track(7, 0, 1).title, Track(7, 0).title] == [
        "stream 3 of GPU 1", "default stream of GPU 1", "default stream",
    ]  # fmt: skip
    assert json.loads("".join(chrome_trace(Timeline(), {}, "")))["traceEvents"] == []


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_a_line_on_a_terminal() -> None:
    view = ProgramView("app", machine("h200"))
    view.running = "executing add"
    terminal, file = Terminal(), io.StringIO()
    with program_progress.shown(view, terminal, patience=0.02):
        time.sleep(0.2)
    assert "warplens: 0 launches in 0 seconds; executing add for 0 s\r" in terminal.getvalue()
    assert terminal.getvalue().endswith(program_progress.CLEAR)
    with program_progress.shown(view, file, patience=0.0):
        time.sleep(0.05)
    assert not file.getvalue()

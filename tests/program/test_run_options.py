"""Options of `warplens run`: what the report has, in which form, of which launches."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import jsonschema
import pytest

from helpers.whole_program import Ran, run
from warplens.cli.main import main
from warplens.hardware.ncu import read_csv
from warplens.report.json.program_document import schema

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="`warplens run` works on Linux alone")
EXECUTED, TIME = "smsp__inst_executed.sum", "gpu__time_duration.sum"
KERNEL_LAUNCHES = 2001  # of `registered repeat`


def checked(ran: Ran) -> Ran:
    jsonschema.validate(ran.document, schema())
    return ran


def test_the_document_has_a_schema(capfd: pytest.CaptureFixture[str], tmp_path: Path, registered: Path) -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    assert checked(run(capfd, tmp_path, registered, "stray")).document["faults"]
    assert checked(run(capfd, tmp_path, "true")).document["kernels"] == []
    wrong = checked(run(capfd, tmp_path, registered)).document
    wrong["kernels"][0]["launches"] = "four"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, schema())


def test_csv_is_that_of_nsight_compute(capfd: pytest.CaptureFixture[str], tmp_path: Path, registered: Path) -> None:
    csv = tmp_path / "app.csv"
    options = ("--csv", "--page", "raw", "--log-file", str(csv), "--launches", "all")
    ran = checked(run(capfd, tmp_path, registered, options=options))
    rows = list(read_csv(csv.read_text()))
    assert len(rows) == len(ran.document["launches"]) == 4
    assert {row[EXECUTED].value for row in rows} == {ran.kernel("scale")["metrics"][EXECUTED]["value"]}
    durations = [launch["metrics"][TIME]["value"] for launch in ran.document["launches"]]
    assert [row[TIME].value for row in rows] == pytest.approx(durations)
    names, _, *lines = csv.read_text().splitlines()
    assert names.startswith('"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream"')
    assert [line.split(",")[0] for line in lines] == ['"0"', '"1"', '"2"', '"3"']
    assert '"registered","127.0.0.1","scale","1","7","(256, 1, 1)","(256, 1, 1)","0","9.0"' in lines[0]


def test_csv_on_stderr_follows_a_line_that_readers_leave_out(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, registered: Path
) -> None:
    ran = run(capfd, tmp_path, registered, options=("--csv", "--metrics", EXECUTED))
    first, names, _, row = ran.err.splitlines()
    assert first.startswith("==PROF== warplens analyses")
    assert names.endswith(f'"{EXECUTED}"')
    assert row.endswith(f'"{ran.kernel("scale")["metrics"][EXECUTED]["value"]}"')
    assert list(ran.kernel("scale")["metrics"]) == [EXECUTED]


def test_metrics_are_a_table(capfd: pytest.CaptureFixture[str], tmp_path: Path, registered: Path) -> None:
    ran = run(capfd, tmp_path, registered, options=("--metrics", f"{EXECUTED},{TIME}"))
    lines = ran.err.splitlines()
    assert "scale, 256 × 256, launch 0 of the program" in lines
    (row,) = (line.split() for line in lines if line.startswith(EXECUTED))
    assert row[1:] == [f"{ran.kernel('scale')['metrics'][EXECUTED]['value']:,}", "inst", "exact"]
    assert "Timeline" not in ran.err


def test_details_are_those_of_explain(capfd: pytest.CaptureFixture[str], tmp_path: Path, registered: Path) -> None:
    ran = run(capfd, tmp_path, registered, options=("--page", "details"))
    for section in ("Counters of the First Launch", "Timeline of the GPU", "Speed of Light", "Hottest Instructions"):
        assert section in ran.err
    assert "Kernel   scale of registered, sm_90" in ran.err


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("options", "numbers"),
    [
        ((), [0]),
        (("--launches", "all", "--launch-count", "3"), [0, 1, 2]),
        (("--launches", "every:1000"), [0, 1000, 2000]),
        (("--launches", "all", "-s", "1998"), [1998, 1999, 2000]),
        (("-s", "5"), [5]),
        (("-k", "regex:sc.le$"), [0]),
        (("-k", "other"), []),
    ],
)
def test_launches_are_selected(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, registered: Path, options: tuple[str, ...], numbers: list[int]
) -> None:
    """Also those that repeat others, which no message from the program has to name one by one."""
    csv = tmp_path / "app.csv"
    options = ("--csv", "--report", str(csv), *options)
    ran = checked(run(capfd, tmp_path, registered, "repeat", options=options))
    assert ran.kernel("scale")["launches"] == KERNEL_LAUNCHES
    assert bool(ran.kernel("scale")["metrics"]) == bool(numbers)
    assert len(csv.read_text().splitlines()) == 2 + len(numbers)
    if len(numbers) > 1:
        assert [launch["number"] for launch in ran.document["launches"]] == numbers


def test_the_timeline_is_a_trace(capfd: pytest.CaptureFixture[str], tmp_path: Path, registered: Path) -> None:
    trace = tmp_path / "trace.json"
    ran = run(capfd, tmp_path, registered, "streams", options=("--trace", str(trace)))
    content = json.loads(trace.read_text())
    named = {event["args"]["name"] for event in content["traceEvents"] if event["name"] == "thread_name"}
    assert len(named) == 2
    assert all(name.startswith("stream ") for name in named)
    events = [event for event in content["traceEvents"] if event["ph"] == "X"]
    assert [(event["name"], event["cat"], event["args"]["bytes"]) for event in events] == [
        ("host to device", "copy", 1 << 24), ("device to host", "copy", 1 << 24),
    ]  # fmt: skip
    for event in events:
        assert event["dur"] == pytest.approx(ran.document["copies"][event["name"]]["time_us"])
    first, second = events
    assert first["ts"] == 0
    overlap = max(first["ts"] + first["dur"] - second["ts"], 0)  # none where this host was slow between the calls
    assert ran.document["timeline"]["busy_us"] == pytest.approx(first["dur"] + second["dur"] - overlap)


def test_kernels_in_the_trace_last_as_predicted(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, registered: Path
) -> None:
    trace = tmp_path / "trace.json"
    ran = run(capfd, tmp_path, registered, options=("--trace", str(trace)))
    events = [event for event in json.loads(trace.read_text())["traceEvents"] if event.get("cat") == "kernel"]
    assert [event["name"] for event in events] == ["scale"] * 4
    assert sum(event["dur"] for event in events) == pytest.approx(ran.kernel("scale")["time_us"], abs=0.01)
    ends = [event["ts"] + event["dur"] for event in events]
    assert all(later["ts"] >= end - 1e-6 for later, end in zip(events[1:], ends, strict=False))  # one stream


@pytest.mark.parametrize("columns", [80, 100])
def test_the_report_fits(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, registered: Path, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = run(capfd, tmp_path, registered).err.splitlines()
    assert max(map(len, lines)) <= columns
    assert not [line for line in lines if "…" in line]
    (ruler,) = (line for line in lines if line.endswith("Busy"))
    assert len(ruler) > columns - 3


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--csv", "--page", "details"), "--csv is of --page raw"),
        (("--metrics", EXECUTED, "--page", "summary"), "--metrics is of --page raw"),
        (("--metrics", "no_such_metric"), "no metric 'no_such_metric' is known"),
        (("--launches", "some"), "possible: first, all, every:N"),
        (("-k", "regex:("), "regular expression"),
        (("--trace", "/nowhere/at/all"), "/nowhere/at"),
        (("--timeout", "0"), "0.0 is not in the range"),
    ],
)
def test_wrong_options_are_said_before_the_program_runs(
    capfd: pytest.CaptureFixture[str], options: tuple[str, ...], says: str
) -> None:
    assert main(["run", *options, "--", "echo", "ran"]) == 2
    out, err = capfd.readouterr()
    assert says in err
    assert not out


@pytest.mark.long
def test_explain_runs_a_program(capfd: pytest.CaptureFixture[str], registered: Path) -> None:
    assert main(["explain", "--run", str(registered), "--gpu", "h200"]) == 0
    out, err = capfd.readouterr()
    assert "PASS" in out
    assert "Kernel   scale of registered, sm_90" in out
    assert not err
    assert main(["explain", "--run", str(registered), "--metrics", EXECUTED, "--csv", "--kernel", "scale"]) == 0
    assert f'"CC","{EXECUTED}"' in capfd.readouterr().out
    assert main(["explain", "--run", str(registered), "--html", "page.html"]) == 2
    assert "--html: not with --run" in capfd.readouterr().err


def test_a_page_is_written_too(capfd: pytest.CaptureFixture[str], tmp_path: Path, registered: Path) -> None:
    page = tmp_path / "app.html"
    ran = run(capfd, tmp_path, registered, options=("--html", str(page)))
    assert "scale" in ran.err
    text = page.read_text()
    assert "Timeline of the GPU" in text
    assert f"{ran.kernel('scale')['metrics'][EXECUTED]['value']:,}" in text

"""What every report tells of a prediction; the predictions are made up."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace

import jsonschema
import numpy as np
import pytest

import warplens as wl
from helpers.made_up_predictions import STALLS, made_up, predicted
from helpers.report_runs import subject_of
from report.html.test_launch_page import read
from warplens.core.metric import Metric
from warplens.machine import machine
from warplens.model import WHAT_IF
from warplens.report import prediction_view
from warplens.report.html.launch_page import page
from warplens.report.json.document import document, schema, text
from warplens.report.launch_view import LaunchView
from warplens.report.roofline import Roofline, rooflines
from warplens.report.terminal import console_layout, launch_report


def shown(subject: LaunchView, width: int, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("COLUMNS", str(width))
    out = io.StringIO()
    launch_report.show(subject, console_layout.console(out), 10)
    return out.getvalue()


@pytest.mark.parametrize("width", [80, 100])
def test_time_in_the_terminal(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    found = shown(predicted("nccopy"), width, monkeypatch)
    assert max(map(len, found.split("\n"))) <= width
    words = " ".join(found.split())
    assert "Time on the NVIDIA H200 SXM modelled Event time 80.0 µs, 90 % interval 72.5 µs - 1.23 ms" in words
    assert "Kernel duration 78.7 µs, 90 % interval 71.2 µs - 1.20 ms" in words
    assert "Limit each thread has one 4-byte load in flight: latency of DRAM, not its bandwidth" in words
    assert "Simulated 264 of 131,072 blocks: the second wave repeats the first (4,200,000 warp instructions)" in words
    assert "Calibrated H200, 2026-11-21, driver 580" in words
    assert "Achieved Occupancy 74.2 %" in words
    assert "DRAM Read 67.1 MB DRAM Written 640 bytes" in words
    assert "DRAM 75.0 █████████─── 3,000 4,000 GB/s" in words
    assert "Lower Bound per Unit" not in found
    assert "uncalibrated" not in found


@pytest.mark.every(2)
@pytest.mark.parametrize(("gpu", "says"), [("h200", "90 % interval"), ("h100", "assumed interval")])
def test_nine_of_ten_cases_are_told_only_where_that_was_measured(gpu: str, says: str) -> None:
    source = "__global__ void copy(const float* in, float* out) { out[threadIdx.x] = in[threadIdx.x]; }"
    x = np.zeros(128, np.float32)
    prediction = wl.compile(source=source)["copy"].launch(1, 128, x, x.copy()).predict(gpu)
    assert prediction.coverage_measured == (gpu == "h200")
    assert prediction.assumptions == machine(gpu).inherited
    assert (f"`warplens gpus --numbers {gpu}` lists them" in prediction_view.calibration(prediction)) == (gpu != "h200")
    assert all(says in told for told in prediction_view.times(prediction).values())


def test_uncalibrated_stands_beside_every_section_and_in_every_format(monkeypatch: pytest.MonkeyPatch) -> None:
    subject = predicted("nccopy", calibrated="")
    found = shown(subject, 100, monkeypatch)
    titles = ("Time on the NVIDIA H200 SXM", "What If", "Speed of Light", "Stalls", "Stalls by Source Line")
    assert all(f"\n{title}  modelled, uncalibrated\n" in found for title in titles)
    assert "Calibrated" in found
    assert "published numbers" in found
    parts = ("Time on the NVIDIA H200 SXM", "Speed of Light", "Stalls")
    badge, text = '<span class="badge modelled"[^>]*>modelled, uncalibrated<', page([subject])
    assert all(re.search(f">{part} {badge}", text) for part in parts)
    assert json.loads(written(subject))["prediction"]["calibrated"] is None


def test_stalls_add_up_and_are_named_as_nsight_does(monkeypatch: pytest.MonkeyPatch) -> None:
    subject = predicted("nccopy")
    assert subject.prediction
    rows = prediction_view.stalls(subject.prediction)
    assert [row.reason for row in rows] == ["long_scoreboard", "wait", "not_selected", "barrier", "selected"]
    assert sum(row.share for row in rows) == pytest.approx(1)
    assert all(row.meaning for row in rows)
    words = " ".join(shown(subject, 100, monkeypatch).split())
    assert "long_scoreboard waits for global, local or texture memory 60.0 75 %" in words
    assert "all 80.0 warp cycles per issued instruction" in words


def test_stalls_by_line_go_to_the_line_that_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    subject = predicted("nccopy")
    assert subject.prediction
    worst, other = prediction_view.stalls_by_line(subject, subject.prediction)
    assert (worst.share, other.share) == (0.75, 0.25)
    assert "out[i] = in[(2 * i) % n]" in worst.text
    assert worst.reasons == (("long_scoreboard", 700 / 750), ("wait", 50 / 750))
    assert "long_scoreboard 93 %, wait 7 %" in shown(subject, 120, monkeypatch)
    assert "long_scoreboard 93 %\n" in shown(subject, 80, monkeypatch)


def test_what_if_tells_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    subject = predicted("nccopy")
    assert [(row.name, row.speedup) for row in prediction_view.what_ifs(subject)] == [
        ("ideal_access", "2 times as fast"), ("no_divergence", "no change"),
    ]  # fmt: skip
    words = " ".join(shown(subject, 80, monkeypatch).split())
    assert "all accesses fully coalesced 2 times as fast 80.0 µs 40.0 µs" in words
    assert json.loads(written(subject))["what_if"][0] == {
        "name": "ideal_access", "time_us": 40, "limit": made_up(subject).limit,
    }  # fmt: skip


def test_every_what_if_has_words() -> None:
    assert set(prediction_view.CAUSES) == set(WHAT_IF)


def test_a_refused_prediction_says_why_and_keeps_the_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    subject = replace(subject_of("ccopy"), unpredicted="its data do not fit <here>")
    found = shown(subject, 80, monkeypatch)
    assert "\nTime\nno prediction: its data do not fit <here>\n" in found
    assert "Lower Bound per Unit" in found
    assert "<b>No prediction</b> <span>its data do not fit &lt;here&gt;</span>" in page([subject])
    assert json.loads(written(subject))["unpredicted"] == "its data do not fit <here>"


def test_without_a_prediction_no_report_speaks_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    subject = subject_of("ccopy")
    assert "Speed of Light" not in shown(subject, 80, monkeypatch)
    assert "Speed of Light" not in page([subject])
    assert json.loads(written(subject))["prediction"] is None


@pytest.mark.parametrize("name", ["nccopy", "odd", "matmul"])
def test_the_page_tells_the_same(name: str) -> None:
    reader = read(page([predicted(name)]))
    words = " ".join(" ".join(reader.words).split())
    assert "Event time 80.0 µs, 90 % interval 72.5 µs - 1.23 ms" in words
    assert "Kernel duration 78.7 µs, 90 % interval 71.2 µs - 1.20 ms" in words
    assert "DRAM 75.0 3,000 4,000 GB/s" in words
    assert "long_scoreboard" in words
    assert "Lower Bound per Unit" not in words


def test_the_document_follows_the_schema_and_is_complete() -> None:
    subject = predicted("nccopy")
    content = json.loads(written(subject))
    jsonschema.validate(content, schema())
    part = content["prediction"]
    assert (part["time_us"], part["low_us"], part["high_us"]) == (80, 72.5, 1234.5)
    assert part["stalls"] == dict(sorted(STALLS.items()))
    assert [row["stalls"] for row in part["instructions"]][1]["long_scoreboard"] == 700
    assert part["metrics"]["dram__bytes_read.sum"] == {"value": 67_108_864, "unit": "byte", "provenance": "modelled"}
    for wrong in ("provenance", "limit"):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**content, "prediction": {**part, wrong: None}}, schema())


def written(subject: LaunchView) -> str:
    return text(document(subject, {}))


def test_roofline_of_a_matrix_product() -> None:
    subject = predicted("matmul")
    assert subject.prediction
    (found,) = rooflines(subject, subject.prediction)
    work = 2 * subject["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"]
    assert work > 0
    assert found.intensity == pytest.approx(work / (67_108_864 + 640))
    assert found.achieved == pytest.approx(work / 80 / 1000)
    assert found.peak == pytest.approx(2 * 128 * 132 * 1.98)  # GFLOP/s of an H200
    assert found.bandwidth == 4000
    assert found.roof == pytest.approx(4000 * found.intensity)


def test_a_kernel_that_computes_nothing_has_no_roofline() -> None:
    subject = predicted("nccopy")
    assert subject.prediction
    assert rooflines(subject, subject.prediction) == []
    assert "Roofline" not in page([subject])


def test_the_roof_is_the_lower_of_the_two() -> None:
    left = Roofline("FP32", 0.25, 500.0, 60_000.0, 4000.0)
    right = Roofline("FP32", 150.0, 30_000.0, 60_000.0, 4000.0)
    assert left.summary.startswith("0.25 FLOP per byte of DRAM; ")
    assert left.summary.endswith("500 of the 1,000 GFLOP/s that the bandwidth of DRAM admits (50 %)")
    assert right.summary == "150 FLOP per byte of DRAM; 30.0 of the 60.0 TFLOP/s that the FP32 lanes admit (50 %)"


@pytest.mark.parametrize(
    ("microseconds", "words"),
    [(0.05, "0.05 µs"), (2.345, "2.35 µs"), (83.04, "83.0 µs"), (417.4, "417 µs"), (999.7, "1.00 ms"),
     (1240, "1.24 ms"), (52_300, "52.3 ms"), (2.5e6, "2.50 s")],
)  # fmt: skip
def test_times_are_spoken_with_three_digits(microseconds: float, words: str) -> None:
    assert prediction_view.spoken(microseconds) == words


def test_more_hits_than_lookups_are_explained() -> None:
    assert prediction_view.measure(Metric(99.0, "%", "modelled")) == "99.0 %"
    shown = prediction_view.measure(Metric(171.0, "%", "modelled"))
    assert shown == "171 % (so Nsight Compute counts in small launches)"


@pytest.mark.parametrize(
    ("amount", "words"),
    [(0, "0 bytes"), (999.4, "999 bytes"), (999.5, "1.00 KB"), (1e3, "1.00 KB"), (6.7e7, "67.0 MB"), (2e9, "2.00 GB")],
)
def test_bytes_in_thousands(amount: float, words: str) -> None:
    assert prediction_view.in_bytes(amount) == words

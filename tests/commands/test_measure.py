"""What `warplens measure` prints, and what it says without a GPU."""

from __future__ import annotations

import json
from typing import Any

import pytest
from rich.console import Console

from warplens.cli.main import main
from warplens.commands import measure
from warplens.commands.target import Flags, targets
from warplens.core.metric import Metric
from warplens.core.run_options import RunOptions
from warplens.errors import Unpredictable
from warplens.hardware import Timing
from warplens.report.terminal.measurement_report import Measured, TimeComparison, amount, document, show
from warplens.run import Run

TIMING = Timing(80.0, 79.0, 82.5, 41.0, 1980.0, 15, "NVIDIA H200", "580.159.04", "13.0")


def without_prediction() -> Measured:
    return Measured("copy", TIMING, None, "it waits for other blocks", ())


@pytest.mark.parametrize("verb", [["measure", "examples/copy.cu"], ["calibrate"]])
def test_without_a_gpu_there_is_one_line(verb: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    try:
        import ctypes

        ctypes.CDLL("libcuda.so.1")
        pytest.skip("this machine has a driver")
    except OSError:
        pass
    assert main(verb) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert "no NVIDIA driver on this machine" in said.err


@pytest.mark.long
def test_what_is_measured_stands_beside_what_is_predicted(capsys: pytest.CaptureFixture[str]) -> None:
    (target, *_) = targets("examples/copy.cu", Flags(kernel="nccopy", gpu="h200", settings=("n=65536",)))
    prediction = target.run().predict("h200")
    name = next(iter(prediction.metrics))
    row = TimeComparison(name, prediction.metrics[name], Metric(1234, "byte", "measured"))
    found = Measured("nccopy", TIMING, prediction, "", (row,))
    show(found, Console(width=100))
    said = capsys.readouterr().out
    assert found.error == pytest.approx(prediction.time_us / 80 - 1)
    assert f"predicted is {found.error:+.1%} of measured" in said
    assert "1,234" in said
    (kernel,) = json.loads(document([found]))["kernels"]
    assert kernel["measured"]["microseconds"] == 80.0
    assert kernel["predicted"]["time_us"] == prediction.time_us
    assert kernel["metrics"][name]["measured"] == 1234


@pytest.mark.parametrize(("value", "text"), [(134231296.0, "134,231,296"), (46.34, "46.3"), (0, "0")])
def test_amounts_fit(value: float, text: str) -> None:
    assert amount(Metric(value, "byte", "measured")) == text


def test_why_there_is_no_prediction(capsys: pytest.CaptureFixture[str]) -> None:
    show(without_prediction(), Console(width=100))
    assert "no prediction: it waits for other blocks" in capsys.readouterr().out
    assert json.loads(document([without_prediction()]))["kernels"][0]["predicted"] is None


def test_without_a_prediction_exact_counters_stand_beside_those_of_the_gpu(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuses(run: Run, gpu: str) -> None:
        raise Unpredictable("it waits for other blocks")

    monkeypatch.setattr(Run, "predict", refuses)
    monkeypatch.setattr(measure, "time", lambda job, gpu: TIMING)
    monkeypatch.setattr(measure.shutil, "which", lambda name: f"/usr/bin/{name}")
    counted = [{"smsp__inst_executed.sum": Metric(40961, "", "measured")}]
    monkeypatch.setattr(measure, "measure", lambda jobs, names, cold: counted)
    (target, *_) = targets("examples/copy.cu", Flags(kernel="nccopy", gpu="h200", settings=("n=65536",)))
    gpu: Any = None
    found = measure.measured(target, gpu, RunOptions(threads=1))
    (row,) = found.counters
    assert row.ours == target.run().metrics["smsp__inst_executed.sum"]
    show(found, Console(width=100))
    said = capsys.readouterr().out
    assert "Exact" in said
    assert "Modelled" not in said
    assert "40,961" in said
    (kernel,) = json.loads(document([found]))["kernels"]
    assert kernel["metrics"]["smsp__inst_executed.sum"]["exact"] == row.ours.value

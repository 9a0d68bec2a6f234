"""What `warplens measure` prints, and what it says without a GPU."""

from __future__ import annotations

import json

import pytest
from rich.console import Console

from warplens.cli import main
from warplens.hardware import Timing
from warplens.metric import Metric
from warplens.report.measurement import Beside, Measured, amount, document, show
from warplens.target import Flags, targets

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


def test_what_is_measured_stands_beside_what_is_predicted(capsys: pytest.CaptureFixture[str]) -> None:
    (target, *_) = targets("examples/copy.cu", Flags(kernel="nccopy", gpu="h200", settings=("n=65536",)))
    prediction = target.run().predict("h200")
    name = next(iter(prediction.metrics))
    row = Beside(name, prediction.metrics[name], Metric(1234, "byte", "measured"))
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

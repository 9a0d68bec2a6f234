"""explain and compare with the model's own predictions: what must hold whatever the model says."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from warplens.cli.main import main
from warplens.commands.target import Flags, targets
from warplens.machine import machines
from warplens.report.definitions import definitions
from warplens.report.json.document import schema
from warplens.report.terminal import decomposition_report
from warplens.run import Run

ROOT = Path(__file__).parents[2]
COPY = str(ROOT / "examples" / "copy.cu")
REPORT = str(ROOT / "tests" / "kernels" / "report.cu")


KERNELS = ("matmul<16>", "transpose", "odd")  # of REPORT


def runs(file: str, gpu: str, *settings: str) -> list[Run]:
    return [target.run().timed() for target in targets(file, Flags(gpu=gpu, settings=settings))]


def run_of(file: str, kernel: str, gpu: str, *settings: str) -> Run:
    (target,) = targets(file, Flags(kernel=kernel, gpu=gpu, settings=settings))
    return target.run().timed()


@pytest.fixture(scope="module")
def on_h200() -> list[Run]:
    return [*runs(COPY, "h200", "n=262144"), *runs(REPORT, "h200")]


@pytest.mark.long
def test_the_factors_of_every_pair_multiply_out(on_h200: list[Run]) -> None:
    for first in on_h200:
        for second in on_h200:
            found = decomposition_report.of(first.subject, second.subject)
            assert found is not None
            assert found.product == pytest.approx(found.time, rel=1e-9)
            assert found.first.outside >= 1


def test_no_time_is_below_the_least_time(on_h200: list[Run]) -> None:
    for run in on_h200:
        assert run.prediction is not None
        assert run.prediction.low_us <= run.prediction.time_us <= run.prediction.high_us
        assert run.prediction.time_us > run.floor().microseconds


@pytest.mark.every(3)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("gpu", ["h200", "a100", "t4", "rtx5090"])
def test_every_metric_is_defined_as_it_is_given(kernel: str, gpu: str) -> None:
    """What `warplens metrics` says of name, unit and provenance holds for runs on each architecture."""
    defined = {found.name: found for found in definitions()}
    run = run_of(REPORT, kernel, gpu)
    assert run.prediction is not None
    for name, metric in run.subject.all_metrics.items():
        assert (name, metric.unit) == (name, defined[name].unit)
        assert (name, metric.provenance) == (name, defined[name].provenance)
        assert defined[name].predicted == (name in run.prediction.metrics)


def test_stalls_add_up(on_h200: list[Run]) -> None:
    for run in on_h200:
        told = run.prediction
        assert told is not None
        whole = told.metrics["smsp__average_warp_latency_per_inst_issued.ratio"].value
        assert sum(told.stalls.values()) == pytest.approx(whole)
        at = {name: sum(reasons.get(name, 0.0) for reasons in told.stalls_at.values()) for name in told.stalls}
        total = sum(at.values())
        for name, cycles in told.stalls.items():
            assert at[name] / total == pytest.approx(cycles / whole, abs=1e-9)


@pytest.mark.every(3)
@pytest.mark.parametrize("cause", ["double_bandwidth", "ideal_access", "no_bank_conflicts"])
@pytest.mark.parametrize("number", range(2 + len(KERNELS)))
def test_more_bandwidth_and_packed_accesses_never_cost_time(on_h200: list[Run], cause: str, number: int) -> None:
    run = on_h200[number]
    assert run.prediction is not None
    assert run.predict(what_if=(cause,)).time_us <= 1.01 * run.prediction.time_us


@pytest.mark.every(3)
@pytest.mark.parametrize("kernel", ["ccopy", "nccopy"])
@pytest.mark.parametrize("gpu", sorted(set(machines()) - {"h200", "textbook"}))
def test_every_gpu_has_a_time_above_what_its_dram_needs(kernel: str, gpu: str) -> None:
    run = run_of(COPY, kernel, gpu, "n=4194304")
    assert run.prediction is not None
    assert run.prediction.time_us > 4 * 4_194_304 / (run.machine.dram_gigabytes_per_second * 1000)
    assert run.prediction.calibrated == run.machine.calibrated


def test_the_document_follows_the_schema_and_is_the_same_again(capsys: pytest.CaptureFixture[str]) -> None:
    told = []
    for _ in range(2):
        assert main(["explain", REPORT, "--kernel", "odd", "--gpu", "h200", "--json"]) == 0
        told.append(capsys.readouterr().out)
    assert told[0] == told[1]
    found = json.loads(told[0])
    jsonschema.validate(found, schema())
    assert found["prediction"]["gpu"] == "h200"

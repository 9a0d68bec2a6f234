"""Suggest, end to end: a change that is kept, those that are not, and what is written."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest

from warplens.advice import Version
from warplens.commands.suggest import Suggested, SuggestRequest, VersionRunner, suggest
from warplens.commands.target import Flags, targets
from warplens.core.run_options import RunOptions
from warplens.errors import UsageError
from warplens.report.json import suggestion_document
from warplens.report.suggestion_view import MeasuredView
from warplens.report.terminal.suggestion_report import brief
from warplens.transform import Change

TRANSPOSE = Path(__file__).parents[2] / "src/warplens/labs/transpose/3_tiled.cu"
BLOCK = """// /// warplens
// n = 256
// [transpose]
// grid = ["n / 32", "n / 32"]
// block = [32, 8]
// args = ["random f32[n * n]", "zeros f32[n * n]", "n", "n"]
// ///
"""


def quiet(what: str, done: int, of: int) -> None:
    pass


def suggested(path: Path, *scratch: str) -> Suggested:
    (target,) = targets(str(path), Flags(gpu="h200"))
    return suggest(target, SuggestRequest(RunOptions(), scratch), quiet)


@pytest.fixture(scope="module")
def padded(tmp_path_factory: pytest.TempPathFactory) -> Suggested:
    path = tmp_path_factory.mktemp("suggest") / "transpose.cu"
    path.write_text(BLOCK + TRANSPOSE.read_text())
    return suggested(path)


def test_the_tile_is_padded_and_outputs_are_equal(padded: Suggested) -> None:
    (step,) = padded.suggestion.steps
    assert step.change.transform == "pad_shared_rows"
    assert step.evaluation.exact
    assert padded.fresh == "equal bit for bit"
    assert "+  __shared__ float tile[32][33];" in padded.diff()
    assert padded.source == padded.suggestion.end.text


def test_the_finding_has_an_upper_bound_that_the_change_does_not_exceed(padded: Suggested) -> None:
    (finding,) = padded.view.findings
    assert finding.fault == "bank_conflicts"
    assert finding.gain is not None
    assert padded.view.changes[0].gain <= finding.gain + padded.view.ratio_error


def test_every_other_change_has_its_reason(padded: Suggested) -> None:
    reasons = {found.title: found.reason for found in padded.view.rejected}
    assert reasons["make the pointers __restrict__, and const where they are only read"]
    assert all(reasons.values())


def test_brief_forms_are_short(padded: Suggested) -> None:
    assert len(brief(padded.view).split("\n")) <= 15
    assert len(suggestion_document.text([padded.view], brief=True).encode()) <= 2048


def test_the_document_keeps_to_its_schema(padded: Suggested) -> None:
    schema = json.loads(files("warplens.report.json").joinpath("suggestion_schema.json").read_text(encoding="utf-8"))
    document = json.loads(suggestion_document.text([padded.view]))
    jsonschema.validate(document, schema)
    (kernel,) = document["kernels"]
    assert kernel["changes"][0]["counts"]["memory_l1_wavefronts_shared"]["after"] == 4096


def test_measured_times_stand_beside_the_predicted_ones(padded: Suggested) -> None:
    view = replace(padded.view, measured=MeasuredView(20.0, 12.0, "NVIDIA H200"))
    assert "Measured on NVIDIA H200: 20.0 µs -> 12.0 µs (40 % less)." in brief(view)
    assert json.loads(suggestion_document.text([view]))["kernels"][0]["measured"]["after_us"] == 12.0


def test_machine_code_cannot_be_changed(padded: Suggested) -> None:
    with pytest.raises(UsageError, match=r"suggest changes CUDA source; transpose\.cubin has none"):
        suggest(replace(padded.target, file="transpose.cubin"), SuggestRequest(RunOptions()), quiet)


def test_an_unknown_scratch_array(padded: Suggested) -> None:
    with pytest.raises(UsageError, match="no argument is called data; there are in, out, rows, columns"):
        suggest(padded.target, SuggestRequest(RunOptions(), ("data",)), quiet)


SUM = """// /// warplens
// n = 65536
// [sum]
// grid = "n / 256"
// block = 256
// args = ["data = random(0, 100) i32[n]", "sums = zeros i32[n / 256]", "n"]
// ///
extern "C" __global__ void sum(const int* data, int* sums, int n) {
  __shared__ int part[256];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  part[t] = i < n ? data[i] : 0;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s /= 2) {
    if (t < s) part[t] += part[t + s];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = part[0];
}
"""


def test_fewer_partial_sums_are_kept_only_where_their_total_is_all_that_matters(tmp_path: Path) -> None:
    path = tmp_path / "sum.cu"
    path.write_text(SUM)
    (target,) = targets(str(path), Flags(gpu="h200"))
    outcomes = {}
    for totals in ((), ("sums",)):
        runner = VersionRunner(target, SuggestRequest(RunOptions(), totals=totals), tmp_path)
        runner.evaluate(Version(SUM), None)
        change = Change("several_inputs", "each thread adds two", 8, (), effect="order")
        text = SUM.replace("i < n ? data[i] : 0", "data[i] + data[i + n / 2]")
        outcomes[totals] = runner.evaluate(Version(text, grid=(128, 1, 1)), change)
    assert outcomes["sums",].outcome == "equal"
    assert outcomes[()].outcome == "outputs differ"
    assert "if nobody reads it afterwards, add --scratch sums; if only its sum is used, --total instead" in (
        outcomes[()].note
    )

"""Suggest, end to end: a change that is kept, those that are not, and what is written."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest

from warplens.commands.suggest import Suggested, suggest
from warplens.commands.suggestion.version_evaluator import SuggestRequest
from warplens.commands.target import Flags, targets
from warplens.core.run_options import RunOptions
from warplens.errors import UsageError
from warplens.report.json import suggestion_document
from warplens.report.suggestion_view import MeasuredView
from warplens.report.terminal.suggestion_report import brief
from warplens.transform import LaunchChange

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
    assert padded.fresh == "on other random arrays equal bit for bit"
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


def test_a_gain_within_the_error_of_a_ratio_is_to_be_measured(padded: Suggested) -> None:
    (change,) = padded.view.changes
    large, small = (replace(change, before_us=100.0, after_us=after) for after in (50.0, 91.0))
    assert "one predicted ratio in ten" not in brief(replace(padded.view, changes=[large]))
    found = brief(replace(padded.view, changes=[small]))
    assert "100 µs to 91.0 µs; small: measure it, one predicted ratio in ten is off by more" in found


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


def test_a_divided_grid_stays_an_expression(padded: Suggested) -> None:
    step = replace(
        padded.suggestion.steps[0],
        after=replace(padded.suggestion.end, grid=(2, 8, 1)),
        change=replace(padded.suggestion.steps[0].change, launch=LaunchChange(grid_over=(4, 1, 1))),
    )
    changed = replace(padded, suggestion=replace(padded.suggestion, steps=(step,)))
    assert changed.sizes == {"grid": ("ceil(n / 32 / 4)", "n / 32")}
    assert '// grid = ["ceil(n / 32 / 4)", "n / 32"]' in changed.source


def test_a_grid_with_x_and_y_exchanged_stays_an_expression(padded: Suggested) -> None:
    def sizes(grid: tuple[int, int, int], exchanged: int = 1) -> object:
        launch = LaunchChange((8, 32, 1), grid=grid, exchanged=exchanged)
        change = replace(padded.suggestion.steps[0].change, launch=launch)
        step = replace(
            padded.suggestion.steps[0], change=change, after=replace(padded.suggestion.end, grid=grid, block=(8, 32, 1))
        )
        begin = replace(padded.suggestion.begin, facts=replace(padded.suggestion.begin.facts, grid=(16, 4, 1)))
        return replace(padded, suggestion=replace(padded.suggestion, begin=begin, steps=(step,))).sizes

    assert sizes((4, 16, 1)) == {"grid": ("n / 32", "n / 32"), "block": (8, 32)}
    assert sizes((2, 64, 1)) == {"grid": ("ceil(n / 32 / 2)", "(n / 32) * 4"), "block": (8, 32)}
    assert sizes((8, 8, 1), exchanged=0) == {"grid": ("ceil(n / 32 / 2)", "(n / 32) * 2"), "block": (8, 32)}
    assert sizes((5, 7, 1)) == {"grid": (5, 7), "block": (8, 32)}

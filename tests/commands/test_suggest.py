"""Suggest, end to end: a change that is kept, those that are not, and what is written."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest

from warplens.advice import Evaluation, Step, Suggestion, Version
from warplens.commands.suggest import Suggested, suggest
from warplens.commands.suggestion.version_evaluator import UNKNOWN, SuggestRequest, proven, without_last
from warplens.commands.suggestion.version_runner import VersionRunner
from warplens.commands.target import Flags, targets
from warplens.core.run_options import RunOptions
from warplens.errors import UsageError
from warplens.report.json import suggestion_document
from warplens.report.suggestion_view import MeasuredView
from warplens.report.terminal.suggestion_report import brief
from warplens.sass import nvdisasm
from warplens.transform import Change, LaunchChange

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
        runner = VersionRunner(target, SuggestRequest(RunOptions(), totals=totals))
        runner.evaluate(Version(SUM), (), None)
        change = Change("several_inputs", "each thread adds two", 8, (), effect="order")
        text = SUM.replace("i < n ? data[i] : 0", "data[i] + data[i + n / 2]")
        outcomes[totals] = runner.evaluate(Version(text, grid=(128, 1, 1)), (change,), None)
    assert outcomes["sums",].outcome == "equal"
    assert outcomes[()].outcome == "outputs differ"
    assert "if nobody reads it afterwards, add --scratch sums; if only its sum is used, --total instead" in (
        outcomes[()].note
    )


def test_a_rounding_change_stays_tolerated_after_later_exact_ones(tmp_path: Path) -> None:
    """Outputs are compared with those of the original: what an earlier change rounds differs after all later ones."""
    text = SUM.replace("i32", "f32").replace("int*", "float*").replace("int part", "float part")
    path = tmp_path / "sum.cu"
    path.write_text(text)
    (target,) = targets(str(path), Flags(gpu="h200"))
    runner = VersionRunner(target, SuggestRequest(RunOptions()))
    runner.evaluate(Version(text), (), None)
    other = text.replace("part[t] += part[t + s]", "part[t] = part[t + s] + part[t] * 1.0000001f")
    rounds, keeps = (Change("", "", 8, (), effect=effect) for effect in ("rounding", "exact"))
    assert runner.evaluate(Version(other), (rounds, keeps), None).outcome == "equal"
    runner.known.clear()
    assert runner.evaluate(Version(other), (keeps,), None).outcome == "outputs differ"


ADDS = """\
// /// warplens
// [add]
// grid = 300
// block = 32
// args = ["random f32[9600]", "full(2) f32[9600]", "arange f32[9600]"]
// ///
__global__ void add(const float* x, float* y, float* z) {
  int i = blockIdx.x * 32 + threadIdx.x;
  y[i] += x[i];
  z[i] += x[i];
}
"""


def test_an_array_of_one_number_has_it_again_for_each_version(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("warplens.commands.suggestion.version_evaluator.LONG", 1)
    path = tmp_path / "add.cu"
    path.write_text(ADDS)
    (target,) = targets(str(path), Flags(gpu="h200"))
    runner = VersionRunner(target, SuggestRequest(RunOptions()))
    before = runner.evaluate(Version(ADDS), (), None)
    assert runner.constants.keys() == {1}
    change = Change("", "", 8, ())
    for number in range(2):  # each as a sample, and whole
        other = ADDS.replace("y[i] += x[i];", f"y[i] += x[i] * 1.0f; // {number}")
        runner.known.clear()
        assert runner.evaluate(Version(other), (change,), 1e9).outcome == "sampled"
        assert runner.evaluate(Version(other), (change,), None).outcome == "equal"
    wrong = ADDS.replace("y[i] += x[i];", "y[i] = x[i] + 2.5f;")
    assert runner.evaluate(Version(wrong), (change,), None).outcome == "outputs differ"
    step = Step(change, Version(other), before, before.time_us, {})
    compared = runner.on_other_inputs([step])
    assert compared is not None
    assert compared.exact


def test_a_long_launch_is_sampled_before_it_is_executed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "sum.cu"
    path.write_text(SUM.replace("65536", "262144"))
    (target,) = targets(str(path), Flags(gpu="h200"))
    runner = VersionRunner(target, SuggestRequest(RunOptions()))
    monkeypatch.setattr("warplens.commands.suggestion.version_evaluator.LONG", 1000)
    before = runner.evaluate(Version(SUM), (), None)
    wrong = SUM.replace("part[t] += part[t + s]", "part[t] += part[t + s] + 1")
    change = Change("", "", 8, ())
    assert runner.evaluate(Version(wrong), (change,), before.time_us).outcome == "no gain"
    runner.known.clear()
    assert runner.evaluate(Version(wrong), (change,), 1e9).outcome == "sampled"
    assert runner.evaluate(Version(wrong), (change,), None).outcome == "outputs differ"


def test_of_few_long_blocks_all_are_run_and_the_time_is_first_predicted_with_less_effort(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "sum.cu"
    path.write_text(SUM)
    (target,) = targets(str(path), Flags(gpu="h200"))
    runner = VersionRunner(target, SuggestRequest(RunOptions()))
    monkeypatch.setattr("warplens.commands.suggestion.version_evaluator.LONG", 1000)
    before = runner.evaluate(Version(SUM), (), None)
    assert not runner.is_long
    other, change = SUM.replace("s /= 2", "s >>= 1"), Change("", "", 8, ())
    for limit, outcome in ((before.time_us, "no gain"), (1e9, "equal")):
        runner.known.clear()
        found = runner.evaluate(Version(other), (change,), limit)
        assert (found.outcome, found.time_us) == (outcome, pytest.approx(before.time_us, rel=0.02))


WAITING = """// /// warplens
// n = 65536
// [turns]
// grid = "n / 128"
// block = 128
// args = ["y = zeros i32[n]", "turn = zeros i32[1]"]
// ///
extern "C" __global__ void turns(int* y, volatile int* turn) {
  if (threadIdx.x == 0) while (*turn != blockIdx.x);
  __syncthreads();
  y[blockIdx.x * blockDim.x + threadIdx.x] = blockIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) *turn = blockIdx.x + 1;
}
"""


def test_blocks_that_wait_for_each_other_are_all_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("warplens.commands.suggestion.version_evaluator.LONG", 1000)
    monkeypatch.setattr("warplens.run.Run.predict", lambda run: None)
    sampled = {}
    for name, text, cooperative in (
        ("turns", WAITING, False), ("grid", SUM.replace("65536", "262144"), True),
        ("sum", SUM.replace("65536", "262144"), False),
    ):  # fmt: skip
        path = tmp_path / f"{name}.cu"
        path.write_text(text)
        (target,) = targets(str(path), Flags(gpu="h200", cooperative=cooperative))
        runner = VersionRunner(target, SuggestRequest(RunOptions()))
        runner.evaluate(Version(text), (), None)
        sampled[name] = runner.is_long
    assert sampled == {"turns": False, "grid": False, "sum": True}


GATHER = """// /// warplens
// n = 4096
// [gather]
// grid = "n / 128"
// block = 128
// args = ["x = random f32[n]", "y = zeros f32[n]"]
// ///
extern "C" __global__ void gather(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i];
}
"""


def test_changes_that_hold_for_the_given_arrays_alone_are_dropped_with_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "gather.cu"
    path.write_text(GATHER)
    (target,) = targets(str(path), Flags(gpu="h200"))
    runner = VersionRunner(target, SuggestRequest(RunOptions()))
    begin = runner.evaluate(Version(GATHER), (), None)
    values = runner.expected
    wrong = GATHER.replace("= x[i]", f"= i == 5 ? {float(values[0][5])!r} : x[i]")
    steps = [Step(Change("", "wrong", 8, ()), Version(wrong), begin, 2 * (begin.time_us or 1), {})]
    found, fresh = proven(runner, Suggestion(Version(GATHER), begin, tuple(steps), (), ()))
    assert (found.steps, fresh) == ((), "")
    assert found.tried[0].evaluation.outcome == "outputs differ"
    assert found.tried[0].evaluation.note.startswith("on other random arrays y[5] is ")


def test_an_array_that_the_kernel_only_reads_stays_as_it_is(tmp_path: Path) -> None:
    """It is not compared, since no version that writes to it is taken."""
    path = tmp_path / "gather.cu"
    path.write_text(GATHER)
    (target,) = targets(str(path), Flags(gpu="h200"))
    runner = VersionRunner(target, SuggestRequest(RunOptions()))
    runner.evaluate(Version(GATHER), (), None)
    assert runner.changed == {1}
    assert runner.expected[0] is target.values()[0]
    wrong = GATHER.replace("y[i] = x[i];", "y[i] = x[i]; if (i == 9) ((float*)x)[i] = 0;")
    found = runner.evaluate(Version(wrong), (Change("", "", 8, ()),), None)
    assert found.outcome == "fault"
    assert found.note == "it writes to x, which the kernel as it is does not change"


def test_a_long_launch_is_represented_by_some_blocks_on_other_inputs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("warplens.commands.suggestion.version_evaluator.LONG", 1000)
    monkeypatch.setattr("warplens.commands.suggestion.version_runner.PROOF", 0)
    path = tmp_path / "sum.cu"
    path.write_text(SUM.replace("65536", "262144"))
    (target,) = targets(str(path), Flags(gpu="h200"))
    for wrong, grid, said in (
        ("", None, "on other random arrays (64 of 1,024 blocks) equal bit for bit"),
        ("", (1024, 1, 1), "on other random arrays equal bit for bit"),
        (" + (blockIdx.x == 1023 && data[0] != 85)", None, ""),
    ):
        runner = VersionRunner(replace(target, kept={}), SuggestRequest(RunOptions()))
        begin = runner.evaluate(Version(SUM), (), None)
        assert runner.expected[0][0] == 85
        text = SUM.replace("= part[0]", f"= part[0]{wrong}")
        step = Step(Change("", "", 8, ()), Version(text, grid=grid), begin, 1.0, {})
        assert proven(runner, Suggestion(Version(SUM), begin, (step,), (), ()))[1] == said


IN_PLACE = """// /// warplens
// n = 65536
// [twice]
// grid = "n / 128"
// block = 128
// args = ["x = random(seed=1) f32[n]", "seldom = zeros f32[n]"]
// ///
extern "C" __global__ void twice(float* x, float* seldom) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] *= 2;
  if (blockIdx.x == 101) seldom[i] = 1;
}
"""


def test_versions_begin_with_the_arrays_of_the_launch(tmp_path: Path) -> None:
    path = tmp_path / "twice.cu"
    path.write_text(IN_PLACE)
    (target,) = targets(str(path), Flags(gpu="h200"))
    runner = VersionRunner(target, SuggestRequest(RunOptions()))
    begin = runner.evaluate(Version(IN_PLACE), (), None)
    assert runner.changed == {0, 1}  # the second one by a block that is not in the sample
    other = Version(IN_PLACE.replace("x[i] *= 2", "x[i] = x[i] + x[i]"))
    for limit in (1e9, None, 1e9, None):
        runner.known.clear()
        found = runner.evaluate(other, (Change("", "", 8, ()),), limit)
        assert found.outcome == "equal"
    before = target.values()[0].copy()
    step = Step(Change("", "", 8, ()), other, begin, 1.0, {})
    assert proven(runner, Suggestion(other, begin, (step,), (), ()))[1] == "on other random arrays equal bit for bit"
    assert (runner.expected[0] != 2 * before).mean() > 0.9


def test_in_place_of_a_change_that_is_wrong_stands_the_next_best() -> None:
    begin, counts = Evaluation("equal", UNKNOWN, 10.0), {"instructions": 1.0}
    best, second, third = (
        Step(Change("", title, 1, ()), Version(title), replace(begin, time_us=time), 10.0, counts)
        for title, time in (("best", 5.0), ("second", 6.0), ("no gain", 9.9))
    )
    other_base = replace(best, time_before_us=20.0, counts_before={"instructions": 2.0})
    found = Suggestion(Version(""), begin, (best,), (third, second, other_base), ())
    found = without_last(found, "y[0] is 1 instead of 2")
    assert found.steps == (second,)
    assert [step.evaluation.note for step in found.tried] == ["y[0] is 1 instead of 2", "", ""]
    assert without_last(found, "no").steps == ()


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


def test_versions_are_disassembled_together(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What cannot be compiled is left out."""
    path = tmp_path / "gather.cu"
    path.write_text(GATHER)
    (target,) = targets(str(path), Flags(gpu="h200"))
    runner = VersionRunner(target, SuggestRequest(RunOptions()))
    versions = [Version(GATHER.replace("= x[i]", f"= x[i] {more}")) for more in ("* 3.5f", "+ 7.25f", "* nothing")]
    started: list[int] = []
    code_lines = nvdisasm.code_lines
    monkeypatch.setattr(nvdisasm, "code_lines", lambda arch, code: started.append(len(code)) or code_lines(arch, code))
    runner.compile_ahead(versions)
    codes = [runner.made(version).kernel.kernel.code for version in versions[:2]]
    assert started == [sum(map(len, codes))]
    assert all(runner.made(version).kernel.program.instructions for version in versions[:2])
    assert len(started) == 1

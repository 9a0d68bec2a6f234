"""Version runner: versions of a kernel are compiled, executed, compared and timed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from warplens.advice import Evaluation, Step, Suggestion, Version
from warplens.commands.suggestion.version_evaluator import UNKNOWN, SuggestRequest, proven, without_last
from warplens.commands.suggestion.version_runner import VersionRunner
from warplens.commands.target import Flags, targets
from warplens.core.run_options import RunOptions
from warplens.sass import nvdisasm
from warplens.transform import Change


def runner_of(folder: Path, text: str, totals: tuple[str, ...] = (), cooperative: bool = False) -> VersionRunner:
    """Of a kernel with its launch block."""
    path = folder / "kernel.cu"
    path.write_text(text)
    (target,) = targets(str(path), Flags(gpu="h200", cooperative=cooperative))
    return VersionRunner(target, SuggestRequest(RunOptions(), totals=totals))


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
    outcomes = {}
    for totals in ((), ("sums",)):
        runner = runner_of(tmp_path, SUM, totals=totals)
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
    runner = runner_of(tmp_path, text)
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
    runner = runner_of(tmp_path, ADDS)
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
    runner = runner_of(tmp_path, SUM.replace("65536", "262144"))
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
    runner = runner_of(tmp_path, SUM)
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
        runner = runner_of(tmp_path, text, cooperative=cooperative)
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
    runner = runner_of(tmp_path, GATHER)
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
    runner = runner_of(tmp_path, GATHER)
    runner.evaluate(Version(GATHER), (), None)
    assert runner.changed == {1}
    assert runner.expected[0] is runner.target.values()[0]
    wrong = GATHER.replace("y[i] = x[i];", "y[i] = x[i]; if (i == 9) ((float*)x)[i] = 0;")
    found = runner.evaluate(Version(wrong), (Change("", "", 8, ()),), None)
    assert found.outcome == "fault"
    assert found.note == "it writes to x, which the kernel as it is does not change"


def test_a_long_launch_is_represented_by_some_blocks_on_other_inputs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("warplens.commands.suggestion.version_evaluator.LONG", 1000)
    monkeypatch.setattr("warplens.commands.suggestion.version_runner.PROOF", 0)
    for wrong, grid, said in (
        ("", None, "on other random arrays (64 of 1,024 blocks) equal bit for bit"),
        ("", (1024, 1, 1), "on other random arrays equal bit for bit"),
        (" + (blockIdx.x == 1023 && data[0] != 85)", None, ""),
    ):
        runner = runner_of(tmp_path, SUM.replace("65536", "262144"))
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
    runner = runner_of(tmp_path, IN_PLACE)
    begin = runner.evaluate(Version(IN_PLACE), (), None)
    assert runner.changed == {0, 1}  # the second one by a block that is not in the sample
    other = Version(IN_PLACE.replace("x[i] *= 2", "x[i] = x[i] + x[i]"))
    for limit in (1e9, None, 1e9, None):
        runner.known.clear()
        found = runner.evaluate(other, (Change("", "", 8, ()),), limit)
        assert found.outcome == "equal"
    before = runner.target.values()[0].copy()
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


def test_versions_are_disassembled_together(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What cannot be compiled is left out."""
    runner = runner_of(tmp_path, GATHER)
    versions = [Version(GATHER.replace("= x[i]", f"= x[i] {more}")) for more in ("* 3.5f", "+ 7.25f", "* nothing")]
    started: list[int] = []
    code_lines = nvdisasm.code_lines
    monkeypatch.setattr(nvdisasm, "code_lines", lambda arch, code: started.append(len(code)) or code_lines(arch, code))
    runner.compile_ahead(versions)
    codes = [runner.made(version).kernel.kernel.code for version in versions[:2]]
    assert started == [sum(map(len, codes))]
    assert all(runner.made(version).kernel.program.instructions for version in versions[:2])
    assert len(started) == 1

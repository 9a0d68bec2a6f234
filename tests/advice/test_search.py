"""Search over versions of a kernel, with times that the test sets."""

from __future__ import annotations

from collections.abc import Callable

from warplens.advice import NOISE, Evaluation, Version, search
from warplens.advice.search import Evaluate
from warplens.transform import Change, LaunchFacts

SOURCE = """__global__ void add(const float* x, float* y, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    y[i] += x[i];
  }
}
"""
FACTS = LaunchFacts((1, 1, 1), (256, 1, 1))


def timed(time_of: Callable[[str], float]) -> Evaluate:
    return lambda version, changes, limit_us: Evaluation("equal", FACTS, time_of(version.text), counts={})


def quiet(what: str, done: int, of: int) -> None:
    pass


def test_the_change_that_gains_most_is_kept_and_the_search_goes_on_from_it() -> None:
    def time_of(text: str) -> float:
        return 10.0 - 2.0 * ("unroll 8" in text) - 1.0 * ("unroll 4" in text) - 3.0 * ("__restrict__" in text)

    found = search(Version(SOURCE), "add", timed(time_of), quiet)
    assert [step.change.transform for step in found.steps] == ["restrict_pointers", "unroll_loops"]
    assert found.time_us == 5.0
    assert "float* __restrict__ y" in found.end.text
    assert "#pragma unroll 8\n  for" in found.end.text


def test_a_gain_below_the_noise_of_the_model_is_not_claimed() -> None:
    found = search(Version(SOURCE), "add", timed(lambda text: 10.0 - 10 * (NOISE - 0.01) * ("restrict" in text)), quiet)
    assert not found.steps
    assert found.time_us == 10.0


def test_a_version_whose_outputs_differ_is_never_kept() -> None:
    def evaluate(version: Version, changes: tuple[Change, ...], limit_us: float | None) -> Evaluation:
        if not changes:
            return Evaluation("equal", FACTS, 10.0)
        return Evaluation("outputs differ", FACTS, None, "y[0] is 1 instead of 2")

    found = search(Version(SOURCE), "add", evaluate, quiet)
    assert not found.steps
    assert found.tried


def test_of_sampled_versions_only_the_fastest_that_is_right_is_executed_whole() -> None:
    """The fastest by its sample is wrong, the second is right, and the third is not executed any more."""
    whole: list[str] = []

    def evaluate(version: Version, changes: tuple[Change, ...], limit_us: float | None) -> Evaluation:
        title = " + ".join(change.title for change in changes)
        time = 10.0 - 4.0 * ("unroll 8" in version.text) - 3.0 * ("unroll 4" in version.text)
        time -= 2.0 * ("__restrict__" in version.text)
        if limit_us is not None:
            return Evaluation("sampled" if time < limit_us else "no gain", FACTS, time)
        whole.append(title)
        if "unroll 8" in version.text:
            return Evaluation("outputs differ", FACTS, note="y[0] is 1 instead of 2")
        return Evaluation("equal", FACTS, time)

    found = search(Version(SOURCE), "add", evaluate, quiet)
    assert [step.evaluation.outcome for step in found.steps] == ["equal", "equal"]
    assert whole[:3] == ["", "unroll the loop by 8", "unroll the loop by 4"]
    assert {step.evaluation.outcome for step in found.tried} >= {"outputs differ", "sampled"}


REDUCTION = """__global__ void sum(const int* data, int* sums, int n) {
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


def test_where_a_change_leaves_other_outputs_it_is_not_executed_in_another_size() -> None:
    facts = LaunchFacts((8192, 1, 1), (256, 1, 1))
    whole: list[str] = []

    def evaluate(version: Version, changes: tuple[Change, ...], limit_us: float | None) -> Evaluation:
        title = changes[-1].title if changes else "begin"
        if limit_us is not None:
            return Evaluation("sampled" if "adds up" in title else "no gain", facts, 5.0 if "8" in title else 6.0)
        whole.append(title)
        return Evaluation("outputs differ" if changes else "equal", facts, 10.0, "sums[0] is 3 instead of 1")

    found = search(Version(REDUCTION), "sum", evaluate, quiet)
    assert whole == ["begin", "each thread adds up 8 elements first"]
    notes = {step.change.title: step.evaluation.note for step in found.tried}
    assert notes["each thread adds up 4 elements first"] == "likewise other outputs"


def test_of_two_whose_samples_take_nearly_as_long_the_whole_launch_decides() -> None:
    def evaluate(version: Version, changes: tuple[Change, ...], limit_us: float | None) -> Evaluation:
        time = 10.0 - 4.0 * ("unroll 8" in version.text) - 3.9 * ("unroll 4" in version.text)
        if limit_us is not None:
            return Evaluation("sampled" if time < limit_us else "no gain", FACTS, time)
        return Evaluation("equal", FACTS, time - 0.5 * ("unroll 4" in version.text))

    found = search(Version(SOURCE), "add", evaluate, quiet)
    assert [step.change.title for step in found.steps] == ["unroll the loop by 4"]


def test_a_version_is_evaluated_with_all_changes_that_lead_to_it_and_the_time_to_beat() -> None:
    seen: list[tuple[tuple[str, ...], float | None]] = []

    def time_of(text: str) -> float:
        return 10.0 - 3.0 * ("__restrict__" in text) - 2.0 * ("unroll 8" in text)

    def evaluate(version: Version, changes: tuple[Change, ...], limit_us: float | None) -> Evaluation:
        seen.append((tuple(change.transform for change in changes), limit_us))
        return Evaluation(
            "equal", FACTS, 10.0 - 3.0 * ("__restrict__" in version.text) - 2.0 * ("unroll 8" in version.text)
        )

    search(Version(SOURCE), "add", evaluate, quiet)
    assert seen[0] == ((), None)
    assert (("restrict_pointers", "unroll_loops"), 7.0) in seen


def test_a_kernel_that_cannot_be_found_in_the_source_is_a_refusal() -> None:
    found = search(Version("#define K __global__ void add(int* x) {}\nK"), "add", timed(lambda text: 1.0), quiet)
    assert not found.steps
    assert [refusal.reason for refusal in found.refused] == [
        "the source has no definition of a kernel add: the macro K in line 1 makes kernels"
    ]


def test_versions_are_prepared_together_before_any_of_them_is_evaluated() -> None:
    prepared: list[set[str]] = []
    evaluated: list[str] = []

    def evaluate(version: Version, changes: tuple[Change, ...], limit_us: float | None) -> Evaluation:
        if changes:
            assert version.text in prepared[-1]
            evaluated.append(version.text)
        return Evaluation("equal", FACTS, 10.0 - 3.0 * ("__restrict__" in version.text), counts={})

    search(Version(SOURCE), "add", evaluate, quiet, lambda versions: prepared.append({v.text for v in versions}))
    assert set().union(*prepared) == set(evaluated)
    assert len(prepared) == 2

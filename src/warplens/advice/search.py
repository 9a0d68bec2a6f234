"""Search: executes what the transforms propose, keeps the change that gains most, and begins again with it.

The slow part, executing and timing a version, is the caller's `evaluate`.  Where it has timed only a sample of a long
launch, the fastest version is executed whole, and the next one only if that turns out wrong or no faster, or if their
samples take nearly as long.

After the first round only transforms that gained something are tried again, and those that had nothing to propose
before: a change may make another one possible.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from warplens.advice.significance import NOISE
from warplens.errors import UsageError
from warplens.transform import Change, KernelSource, LaunchFacts, Refusal, Transform, transforms
from warplens.transform._change import edited
from warplens.transform.syntax.for_loop import of_whole
from warplens.transform.syntax.macro_expansion import is_of_thread, with_macros_expanded

MOST_STEPS = 5
TIE = 0.02  # of the time before: by as much a time that is predicted from a small sample may be off

Outcome: TypeAlias = Literal[
    "equal", "sampled", "no gain", "same code", "outputs differ", "not compiled", "fault", "not timed"
]


@dataclass(frozen=True)
class Version:
    """A version of the kernel: source and launch.

    grid, block   of the launch, None where the original's hold
    """

    text: str
    grid: tuple[int, int, int] | None = None
    block: tuple[int, int, int] | None = None


@dataclass(frozen=True)
class Evaluation:
    """A version that was executed.

    outcome   "sampled": a part of it was timed, and outputs are not compared yet
    time_us   predicted, None where it has none;  counts: by metric name;  exact: whether outputs are equal bit for bit
    note      why it is not offered
    facts     of its launch, with the faults that the rules find in it
    """

    outcome: Outcome
    facts: LaunchFacts
    time_us: float | None = None
    note: str = ""
    exact: bool = True
    counts: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Step:
    """A change that was tried, and what came of it."""

    change: Change
    after: Version
    evaluation: Evaluation
    time_before_us: float | None
    counts_before: dict[str, float]

    @property
    def gain(self) -> float:
        """Share of the time before that is saved."""
        after, before = self.evaluation.time_us, self.time_before_us
        return 1 - after / before if after and before else 0.0


@dataclass(frozen=True)
class Suggestion:
    """steps: those kept, one on top of the other;  tried: all others;  refused: changes that were not made"""

    start: Version
    begin: Evaluation
    steps: tuple[Step, ...]
    tried: tuple[Step, ...]
    refused: tuple[Refusal, ...]

    @property
    def end(self) -> Version:
        return self.steps[-1].after if self.steps else self.start

    @property
    def time_us(self) -> float | None:
        return self.steps[-1].evaluation.time_us if self.steps else self.begin.time_us


# Of a version: all changes that lead to it, the last one last, and the time that it has to stay below by NOISE; None:
# it is executed whole.
Evaluate: TypeAlias = Callable[[Version, tuple[Change, ...], float | None], Evaluation]
Progress: TypeAlias = Callable[[str, int, int], None]
# Why a change is not made there, "" where it can be.
Refuse: TypeAlias = Callable[[KernelSource, Change, LaunchFacts], str]
# Takes the versions that will be evaluated next: what can be done for all at once is done then.
Prepare: TypeAlias = Callable[[Sequence[Version]], None]


def search(
    start: Version, kernel: str, evaluate: Evaluate, progress: Progress, prepare: Prepare = lambda versions: None,
    refuse: Refuse = lambda source, change, facts: "",
) -> Suggestion:  # fmt: skip
    """kernel: its name in the source;  progress: called with what is tried, its number, and how many there are."""
    progress("the kernel as it is", 0, 1)
    begin = now = evaluate(start, (), None)
    version, steps, tried, refused = start, list[Step](), list[Step](), list[Refusal]()
    wanted = {transform.name for transform in transforms()}
    known: set[Version] = {start}
    while len(steps) < MOST_STEPS:
        source = _parsed(version, kernel, refused)
        changes = list(_proposals(source, now.facts, wanted, refuse, refused if not steps else []))
        candidates = {_applied(version, now, change): change for change in changes}
        prepare([after for after in candidates if after not in known])
        done = []
        for number, (after, change) in enumerate(candidates.items()):
            if after in known:
                continue
            known.add(after)
            progress(change.title, number, len(candidates))
            found = evaluate(after, (*(step.change for step in steps), change), now.time_us)
            done.append(Step(change, after, found, now.time_us, now.counts))
        good = sorted((step for step in done if _gains(step)), key=lambda step: -step.gain)
        others = [step for step in done if not _gains(step)]
        while good and good[0].evaluation.outcome == "sampled":
            progress(good[0].change.title, len(done) - 1, len(done))
            first = _executed_whole(good[0], steps, evaluate)
            if _gains(first):
                good[0] = first
            else:
                others += [first, *(_as_wrong(step, first) for step in good[1:] if _alike(step, first))]
                good = [step for step in good[1:] if not _alike(step, first)]
        if len(good) > 1 and good[1].evaluation.outcome == "sampled" and good[0].gain - good[1].gain < TIE:
            progress(good[1].change.title, len(done) - 1, len(done))
            good[1] = _executed_whole(good[1], steps, evaluate)
            if _gains(good[1]) and good[1].gain > good[0].gain:
                good[:2] = good[1], good[0]
        tried += [*others, *good[1:]]
        if not good:
            break
        best = good[0]
        steps.append(best)
        version, now = best.after, best.evaluation
        wanted -= {step.change.transform for step in others} - {step.change.transform for step in good}
    return Suggestion(start, begin, tuple(steps), tuple(tried), tuple(dict.fromkeys(refused)))


def _executed_whole(step: Step, before: Sequence[Step], evaluate: Evaluate) -> Step:
    """A step of which a sample was timed."""
    changes = (*(kept.change for kept in before), step.change)
    found = evaluate(step.after, changes, None)
    return replace(step, evaluation=found if found.time_us else replace(found, time_us=step.evaluation.time_us))


def _alike(step: Step, wrong: Step) -> bool:
    """Whether a step leaves other outputs if this one does: the same change in another size, with a condition that the
    launch does not keep."""
    one, other = step.change, wrong.change
    same = (one.transform, one.line, one.promise) == (other.transform, other.line, other.promise)
    return same and bool(one.promise) and wrong.evaluation.outcome == "outputs differ"


def _as_wrong(step: Step, wrong: Step) -> Step:
    found = replace(wrong.evaluation, time_us=step.evaluation.time_us, note="likewise other outputs")
    return replace(step, evaluation=found)


def _gains(step: Step) -> bool:
    return step.evaluation.outcome in ("equal", "sampled") and step.gain >= NOISE


def _parsed(version: Version, kernel: str, refused: list[Refusal]) -> KernelSource | None:
    try:
        return KernelSource(version.text, kernel)
    except UsageError as error:
        refused.append(Refusal("", 0, str(error)))
        return None


def _proposals(
    source: KernelSource | None, facts: LaunchFacts, wanted: set[str], refuse: Refuse, refused: list[Refusal]
) -> Iterator[Change]:
    plain = with_macros_expanded(source, is_of_thread) if source is not None else None
    for transform in transforms():
        if transform.name in wanted and source is not None and plain is not None:
            for found in _proposed(transform, source, plain, facts):
                if isinstance(found, Refusal):
                    refused.append(found)
                elif reason := refuse(source, found, facts):
                    refused.append(Refusal(found.transform, found.line, f"not tried: {found.title}: {reason}"))
                else:
                    yield found


def _proposed(
    transform: Transform, source: KernelSource, plain: KernelSource, facts: LaunchFacts
) -> list[Change | Refusal]:
    """What a transform makes of a kernel, or, where that is no change, with macros written out that hide the thread."""
    found = list(transform(source, facts))
    if plain is source or any(isinstance(one, Change) for one in found):
        return found
    others = list(of_whole(source, plain, iter(transform(plain, facts))))
    return others if any(isinstance(one, Change) for one in others) else found


def _applied(version: Version, now: Evaluation, change: Change) -> Version:
    launch, old = change.launch, now.facts.grid
    grid = version.grid if launch.grid is None and launch.grid_of(old) == old else launch.grid_of(old)
    return Version(edited(version.text, change.edits), grid, launch.block or version.block)

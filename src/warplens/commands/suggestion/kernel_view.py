"""Kernel view: what a search found for one kernel, as reports show it."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import unified_diff

from warplens.advice import NOISE, RATIO_ERROR, Advice, Step, Suggestion
from warplens.report.suggestion_view import ChangeView, RejectedView, SuggestionView
from warplens.report.wording import percent
from warplens.run import Run
from warplens.transform import Refusal, transforms


def kernel_view(
    title: str, run: Run, findings: Sequence[Advice], found: Suggestion, fresh: str, launch: str, diff: str
) -> SuggestionView:
    """run: of the kernel as it is;  fresh: how outputs compare on other inputs;  launch: what becomes of it, in words;
    diff: of the files, where there are changes"""
    prediction = run.prediction
    return SuggestionView(
        title=title,
        gpu=run.machine.title,
        before_us=found.begin.time_us,
        low_us=prediction.low_us if prediction else None,
        high_us=prediction.high_us if prediction else None,
        after_us=found.time_us,
        unpredicted=run.unpredicted,
        findings=[advice.view for advice in findings],
        changes=[_change(step, fresh) for step in found.steps],
        rejected=[RejectedView(step.change.title, step.change.line, _reason(step)) for step in found.tried],
        refused=_refused([one for one in found.refused if not _mended(one, found)]),
        launch=launch,
        diff=diff if found.steps else "",
        noise=NOISE,
        ratio_error=RATIO_ERROR,
    )


def difference(before: str, after: str, name: str) -> str:
    """Unified diff of a file."""
    lines = unified_diff(before.split("\n"), after.split("\n"), f"a/{name}", f"b/{name}", lineterm="", n=2)
    return "\n".join(lines)


def _refused(refusals: Sequence[Refusal]) -> list[RejectedView]:
    """Those of one line and for one reason together: "no wide accesses, no warp for each row: ..."."""
    whats: dict[tuple[int, str], list[Refusal]] = {}
    for one in refusals:
        whats.setdefault((one.line, one.reason.partition(": ")[2] or one.reason), []).append(one)
    views = []
    for (line, why), alike in whats.items():
        names = [one.reason.partition(": ")[0] for one in alike]
        views.append(RejectedView(alike[0].transform, line, why if names[0] == why else f"{', '.join(names)}: {why}"))
    return views


def _mended(refusal: Refusal, found: Suggestion) -> bool:
    """Whether another change for the same fault of that line was made."""
    mends = {transform.name: {*transform.mends} for transform in transforms()}
    others = [step.change for step in found.steps if step.change.line == refusal.line]
    return any(mends.get(refusal.transform, set()) & mends[change.transform] for change in others)


def _change(step: Step, fresh: str) -> ChangeView:
    outputs = "equal bit for bit" if step.evaluation.exact else "equal within rounding"
    if fresh:
        outputs += f"; {fresh}"
    before, after = step.counts_before, step.evaluation.counts
    counts = {name: (before[name], after[name]) for name in after if after[name] != before.get(name)}
    return ChangeView(
        step.change.title, step.change.transform, step.change.line, step.time_before_us or 0.0,
        step.evaluation.time_us or 0.0, outputs, step.change.promise, counts,
    )  # fmt: skip


def _reason(step: Step) -> str:
    """Why a change that was tried is not offered."""
    if step.evaluation.outcome == "outputs differ" and step.gain >= NOISE:
        return f"{percent(step.gain)} less time, but {step.evaluation.note}"
    if step.evaluation.outcome not in ("equal", "sampled", "no gain"):
        return step.evaluation.note
    if step.gain >= NOISE:
        return f"{percent(step.gain)} less time; not needed beside the changes above"
    return "no measurable gain" if step.gain > -NOISE else f"{percent(-step.gain)} more time"

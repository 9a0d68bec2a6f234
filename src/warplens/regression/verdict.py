"""Verdict: what became of a kernel, by its budgets and its record in the baseline."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from warplens.core.cubin import SourceLine
from warplens.regression.budget import CountBudget, Values
from warplens.regression.kernel_record import KernelKey, KernelRecord
from warplens.regression.line_attribution import Attribution, attribute

BUDGET_FAILED, UNUSABLE = 1, 2  # exit codes


class Verdict(StrEnum):
    """Verdict on one kernel, the gravest first.

    ERROR            it cannot be compiled, launched or executed
    FAIL             a budget is not kept
    GONE             the baseline has it, the files have not
    NOT_COMPARABLE   the baseline was made by other tools or of another launch
    NEW              the baseline has not got it
    PASS             its machine code changed; budgets are kept
    IMPROVED         likewise, and of the tracked counts some are better and none worse
    UNCHANGED        the machine code is the baseline's
    """

    ERROR = "ERROR"
    FAIL = "FAIL"
    GONE = "GONE"
    NOT_COMPARABLE = "NOT COMPARABLE"
    NEW = "NEW"
    PASS = "PASS"
    IMPROVED = "IMPROVED"
    UNCHANGED = "UNCHANGED"


@dataclass(frozen=True)
class BrokenBudget:
    """A budget that is not kept.

    value, bound   its sides, in `unit`;  before: the value in the baseline, where there is one
    fails          whether it fails the build; "" or the reason why it does not: predicted, sampled
    at             the source line that it comes from mostly
    """

    budget: str
    value: float
    bound: float
    unit: str
    before: float | None
    fails: bool
    reason: str
    at: Attribution | None


@dataclass(frozen=True, slots=True)
class CountChange:
    """A tracked count that differs from the baseline's; better: None where neither direction is."""

    name: str
    unit: str
    before: float | int
    after: float | int
    better: bool | None


@dataclass(frozen=True)
class KernelVerdict:
    """What is said of one kernel.

    note       one sentence on the verdict;  line: where the kernel begins
    executed   whether it was run for this
    """

    key: KernelKey
    verdict: Verdict
    note: str = ""
    broken: tuple[BrokenBudget, ...] = ()
    changes: tuple[CountChange, ...] = ()
    line: SourceLine | None = None
    executed: bool = False
    exit_code: int = 0


@dataclass(frozen=True)
class KernelUnderTest:
    """A kernel with its record of today and, where there is one, that of the baseline."""

    now: KernelRecord
    before: KernelRecord | None
    line: SourceLine | None
    executed: bool


@dataclass(frozen=True)
class Policy:
    """What fails a build.

    tracked          budgets that say which direction of a count is better;  units: of metrics
    predictions, samples   whether budgets on these fail
    across_versions  whether counts that other versions of the tools made are compared
    baseline         name of the baseline's file, "" where there is none
    """

    tracked: Sequence[CountBudget]
    units: Mapping[str, str]
    predictions: bool = False
    samples: bool = False
    across_versions: bool = False
    baseline: str = ""


def judge(kernel: KernelUnderTest, budgets: Sequence[CountBudget], policy: Policy) -> KernelVerdict:
    """The verdict on a kernel that could be compiled and, if it had to be, executed."""
    now, before = kernel.now, kernel.before
    unchanged = before is not None and before.code == now.code and before.inputs == now.inputs
    if before is not None and unchanged:  # what the baseline did not keep is as it is today
        before = replace(before, counts={**now.counts, **before.counts})
    apart = "" if before is None else _not_comparable(now, before, policy)
    comparable = None if apart else before
    usable = [budget for budget in budgets if not budget.relative or _kept(budget, comparable)]
    lacking = [budget for budget in budgets if budget not in usable and budget not in policy.tracked]
    if comparable is not None and lacking:
        missing = ", ".join(name for name in lacking[0].names if name not in comparable.counts)
        apart = f"the baseline has no {missing}: `warplens check --save` adds it"
    broken = tuple(
        _broken(budget, kernel, comparable, policy)
        for budget in usable
        if not budget.held(now.counts, _counts(comparable))
    )
    changes = () if comparable is None else _changes(now.counts, comparable.counts, policy)
    failed = any(one.fails for one in broken)
    verdict, note, code = Verdict.PASS, "", 0
    if failed:
        verdict, code = Verdict.FAIL, BUDGET_FAILED
    elif apart:
        verdict, note, code = Verdict.NOT_COMPARABLE, apart, UNUSABLE
    elif before is None:
        verdict = Verdict.NEW if policy.baseline else Verdict.PASS
    elif unchanged:
        verdict = Verdict.UNCHANGED
    elif any(c.better for c in changes) and not any(c.better is False for c in changes):
        verdict = Verdict.IMPROVED
    return KernelVerdict(now.key, verdict, note, broken, changes, kernel.line, kernel.executed, code)


def _kept(budget: CountBudget, before: KernelRecord | None) -> bool:
    """Whether the baseline has what the budget compares with."""
    return before is not None and set(budget.measured.names) <= before.counts.keys()


def gone(record: KernelRecord) -> KernelVerdict:
    """Of a kernel that only the baseline has."""
    note = "the baseline has it, and no file has it now; if it was removed, `warplens check --save`"
    return KernelVerdict(record.key, Verdict.GONE, note, exit_code=BUDGET_FAILED)


def exit_code(verdicts: Collection[KernelVerdict]) -> int:
    """The highest of all kernels'."""
    return max((verdict.exit_code for verdict in verdicts), default=0)


def differing_tools(now: KernelRecord, before: KernelRecord) -> str:
    """ "nvrtc 13.1.0 (baseline 13.0.88)"."""
    names = sorted(now.tools.keys() | before.tools.keys())
    return ", ".join(
        f"{name} {now.tools.get(name, 'not used')} (baseline {before.tools.get(name, 'not used')})"
        for name in names
        if now.tools.get(name) != before.tools.get(name)
    )


def _not_comparable(now: KernelRecord, before: KernelRecord, policy: Policy) -> str:
    """Why counts cannot be compared, "" if they can.  Unchanged code and inputs have the same counts."""
    if now.inputs != before.inputs:
        launched = f"{now.launch or 'not launched'} (baseline {before.launch or 'not launched'})"
        what = launched if now.launch != before.launch else "its arguments or variables differ"
        return f"launched in another way: {what}; `warplens check --save` makes it the baseline"
    tools = differing_tools(now, before)
    if tools and now.code != before.code and not policy.across_versions:
        return f"made by other versions: {tools}; `--across-versions` compares, `--save` makes a new baseline"
    if now.sampled != before.sampled and now.code != before.code:
        return "counted in a part of the grid, or in all of it, unlike the baseline; see `sample`"
    return ""


def _counts(record: KernelRecord | None) -> Values | None:
    return None if record is None else record.counts


def _broken(budget: CountBudget, kernel: KernelUnderTest, before: KernelRecord | None, policy: Policy) -> BrokenBudget:
    old = None if before is None or not set(budget.names) <= before.counts.keys() else before.counts
    value, bound = budget.measured_and_bound(kernel.now.counts, old)
    reason = ""
    if budget.predicted and not policy.predictions:
        reason = "predicted"
    elif kernel.now.sampled and not policy.samples:
        reason = "sampled"
    then = None if old is None else budget.measured.of(old, 0.0)
    at = attribute(budget, kernel.now, before, kernel.line)
    return BrokenBudget(budget.text, value, bound, budget.unit, then, not reason, reason, at)


def _changes(now: Values, before: Values, policy: Policy) -> tuple[CountChange, ...]:
    upward = {budget.names[0]: budget.upward for budget in policy.tracked if len(budget.names) == 1}
    return tuple(
        CountChange(
            name, policy.units.get(name, ""), before[name], now[name],
            (now[name] > before[name]) == upward[name] if name in upward else None,
        )
        for name in before if name in now and now[name] != before[name]
    )  # fmt: skip

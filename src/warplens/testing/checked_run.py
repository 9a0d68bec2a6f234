"""Checked run: a run with check(): budgets on its counts, and an error that shows them like a diff."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from warplens.commands.kernel_counts import MachineCode, Places, with_counts, with_static_counts
from warplens.core.cubin import SourceLine
from warplens.kernel import LaunchableKernel
from warplens.regression.budget import CountBudget, Vocabulary, parse_budget
from warplens.regression.kernel_record import KernelKey, KernelRecord
from warplens.regression.line_attribution import attribute
from warplens.regression.tracked_counts import is_static
from warplens.regression.verdict import BrokenBudget
from warplens.report.definitions import definitions
from warplens.report.regression_views.check_view import amount, attributed
from warplens.run import Run


class BudgetError(AssertionError):
    """A budget is not kept; the message shows what was asked and what was counted."""


class CheckedRun:
    """A run (its attributes and metrics are here, too) whose counts can be checked."""

    def __init__(self, run: Run) -> None:
        self.run = run

    def __getattr__(self, name: str) -> Any:
        return getattr(self.run, name)

    def __getitem__(self, name: str) -> float | int:
        return self.run[name]

    def __repr__(self) -> str:
        return repr(self.run)

    def check(self, *budgets: str, against: CheckedRun | Run | None = None) -> None:
        """BudgetError if one of the budgets is not kept.

        against   the run that `baseline` means.  UsageError for a budget that makes no sense.
        """
        __tracebackhide__ = True  # pytest shows the line of the test
        defined = definitions()
        words = Vocabulary({d.name: d.unit for d in defined}, frozenset(d.name for d in defined if d.predicted))
        parsed = [parse_budget(text, words) for text in budgets]
        other = against.run if isinstance(against, CheckedRun) else against
        if other is None and (relative := next((b for b in parsed if b.relative), None)):
            raise ValueError(f"{relative.text!r} compares with a baseline: give check(..., against=run)")
        now = _record(self.run, parsed)
        before = None if other is None else _record(other, parsed)
        counts = None if before is None else before.counts
        broken = [_broken(budget, now, before) for budget in parsed if not budget.held(now.counts, counts)]
        if broken:
            head = f"{self.run.title or self.run.kernel.name}: {len(broken)} of {len(parsed)} budgets not kept"
            raise BudgetError("\n".join([head, *_lines(broken)]))


def _record(run: Run, budgets: Iterable[CountBudget]) -> KernelRecord:
    names = sorted({name for budget in budgets for name in budget.names})
    if any(budget.predicted for budget in budgets):
        run = run.timed()
    view, kernel = run.subject, run.kernel
    assert isinstance(kernel, LaunchableKernel)
    file = next(iter(kernel.cubin.sources), view.file)
    places = Places(file, file, ".")
    empty = KernelRecord(KernelKey(file, kernel.name, kernel.arch, run.machine.key), "", "", "", {}, {})
    code = MachineCode(kernel.kernel, kernel.program, kernel.cubin.sources)
    static = with_static_counts(empty, code, names, places, run.machine.limits.registers_per_thread_minimum)
    return with_counts(static, view, [name for name in names if not is_static(name)], places)


def _broken(budget: CountBudget, now: KernelRecord, before: KernelRecord | None) -> BrokenBudget:
    counts = None if before is None else before.counts
    value, bound = budget.measured_and_bound(now.counts, counts)
    then = None if counts is None else budget.measured.of(counts, 0.0)
    start = now.lines[0].place if now.lines else SourceLine(now.key.file, 1)
    return BrokenBudget(budget.text, value, bound, budget.unit, then, True, "", attribute(budget, now, before, start))


def _lines(broken: Iterable[BrokenBudget]) -> Iterator[str]:
    for one in broken:
        unit = f" {one.unit}" if one.unit else ""
        then = "" if one.before is None else f" (baseline {amount(one.before)})"
        yield f"- {one.budget}"
        yield f"+ {amount(one.value)}{unit}{then}, bound {amount(one.bound)}"
        if one.at:
            yield f"  {one.at.place.file}:{one.at.place.line}: {attributed(one)}"

"""Suggestion page: findings, the changes that were proven with their difference of the source, and what was tried."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from warplens.report.html import summary_page
from warplens.report.html.launch_page import Figure
from warplens.report.html.summary_page import PageTable, Summary, SummaryPart
from warplens.report.launch_view import LaunchView
from warplens.report.prediction_view import interval, spoken
from warplens.report.suggestion_view import ChangeView, ProgramSuggestionView, SuggestionView
from warplens.report.terminal import program_suggestion_report as program_words
from warplens.report.terminal import suggestion_report as words
from warplens.report.wording import percent


def page(views: Sequence[SuggestionView], subjects: Sequence[LaunchView]) -> str:
    """subjects: of the kernels as they are"""
    return summary_page.page([summary(view) for view in views], subjects)


def program_page(view: ProgramSuggestionView, subjects: Sequence[LaunchView]) -> str:
    """Of a whole program: what it gains, then its kernels."""
    rows = [program_words.cells(kernel, view.before_us) for kernel in view.kernels]
    columns = ("Kernel", "Launches", "Time", "Share", "Changed", "Less")
    parts = [SummaryPart("kernels", "Kernels", "modelled", table=PageTable(columns, rows, 1))]
    if view.diff:
        parts.append(SummaryPart("diff", "Source Before and After", diff=view.diff))
    sentences = list(program_words.sentences(view))
    whole = Summary(view.command, f"suggest · {view.gpu}", program_words.headline(view), sentences, [], parts)
    searched = [kernel.suggestion for kernel in view.kernels if kernel.suggestion]
    return summary_page.page([whole, *(summary(replace(one, diff="")) for one in searched)], subjects)


def summary(view: SuggestionView) -> Summary:
    sentences = [f"The launch changes: {view.launch}"] if view.launch else []
    sentences += [words.measured(view.measured)] if view.measured else []
    kicker = f"suggest · {view.gpu}"
    return Summary(view.title, kicker, words.headline(view), sentences, list(_figures(view)), list(_parts(view)))


def _figures(view: SuggestionView) -> Iterator[Figure]:
    if view.before_us is None:
        return
    if view.low_us is not None and view.high_us is not None:
        note = f"interval {interval(view.low_us, view.high_us)}"
        yield Figure("Before", spoken(view.before_us), "modelled", note, (view.low_us, view.before_us, view.high_us))
    if view.changes and view.after_us is not None:
        less = percent(1 - view.after_us / view.before_us)
        note = f"{less} less; the ratio is off by up to {percent(view.ratio_error)}"
        yield Figure("After", spoken(view.after_us), "modelled", note)


def _parts(view: SuggestionView) -> Iterator[SummaryPart]:
    if view.findings:
        items = [[f.worth(view.gpu), f.fault, *f.remedy_lines] for f in view.findings]
        yield SummaryPart("findings", "Findings", items=items)
    if view.changes:
        items = [list(_change(view, *one)) for one in enumerate(view.changes, 1)]
        yield SummaryPart("changes", "Changes", "modelled", items=items)
    if view.diff:
        yield SummaryPart("diff", "Source Before and After", diff=view.diff)
    if view.rejected:
        rows = [(found.title, str(found.line or ""), found.reason) for found in view.rejected]
        yield SummaryPart("rejected", "Tried, Not Kept", table=PageTable(("Change", "Line", "Result"), rows, 1))
    if view.refused:
        items = [[words.where(found) + found.reason] for found in view.refused]
        yield SummaryPart("refused", "Not Tried", items=items)
    yield SummaryPart("proof", "How It Was Proven", note=words.footing(view))


def _change(view: SuggestionView, number: int, change: ChangeView) -> Iterator[str]:
    less = f"{percent(change.gain)} less{words.doubt(view, change)}"
    times = f"{spoken(change.before_us)} → {spoken(change.after_us)} ({less})"
    yield f"{change.title} ({words.line_of(number, change)}): {times}"
    yield f"Outputs: {change.outputs}."
    for name, (before, after) in change.counts.items():
        yield f"{name} {before:,.0f} → {after:,.0f}"
    if change.promise:
        yield f"From now on: {change.promise}."

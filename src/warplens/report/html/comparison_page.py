"""Comparison page: what the second launch does more or less than the first, and the reports of both."""

from __future__ import annotations

from collections.abc import Iterator

from warplens.counters.comparison import Comparison
from warplens.report.html import summary_page
from warplens.report.html.summary_page import PageTable, Summary, SummaryPart, time_figure
from warplens.report.launch_view import LaunchView
from warplens.report.terminal import comparison_report as words
from warplens.report.terminal import decomposition_report
from warplens.report.wording import category_name


def page(comparison: Comparison, first: LaunchView, second: LaunchView) -> str:
    return summary_page.page([summary(comparison, first, second)], (first, second))


def summary(comparison: Comparison, first: LaunchView, second: LaunchView) -> Summary:
    taken_apart = decomposition_report.of(first, second)
    titles = words.names(comparison)
    sentences = []
    if taken_apart:
        gpu = second.machine.title
        sentences.append(decomposition_report.sentence(taken_apart, comparison.first, comparison.second, gpu))
    figures = [time_figure(name, side) for name, side in zip(titles, (first, second), strict=True)]
    return Summary(
        title="Comparison",
        kicker=f"{titles[0]}: {words.started(first)} · {titles[1]}: {words.started(second)}",
        headline=words.verdict(comparison),
        sentences=sentences,
        figures=[figure for figure in figures if figure],
        parts=list(_parts(comparison, first, second)),
        made_by=", ".join(f"{name} {version}" for name, version in second.tools.items()),
    )


def _parts(comparison: Comparison, first: LaunchView, second: LaunchView) -> Iterator[SummaryPart]:
    provenance = first.provenance if first.provenance != "exact" else second.provenance
    heads = ("", *words.names(comparison), "Difference")
    if found := words.causes(comparison):
        yield SummaryPart("causes", "Where They Come From", provenance, items=[[line] for line in found])
    if taken_apart := decomposition_report.of(first, second):
        rows = [
            (name, one, other, "" if ratio is None else f"× {ratio:.4g}")
            for name, one, other, ratio in decomposition_report.rows(taken_apart)
        ]
        table = PageTable((*heads[:3], "Ratio"), rows)
        note = decomposition_report.identity(taken_apart)
        yield SummaryPart("time", "Decomposition", "modelled", note, table)
    for kind, shown in words.by_provenance(words.shown(comparison, False)).items():
        cells = [
            (row.name, words.value(row.first), words.value(row.second), words.spoken(row.ratio)) for row in shown
        ]  # fmt: skip
        yield SummaryPart(f"metrics-{kind}", "Metrics", kind, table=PageTable((*heads[:3], "Ratio"), cells))
    unit = words.unit(comparison)
    for key, title, shares in (
        ("classes", "Instructions by Class", comparison.classes),
        ("idioms", "Instructions by Idiom", comparison.idioms),
    ):
        rows = [(category_name(row.name) or words.NO_IDIOM, *words.counts(row)) for row in shares]
        rows.append(("all", *words.counts(comparison.instructions)))
        yield SummaryPart(key, title + unit, provenance, table=PageTable(heads, rows))
    lines = []
    for line in [row for row in comparison.lines if row.difference] or list(comparison.lines):
        one, other = line.lines
        text = second.text_of(other) if other else first.text_of(one) if one else ""
        lines.append((words.both(one, other), *words.counts(line), text.strip()))
    table = PageTable(("Line", *heads[1:], "Source"), lines, texts=1)
    yield SummaryPart("lines", "Instructions by Line" + unit, provenance, table=table)

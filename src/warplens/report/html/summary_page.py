"""Summary page: a verdict and tables, then whole launches; for comparisons, suggestions and programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from warplens.report import prediction_view as time
from warplens.report.html.code_table import LIVE_ROWS
from warplens.report.html.launch_page import PLACES, Figure, view
from warplens.report.html.page_shell import render
from warplens.report.launch_view import LaunchView, blocks_of
from warplens.report.wording import RESOURCES


@dataclass(frozen=True, slots=True)
class PageTable:
    """texts: number of columns at the end that are text, not numbers"""

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    texts: int = 0


@dataclass(frozen=True, slots=True)
class SummaryPart:
    """A part of the page, with what it has of these.

    table, items   numbers in a table;  sentences in a numbered list, each with lines below it
    diff           of a source;  svg: a drawing and its title
    """

    key: str
    title: str
    provenance: str = ""
    note: str = ""
    table: PageTable | None = None
    items: Sequence[Sequence[str]] = ()
    diff: str = ""
    svg: str = ""


@dataclass(frozen=True, slots=True)
class Summary:
    """sentences: below the headline;  made_by: tools and their versions"""

    title: str
    kicker: str
    headline: str
    sentences: Sequence[str]
    figures: Sequence[Figure]
    parts: Sequence[SummaryPart]
    made_by: str = ""


def page(summaries: Sequence[Summary], subjects: Sequence[LaunchView] = ()) -> str:
    """Summaries one after the other, then the report of each launch."""
    return render(
        "summary_page.html.j2", summaries=summaries, views=[view(subject) for subject in subjects], time=time,
        blocks_of=blocks_of, resources=RESOURCES, places=PLACES, live_rows=LIVE_ROWS,
    )  # fmt: skip


def time_figure(name: str, subject: LaunchView) -> Figure | None:
    """The predicted time of a launch with its interval; None without a prediction."""
    found = subject.prediction
    if found is None:
        return None
    kept = "90 % interval" if found.coverage_measured else "assumed interval"
    note = f"{kept} {time.interval(found.low_us, found.high_us)}"
    span = found.low_us, found.time_us, found.high_us
    return Figure(name, time.spoken(found.time_us), time.provenance(found), note, span)

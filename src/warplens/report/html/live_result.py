"""Live result: what the page of `warplens serve` shows of one launch, as a piece of HTML and as numbers to compare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from warplens.counters.access_table import MemoryRow
from warplens.counters.vocabulary import ALL, EXECUTED, GLOBAL, LOCAL, SECTORS
from warplens.report import prediction_view as time
from warplens.report import tables
from warplens.report.headline import headline
from warplens.report.html.code_table import CodeTable, code_table
from warplens.report.html.launch_page import Figure, FindingRow, PrintedText, figures, finding_rows
from warplens.report.html.page_shell import render
from warplens.report.launch_view import LaunchView, blocks_of

PRINTED = 20_000  # characters of a kernel's output
MOST_ROWS = 1_500  # instructions that are listed


@dataclass(frozen=True, slots=True)
class LiveResult:
    """What live_result.html.j2 prints.  rows_left_out: instructions behind the last that is listed"""

    subject: LaunchView
    headline: str
    figures: list[Figure]
    findings: list[FindingRow]
    sectors: list[MemoryRow]
    wavefronts: list[MemoryRow]
    stalls: list[time.Stall]
    code: CodeTable
    printed: PrintedText
    rows_left_out: int

    @property
    def line_numbers(self) -> list[int]:
        """Of each place: the line in the file that is edited, 0 for a header."""
        main = next(iter(self.subject.sources), "")
        return [place.line if place.file == main else 0 for place in self.code.places]


def document(subject: LaunchView, key: str) -> dict[str, Any]:
    """html with identifiers that begin with `key`;  compared: rows of (name, value, unit, provenance);  metrics: values
    by name;  lines: executed, sectors, and the stalls' share by line."""
    text, code = subject.trace.printed, code_table(subject)
    view = LiveResult(
        subject, headline(subject), list(figures(subject)), list(finding_rows(subject)), tables.sectors(subject),
        tables.wavefronts(subject), time.stalls(subject.prediction) if subject.prediction else [], code,
        PrintedText(text[:PRINTED], max(len(text) - PRINTED, 0)), max(code.size - MOST_ROWS, 0),
    )  # fmt: skip
    return {
        "html": render(
            "live_result.html.j2", view=view, key=key, time=time, blocks_of=blocks_of, most_rows=MOST_ROWS,
        ),
        "compared": _compared(subject),
        "metrics": {name: metric.value for name, metric in subject.all_metrics.items()},
        "lines": _lines(subject),
        "predicted": subject.prediction is not None,
    }  # fmt: skip


def _compared(subject: LaunchView) -> list[tuple[str, float, str, str]]:
    rows: list[tuple[str, float, str, str]] = []
    if found := subject.prediction:
        rows.append((time.EVENT_TIME, found.time_us, "µs", time.provenance(found)))
    kind = subject.memory_provenance
    rows.append(("Warp instructions", subject["smsp__inst_executed.sum"], "", subject.provenance))
    rows.append(("Sectors", sum(row.units for row in tables.sectors(subject)), "", kind))
    rows.append(("Shared wavefronts", sum(row.units for row in tables.wavefronts(subject)), "", kind))
    rows.append(("Instructions of machine code", len(subject.program.body), "", "exact"))
    rows.append(("Registers per thread", subject.kernel.registers, "", "exact"))
    rows.append(("Theoretical occupancy", subject.occupancy.percent, "%", "exact"))
    return rows


def _lines(subject: LaunchView) -> dict[int, dict[str, float]]:
    """Of the file that is edited."""
    if not subject.lines:
        return {}
    main = next(iter(subject.sources), "")
    executed, moved = (quantity.of(subject.by_line).tolist() for quantity in (EXECUTED[ALL], SECTORS[GLOBAL | LOCAL]))
    found = {
        place.line: {"executed": executed[number], "sectors": moved[number]}
        for number, place in enumerate(subject.lines) if place.file == main
    }  # fmt: skip
    if subject.prediction:
        for row in time.stalls_by_line(subject, subject.prediction):
            if row.place.file == main and row.place.line in found:
                found[row.place.line]["stalls"] = row.share
    return found

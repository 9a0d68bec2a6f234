"""A launch as one self-contained page: verdict, time, memory, occupancy, source beside machine code, all metrics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from warplens.core.metric import Metric
from warplens.counters.access_table import MemoryRow
from warplens.model.result.prediction import Prediction
from warplens.report import prediction_view as time
from warplens.report import roofline, tables
from warplens.report.definitions import definitions
from warplens.report.finding_text import format_finding
from warplens.report.headline import headline
from warplens.report.html.code_table import LIVE_ROWS, CodeTable, code_table
from warplens.report.html.occupancy_curves import Chart, charts
from warplens.report.html.page_shell import render
from warplens.report.html.sector_map import SectorMap, sector_map
from warplens.report.launch_view import LaunchView, blocks_of
from warplens.report.memory_chart import MemoryChart, memory_chart
from warplens.report.pictures.roofline_path import roofline_path
from warplens.report.sm_timeline import page_data
from warplens.report.terminal import gpu_table, hazard_table
from warplens.report.terminal.console_layout import short
from warplens.report.terminal.gpu_table import GpuAnswer
from warplens.report.wording import RESOURCES, decimal, percent
from warplens.rules import findings

PRINTED = 100_000  # characters of a kernel's output that are on the page: about 2,000 lines
PLACES = {
    "kernel": "Kernel", "global": "Global", "local": "Local", "shared": "Shared", "l1": "L1/TEX",
    "smem": "Shared memory", "l2": "L2", "dram": "DRAM",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Figure:
    """A number of the verdict.  span: low, value and high of an interval"""

    name: str
    value: str
    provenance: str
    note: str
    span: tuple[float, float, float] | None = None


@dataclass(frozen=True, slots=True)
class FindingRow:
    """place: number of its source line among those with machine code, -1 for none;  source: the line's text
    remedy: what to write instead, where the run was advised"""

    fault: str
    text: str
    place: int
    line: int
    source: str
    remedy: list[str]


@dataclass(frozen=True, slots=True)
class MetricText:
    """A metric as the page prints it."""

    name: str
    value: str
    unit: str
    provenance: str
    meaning: str


@dataclass(frozen=True, slots=True)
class PrintedText:
    """left_out: characters that are not on the page"""

    text: str
    left_out: int


@dataclass(frozen=True, slots=True)
class TimeView:
    """What time.html.j2 prints of a prediction."""

    prediction: Prediction
    facts: dict[str, str]
    what_if: list[time.WhatIf]
    rooflines: list[str]
    stalls: list[time.Stall]
    lines: list[time.LineStalls]


@dataclass(frozen=True, slots=True)
class PageView:
    """All that the template prints of one launch."""

    subject: LaunchView
    headline: str
    figures: list[Figure]
    findings: list[FindingRow]
    mix: list[tables.MixRow]
    sectors: list[MemoryRow]
    wavefronts: list[MemoryRow]
    memory_chart: MemoryChart
    divergence: tables.Divergence
    charts: list[Chart]
    code: CodeTable
    found: list[hazard_table.HazardRow]
    checked: str
    time: TimeView | None
    metrics: list[MetricText]
    printed: PrintedText
    maps: list[SectorMap]
    timeline: str

    @property
    def executed(self) -> int:
        return int(self.subject["smsp__inst_executed.sum"])

    @property
    def contents(self) -> list[tuple[str, str]]:
        """Identifier and title of each part that the page has."""
        parts = (
            ("verdict", "Verdict", True),
            ("findings", "Findings", self.findings or self.found or self.checked),
            ("time", "Time", self.time),
            ("light", "Speed of Light", self.time),
            ("stalls", "Stalls", self.time),
            ("memory", "Memory", True),
            ("accesses", "Access Patterns", self.subject.accesses),
            ("occupancy", "Occupancy", True),
            ("instructions", "Instructions", True),
            ("floor", "Lower Bound", not self.time and self.subject.floor and self.subject.floor.bounds),
            ("code", "Source and SASS", True),
            ("timeline", "Timeline", self.subject.timeline),
            ("printed", "Printed", self.printed.text),
            ("metrics", "All Metrics", True),
        )
        return [(name, title) for name, title, there in parts if there]


def page(
    subjects: Sequence[LaunchView], by_gpu: Sequence[tuple[str, Sequence[GpuAnswer]]] = (),
    back: tuple[str, str] | None = None,
) -> str:  # fmt: skip
    """The page for one launch or several.

    by_gpu   the rows of kernels that several GPUs were asked for
    back     title and address of the page that links to this one
    """
    gpu_tables = [
        (f"{title}: {gpu_table.fastest(rows)}", [gpu_table.cells(row) for row in rows]) for title, rows in by_gpu
    ]
    return render(
        "launch_page.html.j2", views=[view(subject) for subject in subjects], by_gpu=gpu_tables, back=back, time=time,
        blocks_of=blocks_of, resources=RESOURCES, places=PLACES, live_rows=LIVE_ROWS,
    )  # fmt: skip


def view(subject: LaunchView) -> PageView:
    text = subject.trace.printed
    return PageView(
        subject,
        headline(subject),
        list(figures(subject)),
        list(finding_rows(subject)),
        tables.mix(subject),
        tables.sectors(subject),
        tables.wavefronts(subject),
        memory_chart(subject),
        tables.divergence(subject),
        charts(subject),
        code_table(subject),
        hazard_table.rows(subject),
        hazard_table.summary(subject.checks, subject.trace.hazards) if subject.checks else "",
        time_view(subject, subject.prediction) if subject.prediction else None,
        [metric_text(name, metric) for name, metric in sorted(subject.all_metrics.items())],
        PrintedText(text[:PRINTED], max(len(text) - PRINTED, 0)),
        [sector_map(use) for use in sorted(subject.accesses.buffers, key=lambda use: -use.average)]
        if subject.accesses
        else [],
        page_data(subject.timeline, subject.program) if subject.timeline else "",
    )


def figures(subject: LaunchView) -> Iterator[Figure]:
    """The numbers that stand first: time with its interval, work, use of memory, occupancy."""
    if found := subject.prediction:
        span = found.low_us, found.time_us, found.high_us
        kept = "90 % interval" if found.coverage_measured else "assumed interval"
        note = f"{kept} {time.interval(found.low_us, found.high_us)}; between two CUDA events"
        yield Figure(time.EVENT_TIME, time.spoken(found.time_us), time.provenance(found), note, span)
    executed = subject["smsp__inst_executed.sum"]
    lanes = f"{decimal(subject.lanes)} of 32 threads predicated on"
    per_warp = f"{decimal(executed / max(subject.warps, 1))} per warp, {lanes}"
    yield Figure("Warp instructions", short(int(executed)), subject.provenance, per_warp)
    for name, rows in (("Sectors moved", tables.sectors(subject)), ("Shared wavefronts", tables.wavefronts(subject))):
        if moved := sum(row.units for row in rows):
            excess = sum(row.excess for row in rows)
            note = f"{percent(excess / moved)} of them in excess of the ideal" if excess else "none above the ideal"
            yield Figure(name, short(moved), subject.memory_provenance, note)
    kind = time.provenance(found) if found else ""
    achieved = subject.all_metrics.get("sm__warps_active.avg.pct_of_peak_sustained_active")
    theoretical = f"{decimal(subject.occupancy.percent)} %"
    if achieved:
        yield Figure("Achieved occupancy", f"{achieved.value:.1f} %", kind, f"theoretical {theoretical} (exact)")
    else:
        yield Figure("Theoretical occupancy", theoretical, "exact", f"{subject.occupancy.warps} warps of an SM")


def finding_rows(subject: LaunchView) -> Iterator[FindingRow]:
    """The one that may gain most first where that is known, else the heaviest."""
    place_of = {place: number for number, place in enumerate(subject.lines)}
    found_by_fault = {found.fault: found for found in findings(subject)}
    advice = {one.fault: one for one in subject.advice}  # most gain first
    for fault in advice or found_by_fault:
        found = found_by_fault[fault]
        line = found.line
        source = subject.text_of(line).strip() if line else ""
        place = place_of.get(line, -1) if line and line.file in subject.sources else -1
        text = advice[fault].worth(subject.machine.title) if advice else format_finding(found, subject)
        remedy = advice[fault].remedy_lines if advice else []
        yield FindingRow(fault, text, place, line.line if line else 0, source, remedy)


def metric_text(name: str, metric: Metric) -> MetricText:
    meanings = {definition.name: definition.means for definition in definitions()}
    whole = float(metric.value).is_integer()
    value = f"{int(metric.value):,}" if whole else f"{metric.value:,.6g}"
    return MetricText(name, value, metric.unit, metric.provenance, meanings.get(name, ""))


def time_view(subject: LaunchView, prediction: Prediction) -> TimeView:
    return TimeView(
        prediction,
        time.facts(prediction),
        time.what_ifs(subject),
        [roofline_path({subject.title: found}) for found in roofline.rooflines(subject, prediction)],
        time.stalls(prediction),
        time.stalls_by_line(subject, prediction),
    )

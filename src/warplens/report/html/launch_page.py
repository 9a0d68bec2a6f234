"""A launch as one self-contained page: verdict, tables, occupancy curves, source beside machine code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from warplens.counters.access_table import MemoryRow
from warplens.counters.occupancy import Curve, curves
from warplens.model.result.prediction import Prediction
from warplens.report import prediction_view as time
from warplens.report import roofline, tables
from warplens.report.headline import headline
from warplens.report.launch_view import LaunchView, blocks_of
from warplens.report.pictures.roofline_path import roofline_path
from warplens.report.terminal import gpu_table, hazard_table
from warplens.report.terminal.gpu_table import GpuAnswer
from warplens.report.terminal.launch_report import spoken_shared
from warplens.report.wording import RESOURCES, category_name, count, decimal, percent

CHART_WIDTH, CHART_HEIGHT = 300, 110  # units of the drawing, without its margins


@dataclass(frozen=True, slots=True)
class Chart:
    """A curve of occupancy as a drawing: `path` for SVG, the launch's place, the ends of the axes."""

    title: str
    path: str
    x: float
    y: float
    first: int
    last: int
    at: int
    most: int


@dataclass(frozen=True, slots=True)
class SourceRow:
    """A line of the file as it stands on the page; `row` is None where it has no machine code that ran."""

    number: int
    text: str
    heat: float
    row: tables.LineRow | None
    coded: bool


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
    mix: list[tables.MixRow]
    sectors: list[MemoryRow]
    wavefronts: list[MemoryRow]
    divergence: tables.Divergence
    charts: list[Chart]
    files: list[tuple[str, list[SourceRow]]]
    code: list[tables.InstructionRow]
    found: list[hazard_table.HazardRow]
    checked: str
    time: TimeView | None


def template(name: str) -> Template:
    """A page's template in this folder."""
    loader = FileSystemLoader(Path(__file__).parent)
    environment = Environment(
        loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
    )
    environment.filters.update(
        percent=percent, decimal=decimal, count=count, category=category_name, whole=lambda amount: f"{amount:,}"
    )
    return environment.get_template(name)


def page(
    subjects: Sequence[LaunchView], by_gpu: Sequence[tuple[str, Sequence[GpuAnswer]]] = (),
    back: tuple[str, str] | None = None,
) -> str:  # fmt: skip
    """The page for one launch or several.

    by_gpu   the rows of kernels that several GPUs were asked for
    back     title and address of the page that links to this one
    """
    words = {
        "time": time, "blocks_of": blocks_of, "spoken_shared": spoken_shared, "resources": RESOURCES,
    }  # fmt: skip
    gpu_tables = [
        (f"{title}: {gpu_table.fastest(rows)}", [gpu_table.cells(row) for row in rows]) for title, rows in by_gpu
    ]
    views = [view(subject) for subject in subjects]
    return template("page.html.j2").render(views=views, by_gpu=gpu_tables, back=back, **words)


def view(subject: LaunchView) -> PageView:
    return PageView(
        subject,
        headline(subject),
        tables.mix(subject),
        tables.sectors(subject),
        tables.wavefronts(subject),
        tables.divergence(subject),
        charts(subject),
        files(subject),
        [tables.instruction_row(subject, instruction) for instruction in subject.program.body],
        hazard_table.rows(subject),
        hazard_table.summary(subject.checks, subject.trace.hazards) if subject.checks else "",
        time_view(subject, subject.prediction) if subject.prediction else None,
    )


def time_view(subject: LaunchView, prediction: Prediction) -> TimeView:
    return TimeView(
        prediction,
        time.facts(prediction),
        time.what_ifs(subject),
        [roofline_path({subject.title: found}) for found in roofline.rooflines(subject, prediction)],
        time.stalls(prediction),
        time.stalls_by_line(subject, prediction),
    )


def files(subject: LaunchView) -> list[tuple[str, list[SourceRow]]]:
    """The files whose text is known and that have machine code, each from a little above its first such line."""
    ran = {row.place: row for row in tables.lines(subject)}
    most = max((row.executed for row in ran.values()), default=1)
    places = {(place.file, place.line): place for place in subject.lines}
    shown = []
    for name, text in subject.sources.items():
        lines = [line for file, line in places if file == name]
        if not lines:
            continue
        rows = []
        for number, content in enumerate(text.split("\n"), 1):
            place = places.get((name, number))
            row = ran.get(place) if place else None
            heat = row.executed / most if row else 0.0
            rows.append(SourceRow(number, content.rstrip("\r"), heat, row, place is not None))
        shown.append((name, rows[max(min(lines) - 4, 0) : max(lines) + 3]))
    return shown


def charts(subject: LaunchView) -> list[Chart]:
    kernel, launch = subject.kernel, subject.launch
    around = curves(
        subject.machine, kernel.registers, launch.threads_per_block, kernel.shared_bytes, launch.shared,
        kernel.barriers,
    )  # fmt: skip
    most = subject.machine.limits.warps_per_multiprocessor
    warps = subject.occupancy.warps
    return [
        chart("Registers per thread", around.registers, kernel.registers, warps, most),
        chart("Threads per block", around.block_threads, launch.threads_per_block, warps, most),
        chart("Shared memory per block, bytes", around.shared_bytes, kernel.shared_bytes + launch.shared, warps, most),
    ]


def chart(title: str, curve: Curve, at: int, warps: int, most: int) -> Chart:
    """The curve as steps: it holds its height up to the next point."""
    first, last = curve[0][0], curve[-1][0]

    def x(value: float) -> float:
        return round((value - first) / (last - first) * CHART_WIDTH, 1)

    def y(value: float) -> float:
        return round((1 - value / most) * CHART_HEIGHT, 1)

    path = f"M0 {y(curve[0][1])}"
    height = curve[0][1]
    for value, resident in curve[1:]:
        if resident != height:
            path += f"H{x(value)}V{y(resident)}"
            height = resident
    return Chart(title, path + f"H{CHART_WIDTH}", min(x(at), CHART_WIDTH), y(warps), first, last, at, most)

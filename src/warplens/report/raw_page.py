"""Metrics of launches as `ncu --csv --page raw --print-units base` prints them: names, units, a row a launch."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from warplens.control_characters import visible
from warplens.core.cubin import chip_number
from warplens.core.launch import Launch
from warplens.core.metric import Metric
from warplens.report.json.document import number
from warplens.report.launch_view import LaunchView
from warplens.report.metric_selection import picked

ABOUT = (
    "ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size", "Grid Size",
    "Device", "CC",
)  # fmt: skip
DEFAULT_STREAM = 7  # as Nsight Compute numbers it
NOT_THERE = "n/a"  # as Nsight Compute prints of what a GPU has not counted


@dataclass(frozen=True)
class RawLaunch:
    """Raw launch: a row of the page.  Without a program no process took part: those columns are the same in each run.

    stream   7 is the default stream's number
    """

    kernel: str
    launch: Launch
    arch: str
    metrics: Mapping[str, Metric]
    number: int
    process: int = 0
    process_name: str = "warplens"
    stream: int = DEFAULT_STREAM
    device: str | int = 0


def page(subjects: Sequence[LaunchView], names: Sequence[str] | None, by_gpu: bool = False) -> str:
    """A row for each launch.

    by_gpu    the column Device has the GPU's name; it is 0 otherwise, as of the only GPU of a machine
    """
    rows = [
        RawLaunch(
            subject.title, subject.launch, subject.kernel.arch, subject.all_metrics, place,
            device=subject.machine.key if by_gpu else 0,
        )
        for place, subject in enumerate(subjects)
    ]  # fmt: skip
    return page_of(rows, names)


def page_of(launches: Sequence[RawLaunch], names: Sequence[str] | None) -> str:
    """A column for each name, without names for each metric that one of the launches has."""
    rows = [picked(names, launch.metrics) for launch in launches]
    columns = sorted({name for row in rows for name in row}) if names is None else list(names)
    units = {name: metric.unit for row in rows for name, metric in row.items() if metric}
    written = io.StringIO()
    out = csv.writer(written, quoting=csv.QUOTE_ALL, lineterminator="\n")
    out.writerow([*ABOUT, *columns])
    out.writerow(["" for _ in ABOUT] + [units.get(name, "") for name in columns])
    for launch, row in zip(launches, rows, strict=True):
        out.writerow([*about(launch), *(cell(row.get(name)) for name in columns)])
    return visible(written.getvalue())


def about(launch: RawLaunch) -> tuple[str | int, ...]:
    shape, chip = launch.launch, chip_number(launch.arch)
    return (
        launch.number, launch.process, launch.process_name, "127.0.0.1", launch.kernel, 1, launch.stream,
        str(tuple(shape.block)), str(tuple(shape.grid)), launch.device, f"{chip // 10}.{chip % 10}",
    )  # fmt: skip


def cell(metric: Metric | None) -> str:
    value = None if metric is None else number(metric.value)
    if value is None:
        return NOT_THERE
    return str(value) if isinstance(value, int) else f"{value:.6f}"

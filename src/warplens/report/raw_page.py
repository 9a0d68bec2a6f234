"""Metrics of launches as `ncu --csv --page raw --print-units base` prints them: names, units, a row a launch."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from warplens.control_characters import visible
from warplens.core.cubin import chip_number
from warplens.core.metric import Metric
from warplens.report.json.document import number
from warplens.report.launch_view import LaunchView
from warplens.report.metric_selection import picked

ABOUT = (
    "ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size", "Grid Size",
    "Device", "CC",
)  # fmt: skip
NOT_THERE = "n/a"  # as Nsight Compute prints of what a GPU has not counted


def page(subjects: Sequence[LaunchView], names: Sequence[str] | None, by_gpu: bool = False) -> str:
    """A column for each name, without names for each metric that one of the launches has.

    by_gpu    the column Device has the GPU's name; it is 0 otherwise, as of the only GPU of a machine
    """
    rows = [picked(names, subject.all_metrics) for subject in subjects]
    columns = sorted({name for row in rows for name in row}) if names is None else list(names)
    units = {name: metric.unit for row in rows for name, metric in row.items() if metric}
    written = io.StringIO()
    out = csv.writer(written, quoting=csv.QUOTE_ALL, lineterminator="\n")
    out.writerow([*ABOUT, *columns])
    out.writerow(["" for _ in ABOUT] + [units.get(name, "") for name in columns])
    for place, (subject, row) in enumerate(zip(subjects, rows, strict=True)):
        device = subject.machine.key if by_gpu else 0
        out.writerow([*about(place, subject, device), *(cell(row.get(name)) for name in columns)])
    return visible(written.getvalue())


def about(place: int, subject: LaunchView, device: str | int) -> tuple[str | int, ...]:
    """No process and no host took part: theirs are the same in every run."""
    launch, chip = subject.launch, chip_number(subject.kernel.arch)
    return (
        place, 0, "warplens", "127.0.0.1", subject.title, 1, 7, str(tuple(launch.block)), str(tuple(launch.grid)),
        device, f"{chip // 10}.{chip % 10}",
    )  # fmt: skip


def cell(metric: Metric | None) -> str:
    value = None if metric is None else number(metric.value)
    if value is None:
        return NOT_THERE
    return str(value) if isinstance(value, int) else f"{value:.6f}"

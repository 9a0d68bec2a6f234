"""Result table: a lab's table from its rungs' records and measurements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from warplens.core.metric import Metric
from warplens.labs.columns import value
from warplens.labs.lab import Lab
from warplens.labs.peak_share import limit, share
from warplens.labs.rank_order import rank_inversions
from warplens.labs.result_files import ResultRecord
from warplens.labs.rung import Rung
from warplens.launchspec.expression import Names
from warplens.machine import Machine, machine
from warplens.report.lab.lab_table import LabRow, LabTable, MeasuredTime

Times = Mapping[str, MeasuredTime]


def sheet(
    lab: Lab, size: str, names: Names | None, gpus: Sequence[str], rungs: Sequence[Rung],
    records: Mapping[str, ResultRecord], measured: Times, unpredicted: Mapping[str, str] = {},
) -> LabTable:  # fmt: skip
    """records, measured, unpredicted: by rung title; a row of `measured` for no rung is a library's."""
    first = machine(gpus[0])
    rows = tuple(
        row(lab, rung, names, first, records[rung.entry.title], measured.get(rung.entry.title), unpredicted)
        for rung in rungs
    )
    titles = {rung.entry.title for rung in lab.rungs}
    entry = lab.rungs[0].entry
    return LabTable(
        key=lab.key, title=lab.file.title, lesson=lab.file.lesson, size=size, columns=tuple(lab.file.columns),
        gpus=tuple(gpus), limit=limit(entry.work, lab.file.names(entry, names), first), rows=rows,
        libraries=tuple(time for name, time in measured.items() if name not in titles),
        orders=rank_inversions(rows, gpus[0]),
    )  # fmt: skip


def row(
    lab: Lab, rung: Rung, names: Names | None, gpu: Machine, kept: ResultRecord, time: MeasuredTime | None,
    unpredicted: Mapping[str, str],
) -> LabRow:  # fmt: skip
    entry = rung.entry
    known = lab.file.names(entry, names)
    forecast = kept.predicted.get(gpu.key)
    taken = time.time_us if time else forecast.time_us if forecast else None
    metrics = dict(kept.metrics)
    if taken:
        metrics["time_us"] = Metric(taken, "us", "measured" if time else "modelled")
    return LabRow(
        title=entry.title, file=entry.file, teaches=entry.teaches, published=entry.published,
        cells=tuple(value(text, metrics, known) for text in lab.file.columns.values()),
        predicted=kept.predicted, unpredicted=unpredicted.get(entry.title, ""), measured=time,
        share=share(entry.work, known, gpu, taken) if taken else None,
    )  # fmt: skip


def recorded(times: Sequence[MeasuredTime], size: str, gpu: str) -> dict[str, MeasuredTime]:
    """The recorded rows of one size and GPU by rung."""
    devices = machine(gpu).device_names
    return {time.rung: time for time in times if time.size == size and time.gpu in devices}

"""Measurement report: measured values next to modelled ones."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console

from warplens.core.metric import Metric
from warplens.hardware import Timing
from warplens.model import Prediction
from warplens.report.prediction_view import KEY_METRICS, spoken
from warplens.report.terminal.console_layout import grid_of

SCHEMA_VERSION = 1


@dataclass(frozen=True)
class TimeComparison:
    """One counter: modelled or exact, and measured."""

    name: str
    ours: Metric
    measured: Metric


@dataclass(frozen=True)
class Measured:
    """prediction: None where there is none, and `unpredicted` says why;  counters: () without Nsight Compute."""

    title: str
    timing: Timing
    prediction: Prediction | None
    unpredicted: str
    counters: tuple[TimeComparison, ...]

    @property
    def error(self) -> float | None:
        """Predicted over measured, less 1."""
        return self.prediction.time_us / self.timing.microseconds - 1 if self.prediction else None


def show(found: Measured, out: Console) -> None:
    timing, prediction = found.timing, found.prediction
    table = grid_of(found.title, "Time", "from", "to")
    spread = map(spoken, (timing.microseconds, timing.low, timing.high))
    table.add_row(f"measured, L2 swept, {timing.runs} runs", *spread)
    table.add_row("measured, run before", spoken(timing.warm), "", "")
    if prediction:
        table.add_row("predicted", *map(spoken, (prediction.time_us, prediction.low_us, prediction.high_us)))
        duration = prediction.duration_us, prediction.duration_low_us, prediction.duration_high_us
        table.add_row("predicted gpu__time_duration", *map(spoken, duration))
    out.print(table)
    if prediction:
        out.print(f"predicted is {found.error:+.1%} of measured: {prediction.limit}")
    else:
        out.print(f"no prediction: {found.unpredicted}")
    out.print(f"on the {timing.gpu} at {timing.megahertz:.0f} MHz, by CUDA events", style="dim")
    beside = grid_of("Counter", "Modelled" if prediction else "Exact", "Measured", "Unit")
    beside.columns[0].no_wrap, beside.columns[0].overflow = False, "fold"  # some names are longer than there is room
    for row in found.counters:
        beside.add_row(label(row.name), amount(row.ours), amount(row.measured), row.ours.unit)
    if beside.row_count:
        out.print()
        out.print(beside)
    else:
        out.print("no counters: Nsight Compute's ncu is not on the PATH", style="dim")


ROOM = 42
TIMES = ("time_us", "low_us", "high_us", "duration_us", "duration_low_us", "duration_high_us")
SPOKEN = {name: spoken for spoken, names in KEY_METRICS for name in names}
STALL = re.compile(r"smsp__average_warps_issue_stalled_(\w+)_per_issue_active\.ratio")


def label(name: str) -> str:
    """Nsight's name; of a stall its reason, and of others what Nsight's pages call them, where a line is too short."""
    if stall := STALL.fullmatch(name):
        return f"stalled: {stall[1]}"
    return SPOKEN.get(name, name) if len(name) > ROOM else name


def amount(metric: Metric) -> str:
    return f"{metric.value:,.0f}" if abs(metric.value) >= 1000 else f"{metric.value:.3g}"


def document(rows: Iterable[Measured]) -> str:
    """One JSON document."""
    return json.dumps({"version": SCHEMA_VERSION, "kernels": [_row(found) for found in rows]}, indent=2) + "\n"


def _row(found: Measured) -> Mapping[str, Any]:
    prediction = found.prediction
    return {
        "kernel": found.title,
        "measured": asdict(found.timing),
        "predicted": {name: getattr(prediction, name) for name in (*TIMES, "limit")} if prediction else None,
        "unpredicted": found.unpredicted,
        "metrics": {
            row.name: {"unit": row.ours.unit, row.ours.provenance: row.ours.value, "measured": row.measured.value}
            for row in found.counters
        },
    }

"""Readings: converts measurements to rows of a CSV file, and back."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from pathlib import Path

from warplens.calibration.bench import Reading
from warplens.errors import UsageError

COLUMNS = ("what", "parameter", "value", "low", "high", "unit", "bytes", "gpu", "date", "driver", "tools")
Row = Mapping[str, str]


def rows(readings: Iterable[Reading], gpu: str, date: str, driver: str, tools: str) -> list[Row]:
    """what: the trial's name up to the first comma;  bytes: that the launch moves, where they count."""
    return [_row(reading, gpu, date, driver, tools) for reading in readings]


def _row(reading: Reading, gpu: str, date: str, driver: str, tools: str) -> Row:
    what, _, parameter = reading.trial.name.partition(", ")
    if reading.share is not None:
        parameter = ", ".join(filter(None, [parameter, f"percentile {reading.share}"]))
    values = (f"{value:.6g}" for value in (reading.value, reading.low, reading.high))
    unit = "us" if reading.trial.reads == "time" else "cycles"
    fields = (what, parameter, *values, unit, str(reading.trial.moves or ""), gpu, date, driver, tools)
    return dict(zip(COLUMNS, fields, strict=True))


def text_of(found: Iterable[Row]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(found)
    return out.getvalue()


def read(path: Path) -> dict[str, Row]:
    """Rows by name of the trial.  UsageError for a file that is none."""
    try:
        table = csv.DictReader(path.read_text(encoding="utf-8").splitlines())
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}") from None
    if tuple(table.fieldnames or ()) != COLUMNS:
        raise UsageError(f"{path} is no record of a calibration: it needs the columns {', '.join(COLUMNS)}")
    return {_name(row): row for row in table}


def durations(path: Path) -> dict[str, float]:
    """Microseconds of gpu__time_duration.sum by name of the trial, from a file of Nsight Compute's counters."""
    with path.open(encoding="utf-8", newline="") as file:
        return {_name(row): float(row["gpu__time_duration.sum"]) / 1000 for row in csv.DictReader(file)}


def _name(row: Row) -> str:
    return ", ".join(filter(None, [row["what"], row["parameter"]]))

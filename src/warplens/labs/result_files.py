"""Result files of a lab: results.csv (computed here) and measured.csv (measured on GPUs)."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from warplens.core.metric import Metric, Provenance
from warplens.errors import UsageError
from warplens.labs.rung import RungResult
from warplens.report.lab.lab_table import MeasuredTime, Predicted
from warplens.system.atomic_write import write_whole

RESULTS, MEASURED = "results.csv", "measured.csv"
COLUMNS = ("size", "rung", "quantity", "value", "provenance")
MEASURED_COLUMNS = (
    "date", "gpu", "driver", "cuda", "versions", "size", "rung", "time_us", "low_us", "high_us", "runs", "megahertz",
    "counters_compared", "counters_equal", "warm_us",
)  # fmt: skip
TIMES = ("predicted_us", "predicted_low_us", "predicted_high_us")
DIGITS = 4  # significant digits of modelled times: as printed; further ones differ between host processors


@dataclass(frozen=True, slots=True)
class ResultRecord:
    """Result record: one rung at one size in results.csv: its metrics, and its time on each GPU."""

    metrics: Mapping[str, Metric]
    predicted: Mapping[str, Predicted]


Key = tuple[str, str]  # size and rung
Results = dict[Key, ResultRecord]


def record(outcomes: Mapping[str, RungResult], names: Iterable[str]) -> ResultRecord:
    """The record of the results for each GPU; the counts are those of the first."""
    first = next(iter(outcomes.values()))
    metrics = {name: first.metrics[name] for name in names if name in first.metrics}
    return ResultRecord(metrics, {gpu: found.predicted for gpu, found in outcomes.items() if found.predicted})


def lines(size: str, rung: str, kept: ResultRecord) -> list[str]:
    """The rows of results.csv for a rung."""
    rows: list[tuple[str, str, str]] = []
    rows += [(name, exact_number(metric.value), metric.provenance) for name, metric in kept.metrics.items()]
    for gpu, found in kept.predicted.items():
        times = zip(TIMES, (found.time_us, found.low_us, found.high_us), strict=True)
        source = f"modelled {gpu}" + ("" if found.calibrated else " uncalibrated")
        rows += [(name, f"{time:.{DIGITS}g}", source) for name, time in times if time is not None]
    return [f"{size},{rung},{','.join(row)}" for row in rows]


def exact_number(value: float | int) -> str:
    return str(value) if isinstance(value, int) else f"{value:.8g}"


def text(kept: Iterable[str]) -> str:
    return "\n".join([",".join(COLUMNS), *kept]) + "\n"


def read_results(folder: Path) -> Results:
    """Reads results.csv; empty if there is none.  UsageError for a file of another format."""
    rows = _rows(folder / RESULTS, COLUMNS)
    found: dict[Key, tuple[dict[str, Metric], dict[str, dict[str, str]]]] = {}
    for row in rows:
        metrics, times = found.setdefault((row["size"], row["rung"]), ({}, {}))
        provenance, name = row["provenance"], row["quantity"]
        if name in TIMES:
            times.setdefault(provenance, {})[name] = row["value"]
        elif provenance in get_args(Provenance):
            metrics[name] = Metric(number(row["value"]), "", provenance)  # type: ignore[arg-type]
    return {key: ResultRecord(metrics, dict(map(_time, times.items()))) for key, (metrics, times) in found.items()}


def _time(item: tuple[str, dict[str, str]]) -> tuple[str, Predicted]:
    words, values = item[0].split(), item[1]
    low, high = (float(values[name]) if name in values else None for name in TIMES[1:])
    return words[1], Predicted(words[1], float(values[TIMES[0]]), low, high, "", "uncalibrated" not in words)


def number(value: str) -> float | int:
    return int(value) if value.lstrip("-").isdigit() else float(value)


def read_measured(folder: Path) -> list[MeasuredTime]:
    """The rows of measured.csv in their order; later ones replace earlier ones of the same GPU, size and rung."""
    found: dict[tuple[str, str, str], MeasuredTime] = {}
    for row in _rows(folder / MEASURED, MEASURED_COLUMNS[:8]):
        time = MeasuredTime(
            gpu=row["gpu"], date=row["date"], driver=row["driver"], cuda=row["cuda"], versions=row["versions"],
            size=row["size"], rung=row["rung"], time_us=float(row["time_us"]), low_us=_maybe(row, "low_us"),
            high_us=_maybe(row, "high_us"), warm_us=_maybe(row, "warm_us"), runs=int(_maybe(row, "runs") or 0),
            megahertz=_maybe(row, "megahertz"), compared=int(_maybe(row, "counters_compared") or 0),
            equal=int(_maybe(row, "counters_equal") or 0),
        )  # fmt: skip
        key = time.gpu, time.size, time.rung
        found.pop(key, None)
        found[key] = time
    return list(found.values())


def _maybe(row: Mapping[str, str], name: str) -> float | None:
    return float(row[name]) if row.get(name) else None


def write_measured(folder: Path, times: Iterable[MeasuredTime]) -> None:
    """Adds rows to measured.csv; rows of the same GPU, size and rung are replaced."""
    fresh = list(times)
    gone = {(time.gpu, time.size, time.rung) for time in fresh}
    kept = [time for time in read_measured(folder) if (time.gpu, time.size, time.rung) not in gone]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(MEASURED_COLUMNS)
    writer.writerows(_measured_row(time) for time in [*kept, *fresh])
    write_whole(folder / MEASURED, out.getvalue().encode())


def _measured_row(time: MeasuredTime) -> list[str]:
    def spoken(amount: float | None, digits: int = 3) -> str:
        return "" if amount is None else f"{amount:.{digits}f}"

    return [
        time.date, time.gpu, time.driver, time.cuda, time.versions, time.size, time.rung, spoken(time.time_us),
        spoken(time.low_us), spoken(time.high_us), str(time.runs), spoken(time.megahertz, 0),
        str(time.compared or ""), str(time.equal) if time.compared else "", spoken(time.warm_us),
    ]  # fmt: skip


def _rows(path: Path, wanted: Iterable[str]) -> list[dict[str, str]]:
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        table = csv.DictReader(line for line in file if not line.startswith("#"))
        if missing := set(wanted) - set(table.fieldnames or ()):
            raise UsageError(f"{path} has no column {min(missing)}: write it again with `warplens lab --write`")
        return list(table)

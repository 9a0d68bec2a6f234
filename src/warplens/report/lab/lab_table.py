"""A lab's table: its nouns, and how it looks in a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from rich.console import Console
from rich.text import Text

from warplens.core.metric import Metric
from warplens.report.prediction_view import digits, spoken
from warplens.report.terminal.console_layout import GAP, facts, grid_of, table_width, titled

PAIRS = 6  # of rungs in another order that are told


@dataclass(frozen=True, slots=True)
class Predicted:
    """gpu: its key;  low_us, high_us: None where the model gives no interval;  limit: "" where it gives none."""

    gpu: str
    time_us: float
    low_us: float | None
    high_us: float | None
    limit: str
    calibrated: bool


@dataclass(frozen=True, slots=True)
class MeasuredTime:
    """A row of measured.csv: microseconds with L2 swept before each run (warm_us: not swept).

    gpu       as the driver reports it;  driver: its version, "" if unknown;  cuda: the version that it supports
    versions  of compiler, profiler or library
    rung      its title, or a library's function such as "torch.sum"
    compared, equal   counters of Nsight Compute at the small size
    fresh     measured just now, on this machine
    """

    gpu: str
    date: str
    driver: str
    cuda: str
    versions: str
    size: str
    rung: str
    time_us: float
    low_us: float | None = None
    high_us: float | None = None
    warm_us: float | None = None
    runs: int = 0
    megahertz: float | None = None
    compared: int = 0
    equal: int = 0
    fresh: bool = False


@dataclass(frozen=True, slots=True)
class LabRow:
    """One rung.

    cells      one for each column of the sheet, None where the rung has no such number
    predicted  by GPU;  unpredicted: why there is none
    share      of the limit, from the measured time where there is one, else from the predicted one
    """

    title: str
    file: str
    teaches: str
    published: tuple[str, ...]
    cells: tuple[Metric | None, ...]
    predicted: Mapping[str, Predicted]
    unpredicted: str
    measured: MeasuredTime | None
    share: float | None


@dataclass(frozen=True, slots=True)
class LabTable:
    """A lab at one size.

    key, title, lesson   of the lab;  size: "small", "full" or "n=1024"
    columns    headings of the cells;  gpus: keys, the first is the one that the rest speaks of
    limit      what `share` is a share of: "DRAM", "FP32" or ""
    libraries  what libraries take for the same
    orders     pairs of rungs, in prediction order, that the GPU orders the other way round
    """

    key: str
    title: str
    lesson: str
    size: str
    columns: tuple[str, ...]
    gpus: tuple[str, ...]
    limit: str
    rows: tuple[LabRow, ...]
    libraries: tuple[MeasuredTime, ...]
    orders: tuple[tuple[str, str], ...]


def show(sheet: LabTable, out: Console) -> None:
    out.print(Text(f"{sheet.title}: {sheet.key}, {size_told(sheet.size)}", style="bold"))
    headings, rows = table(sheet)
    for place, part in enumerate(parts(headings, rows, out.width)):
        drawn = grid_of("Rung", *(headings[column] for column in part))
        shown = [[row[column] for column in (0, *part)] for row in (headings, *rows)]
        broken = table_width(shown[0][1:], shown[1:]) > out.width
        for drawn_column, column in zip(drawn.columns[1:], part, strict=True):
            drawn_column.no_wrap = False
            drawn_column.width = narrowest(headings, rows, column) if broken else None
        for row in shown[1:]:
            drawn.add_row(*map(Text, row))
        out.print(Text("") if place else heading())
        out.print(drawn)
    if told := lessons(sheet):
        out.print(titled("What Each Rung Shows", "", facts({name: "\n".join(said) for name, said in told.items()})))
        out.print()
    for line in foot(sheet):
        out.print(Text(line, style="dim"))


def lessons(sheet: LabTable) -> dict[str, list[str]]:
    """By rung, or first and last rung of a sweep: what it shows, and the model's limit on the first GPU where that is
    known and one for all of them."""
    groups = [list(rows) for _, rows in groupby((row for row in sheet.rows if row.teaches), lambda row: row.teaches)]
    return {_first_to_last(rows): [rows[0].teaches, *_limit(rows, sheet.gpus[0])] for rows in groups}


def _first_to_last(rows: Sequence[LabRow]) -> str:
    return rows[0].title if len(rows) == 1 else f"{rows[0].title} to {rows[-1].title.rpartition('_')[2]}"


def _limit(rows: Sequence[LabRow], gpu: str) -> list[str]:
    limits = {found.limit if (found := row.predicted.get(gpu)) else "" for row in rows}
    (limit,) = limits if len(limits) == 1 else ("",)
    return [f"Modelled limit: {limit}"] if limit else []


def heading() -> Text:
    kinds = "counts are exact unless marked, predictions modelled"
    return Text.assemble("\n", ("Rungs", "bold cyan"), (f"  {kinds}", "dim"))


def parts(headings: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[list[int]]:
    """The columns behind the first, in as many tables as are needed for the width."""
    first = max(len(row[0]) for row in rows)
    found: list[list[int]] = [[]]
    left = width - first - GAP
    for column in range(1, len(headings)):
        wanted = narrowest(headings, rows, column) + GAP
        if wanted > left and found[-1]:
            found.append([])
            left = width - first - GAP
        found[-1].append(column)
        left -= wanted
    return found


def narrowest(headings: Sequence[str], rows: Sequence[Sequence[str]], column: int) -> int:
    """The width of a column whose heading is broken between words only."""
    return max(len(text) for text in (*headings[column].split(), *(row[column] for row in rows)))


def size_told(size: str) -> str:
    return f"{size} size" if size in ("small", "full") else size


def table(sheet: LabTable) -> tuple[list[str], list[list[str]]]:
    """Headings and rows in words: rung, counts, predicted times, measured time, share."""
    measured = any(row.measured for row in sheet.rows) or bool(sheet.libraries)
    times = [f"Predicted {gpu}" if len(sheet.gpus) > 1 else "Predicted" for gpu in sheet.gpus]
    kinds = [column_kind(sheet, place) for place in range(len(sheet.columns))]
    counts = [f"{name} ({kind})" if kind else name for name, kind in zip(sheet.columns, kinds, strict=True)]
    headings = ["Rung", *counts, *times]
    headings += ["Measured"] * measured + [f"of {sheet.limit}"] * bool(sheet.limit)
    return headings, [
        [row.title, *map(cell, row.cells, kinds), *(forecast(row, gpu) for gpu in sheet.gpus)]
        + [measurement(row.measured)] * measured + [percent(row.share)] * bool(sheet.limit)
        for row in sheet.rows
    ] + [
        [library.rung, *["" for _ in sheet.columns], *["" for _ in sheet.gpus], measurement(library)]
        + [""] * bool(sheet.limit) for library in sheet.libraries
    ]  # fmt: skip


def column_kind(sheet: LabTable, place: int) -> str:
    """What all numbers of a column are, if they are not exact; "" where they differ."""
    kinds = {metric.provenance for row in sheet.rows if (metric := row.cells[place])}
    return kinds.pop() if len(kinds) == 1 and "exact" not in kinds else ""


def cell(metric: Metric | None, said_above: str) -> str:
    if metric is None:
        return "–"
    value = metric.value
    said = f"{value:,}" if isinstance(value, int) else f"{value:,.0f}" if value.is_integer() else digits(value)
    return said if metric.provenance in ("exact", said_above) else f"{said} ({metric.provenance})"


def forecast(row: LabRow, gpu: str) -> str:
    found = row.predicted.get(gpu)
    if found is None:
        return "–"
    return spoken(found.time_us) + ("" if found.calibrated else "*")


def measurement(time: MeasuredTime | None) -> str:
    return spoken(time.time_us) if time else "–"


def percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.0f} %"


def foot(sheet: LabTable) -> list[str]:
    """What stands below the table."""
    lines = [f"Predicted on {', '.join(sheet.gpus)}: modelled."]
    if any(not found.calibrated for row in sheet.rows for found in row.predicted.values()):
        lines[0] += " * uncalibrated: the speeds of this GPU are public numbers, not our measurements."
    if told := [row.measured for row in sheet.rows if row.measured]:
        lines += dict.fromkeys(provenance(time) for time in (*told, *sheet.libraries))
        compared, equal = sum(time.compared for time in told), sum(time.equal for time in told)
        if compared:
            lines.append(f"Counters of Nsight Compute at the small size: {equal:,} of {compared:,} equal ours.")
    lines += [f"{row.title}: no prediction: {row.unpredicted}" for row in sheet.rows if row.unpredicted]
    if sheet.orders:
        pairs = "; ".join(f"{first} and {second}" for first, second in sheet.orders[:PAIRS])
        more = f"; and {len(sheet.orders) - PAIRS} pairs more" if len(sheet.orders) > PAIRS else ""
        lines.append(f"Prediction and measurement order these rungs differently: {pairs}{more}.")
    published = groupby((row for row in sheet.rows if row.published), lambda row: row.published)
    return lines + [f"Published: {_first_to_last(list(rows))}: {'; '.join(said)}." for said, rows in published]


def provenance(time: MeasuredTime) -> str:
    """ "Measured on 2026-11-21, recorded: NVIDIA H200, driver 580.159.04 for CUDA 13.0, nvrtc ...; L2 swept ..."."""
    when = "just now" if time.fresh else f"on {time.date}, recorded"
    tools = f", {time.versions}" if time.versions else ""
    driver = f"driver {time.driver}" if time.driver else "driver"
    swept = "" if time.warm_us is None else "L2 swept before each run, "
    return f"Measured {when}: {time.gpu}, {driver} for CUDA {time.cuda}{tools}; {swept}median."


def headline(rows: Sequence[tuple[str, str, str, int]], out: Console) -> None:
    """The list of labs: name, title, lesson, number of rungs."""
    drawn = grid_of("Lab", "Lesson", "Rungs", wide="Title")
    for name, title, lesson, rungs in rows:
        drawn.add_row(name, title, lesson, str(rungs))
    out.print(drawn)

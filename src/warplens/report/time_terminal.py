"""A prediction in the terminal: time, speed of light, roofline, stalls.  F7."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from warplens.model.prediction import Prediction
from warplens.report import time
from warplens.report.layout import facts, grid_of, titled
from warplens.report.roofline import rooflines
from warplens.report.subject import Subject
from warplens.report.verdict import share

BAR = 12  # characters that are 100 %
LINES = 5
UNITS = 6
WIDE = 120  # columns from which there is room for a second reason beside the source
NARROW = 76  # columns up to which there is no room for bars


def show(subject: Subject, width: int) -> Iterator[RenderableType]:
    """The sections, or why there are none."""
    prediction = subject.prediction
    if prediction is None:
        if subject.unpredicted:
            yield titled("Time", "", Text(f"no prediction: {subject.unpredicted}"))
        return
    yield headline(subject, prediction)
    if asked := time.what_ifs(subject):
        yield what_if(asked, prediction)
    yield speed_of_light(prediction, bars=width > NARROW)
    yield stalls(prediction)
    if prediction.stalls_at:
        yield stalls_by_line(subject, prediction, reasons=2 if width >= WIDE else 1)


def headline(subject: Subject, prediction: Prediction) -> RenderableType:
    rows = {
        **time.times(prediction),
        "Limit": prediction.limit,
        "Simulated": time.simulated(prediction),
        "Calibrated": time.calibration(prediction),
    }
    rows |= {f"Roofline {found.precision}": found.told for found in rooflines(subject, prediction)}
    body = Group(facts(rows), facts(time.facts(prediction)))
    return titled(f"Time on the {subject.machine.title}", time.provenance(prediction), body)


def what_if(asked: list[time.WhatIf], prediction: Prediction) -> RenderableType:
    table = grid_of("With", "Now", "Then", wide="")
    table.columns[1].no_wrap = False
    for row in asked:
        table.add_row(row.cause, Text(row.told), time.spoken(row.now_us), time.spoken(row.then_us))
    return titled("What If", time.provenance(prediction), table)


def speed_of_light(prediction: Prediction, bars: bool) -> RenderableType:
    table = grid_of("Unit", "%")
    if bars:
        table.add_column("", no_wrap=True)
    table.add_column("Achieved", justify="right", no_wrap=True)
    table.add_column("Peak", no_wrap=True)
    for unit in prediction.units[:UNITS]:
        peak = f"{time.digits(unit.peak)} {unit.unit}"
        drawn = [bar(unit.percent / 100)] * bars
        table.add_row(unit.name, f"{unit.percent:.1f}", *drawn, time.digits(unit.achieved), peak)
    return titled("Speed of Light", time.provenance(prediction), table)


def stalls(prediction: Prediction) -> RenderableType:
    rows = time.stalls(prediction)
    table = grid_of("Warp state", "Cycles", "Share", wide="A warp")
    table.columns[1].no_wrap = False
    for row in rows:
        table.add_row(row.reason, Text(row.meaning), time.digits(row.cycles), share(row.share))
    table.add_row(Text("all", "bold"), "", time.digits(sum(row.cycles for row in rows)), "")
    remark = Padding(Text("warp cycles per issued instruction", "dim"), (0, 0, 0, 2))
    return titled("Stalls", time.provenance(prediction), Group(table, remark))


def stalls_by_line(subject: Subject, prediction: Prediction, reasons: int) -> RenderableType:
    """The lines where warps spend most cycles, and the states that they spend most of them in."""
    table = grid_of("Line", "Share", wide="Source")
    table.add_column("Mostly", no_wrap=True)
    for row in time.stalls_by_line(subject, prediction)[:LINES]:
        mostly = ", ".join(f"{reason} {share(part)}" for reason, part in row.reasons[:reasons])
        table.add_row(str(row.place.line), Text(row.text.strip()), share(row.share), mostly)
    return titled("Stalls by Source Line", time.provenance(prediction), table)


def bar(part: float) -> Text:
    """ "███████─────────────"."""
    full = round(BAR * min(max(part, 0.0), 1.0))
    return Text.assemble(("█" * full, "cyan"), ("─" * (BAR - full), "dim"))

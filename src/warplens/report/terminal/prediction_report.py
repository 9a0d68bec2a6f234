"""A prediction in the terminal: time, speed of light, roofline, stalls."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from warplens.model.result.prediction import Prediction
from warplens.report import prediction_view
from warplens.report.launch_view import LaunchView
from warplens.report.roofline import rooflines
from warplens.report.terminal.console_layout import facts, grid_of, titled
from warplens.report.wording import percent

BAR = 12  # characters that are 100 %
LINES = 5
UNITS = 6
WIDE = 120  # columns from which there is room for a second reason beside the source
NARROW = 76  # columns up to which there is no room for bars


def show(subject: LaunchView, width: int) -> Iterator[RenderableType]:
    """The sections, or why there are none."""
    prediction = subject.prediction
    if prediction is None:
        if subject.unpredicted:
            yield titled("Time", "", Text(f"no prediction: {subject.unpredicted}"))
        return
    yield headline(subject, prediction)
    if asked := prediction_view.what_ifs(subject):
        yield what_if(asked, prediction)
    yield speed_of_light(prediction, bars=width > NARROW)
    yield stalls(prediction)
    if prediction.stalls_at:
        yield stalls_by_line(subject, prediction, reasons=2 if width >= WIDE else 1)


def headline(subject: LaunchView, prediction: Prediction) -> RenderableType:
    rows = {
        **prediction_view.times(prediction),
        "Limit": prediction.limit,
        "Simulated": prediction_view.simulated(prediction),
        "Calibrated": prediction_view.calibration(prediction),
    }
    rows |= {f"Roofline {found.precision}": found.summary for found in rooflines(subject, prediction)}
    body = Group(facts(rows), facts(prediction_view.facts(prediction)))
    return titled(f"Time on the {subject.machine.title}", prediction_view.provenance(prediction), body)


def what_if(asked: list[prediction_view.WhatIf], prediction: Prediction) -> RenderableType:
    table = grid_of("With", "Now", "Then", wide="")
    table.columns[1].no_wrap = False
    for row in asked:
        now, then = prediction_view.spoken(row.now_us), prediction_view.spoken(row.then_us)
        table.add_row(row.cause, Text(row.speedup), now, then)
    return titled("What If", prediction_view.provenance(prediction), table)


def speed_of_light(prediction: Prediction, bars: bool) -> RenderableType:
    table = grid_of("Unit", "%")
    if bars:
        table.add_column("", no_wrap=True)
    table.add_column("Achieved", justify="right", no_wrap=True)
    table.add_column("Peak", no_wrap=True)
    for unit in prediction.units[:UNITS]:
        peak = f"{prediction_view.digits(unit.peak)} {unit.unit}"
        drawn = [bar(unit.percent / 100)] * bars
        table.add_row(unit.name, f"{unit.percent:.1f}", *drawn, prediction_view.digits(unit.achieved), peak)
    return titled("Speed of Light", prediction_view.provenance(prediction), table)


def stalls(prediction: Prediction) -> RenderableType:
    rows = prediction_view.stalls(prediction)
    table = grid_of("Warp state", "Cycles", "Share", wide="A warp")
    table.columns[1].no_wrap = False
    for row in rows:
        table.add_row(row.reason, Text(row.meaning), prediction_view.digits(row.cycles), percent(row.share))
    table.add_row(Text("all", "bold"), "", prediction_view.digits(sum(row.cycles for row in rows)), "")
    remark = Padding(Text("warp cycles per issued instruction", "dim"), (0, 0, 0, 2))
    return titled("Stalls", prediction_view.provenance(prediction), Group(table, remark))


def stalls_by_line(subject: LaunchView, prediction: Prediction, reasons: int) -> RenderableType:
    """The lines where warps spend most cycles, and the states that they spend most of them in."""
    table = grid_of("Line", "Share", wide="Source")
    table.add_column("Mostly", no_wrap=True)
    for row in prediction_view.stalls_by_line(subject, prediction)[:LINES]:
        mostly = ", ".join(f"{reason} {percent(part)}" for reason, part in row.reasons[:reasons])
        table.add_row(str(row.place.line), Text(row.text.strip()), percent(row.share), mostly)
    return titled("Stalls by Source Line", prediction_view.provenance(prediction), table)


def bar(part: float) -> Text:
    """ "███████─────────────"."""
    full = round(BAR * min(max(part, 0.0), 1.0))
    return Text.assemble(("█" * full, "cyan"), ("─" * (BAR - full), "dim"))

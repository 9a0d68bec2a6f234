"""Tables of metrics in the terminal: those of a launch that were asked for, and what metrics there are."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from warplens.report.definitions import Definition
from warplens.report.json.document import number
from warplens.report.launch_view import LaunchView, blocks_of
from warplens.report.metric_selection import picked
from warplens.report.raw_page import NOT_THERE
from warplens.report.terminal.console_layout import grid_of


def show(subject: LaunchView, names: Sequence[str], out: Console) -> None:
    """The launch in a line, then a row a metric."""
    where = f", on the {subject.gpu}" if subject.prediction else ""
    out.print(Text(f"{subject.title} of {subject.file}, {blocks_of(subject.launch)}{where}", "bold"))
    if subject.unpredicted:
        out.print(Text(f"no prediction: {subject.unpredicted}"))
    table = grid_of("Metric", "Value")
    table.add_column("Unit", no_wrap=True)
    table.add_column("Provenance", no_wrap=True)
    for name, metric in picked(names, subject.all_metrics).items():
        table.add_row(name, *((spoken(metric.value), metric.unit, metric.provenance) if metric else (NOT_THERE,)))
    out.print(table)


def show_all(subjects: Sequence[LaunchView], names: Sequence[str], out: Console) -> None:
    """A table for each launch, with a rule between them."""
    for place, subject in enumerate(subjects):
        if place:
            out.rule(style="dim")
        show(subject, names, out)


def spoken(value: float | int) -> str:
    """ "1,048,576", "33.72"."""
    exactly = number(value)
    if exactly is None:
        return NOT_THERE
    return f"{exactly:,}" if isinstance(exactly, int) else f"{exactly:,.6g}"


def define(found: Sequence[Definition], out: Console) -> None:
    """Name, unit and provenance, and below them what it means."""
    for definition in found:
        unit = f"  {definition.unit}" * bool(definition.unit)
        predicted = ", with a prediction of the time" * definition.predicted
        heading = Text.assemble((definition.name, "bold"), unit, (f"  {definition.provenance}{predicted}", "dim"))
        body: RenderableType = Padding(Text(definition.means), (0, 0, 0, 4))
        out.print(Group(heading, body))

"""Tables of metrics in the terminal: those of a launch that were asked for, and what metrics there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from warplens.core.metric import Metric
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
    out.print(table_of(names, subject.all_metrics))


def table_of(names: Sequence[str] | None, metrics: Mapping[str, Metric]) -> Table:
    """A row a metric: value, unit, provenance."""
    table = grid_of("Metric", "Value")
    table.add_column("Unit", no_wrap=True)
    table.add_column("Provenance", no_wrap=True)
    for name, metric in picked(names, metrics).items():
        table.add_row(name, *((spoken(metric.value), metric.unit, metric.provenance) if metric else (NOT_THERE,)))
    return table


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

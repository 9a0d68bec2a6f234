"""Finding list: faults as numbered items, each with what to write instead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.table import Table

from warplens.report.findings.finding_view import FindingView
from warplens.report.terminal.console_layout import titled


def finding_list(findings: Sequence[FindingView], provenance: str, gpu: str) -> RenderableType:
    """As a part of a report."""
    rows = [row for number, one in enumerate(findings, 1) for row in finding_items(number, one, gpu)]
    return titled("Findings", provenance, Group(*rows))


def finding_items(number: int, finding: FindingView, gpu: str) -> Iterator[Table]:
    """The lines of one finding."""
    yield item(f"{number}.", finding.worth(gpu))
    for line in finding.remedy_lines:
        yield item("", line)


def item(label: str, text: str) -> Table:
    """One item of a list, whose further lines begin below its first."""
    made = Table.grid(padding=(0, 1))
    made.add_column(width=4, justify="right")
    made.add_column(overflow="fold")
    made.add_row(label, text)
    return made

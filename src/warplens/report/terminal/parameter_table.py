"""Parameter table: the numbers of a GPU that the time model reads, each with its unit, its file and its source."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from warplens.machine import Machine
from warplens.report.terminal.console_layout import GAP
from warplens.report.terminal.metric_table import spoken


def show(machine: Machine, out: Console) -> None:
    """A row for each number; first how many of them were read on another GPU."""
    own = len(machine.parameters) - len(machine.inherited)
    files = sorted({p.declared for p in machine.inherited})
    rest = f"; {len(machine.inherited)} others are inherited from {', '.join(files)}" if files else ""
    out.print(Text(f"{machine.title}: {own} numbers of its own and of {machine.arch}{rest}", "bold"))
    table = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False, header_style="dim", expand=True)
    for head in ("Number", "Value", "Unit", "File"):
        table.add_column(head, no_wrap=True, justify="right" if head == "Value" else "left")
    table.add_column("Source", ratio=1)
    for p in machine.parameters:
        table.add_row(*(Text(cell) for cell in (p.name, spoken(p.value), p.unit, p.declared, p.source)))
    out.print(table)

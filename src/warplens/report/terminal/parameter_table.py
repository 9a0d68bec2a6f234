"""Parameter table: the numbers of a GPU that the time model reads, with units, below their file and source."""

from __future__ import annotations

from itertools import groupby

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from warplens.machine import Machine
from warplens.report.terminal.console_layout import GAP
from warplens.report.terminal.metric_table import spoken


def show(machine: Machine, out: Console) -> None:
    """How many of them were read on another GPU; then a row for each, those with one source together."""
    own = len(machine.parameters) - len(machine.inherited)
    files = sorted({p.declared for p in machine.inherited})
    rest = f"; {len(machine.inherited)} others are inherited from {', '.join(files)}" if files else ""
    out.print(Text(f"{machine.title}: {own} numbers of its own and of {machine.arch}{rest}", "bold"))
    for (file, source), group in groupby(machine.parameters, lambda p: (p.declared, p.source)):
        out.print()
        out.print(Padding(Text(f"{file}: {source}", "dim"), (0, 0, 0, 2)))
        table = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False, show_header=False)
        for p in group:
            table.add_row(Text(p.name), Text(spoken(p.value), justify="right"), Text(p.unit))
        out.print(table)

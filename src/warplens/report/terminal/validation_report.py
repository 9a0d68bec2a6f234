"""Kernel by metric: equal, or the difference."""

from __future__ import annotations

import json
from collections.abc import Sequence

from rich.console import Console

from warplens.core.agreement import Agreement
from warplens.report.terminal.console_layout import grid_of

SCHEMA_VERSION = 1


def show(agreements: Sequence[Agreement], source: str, out: Console) -> None:
    table = grid_of("Metrics", "Equal", "Outputs", wide="Kernel")
    for agreement in agreements:
        equal = sum(row.equal for row in agreement.rows)
        outputs = {None: "not compared", "": "equal"}.get(agreement.outputs, "differ")
        table.add_row(agreement.title, str(len(agreement.rows)), str(equal), outputs)
    out.print(table)
    different = grid_of("warplens", "GPU", "Difference", wide="Where They Differ")
    for agreement in agreements:
        for row in agreement.rows:
            if not row.equal:
                ours, theirs = row.emulated.value, row.measured.value
                different.add_row(f"{agreement.title} {row.name}", f"{ours:,}", f"{theirs:,}", f"{theirs - ours:+,}")
    if different.row_count:
        out.print()
        out.print(different)
    for agreement in agreements:
        if agreement.outputs:
            out.print(f"{agreement.title}: {agreement.outputs}")
    agree = sum(agreement.equal for agreement in agreements)
    out.print(f"\n{agree} of {len(agreements)} launches agree with {source}")


def document(agreements: Sequence[Agreement], source: str) -> str:
    """One JSON document."""
    kernels = [
        {
            "kernel": agreement.title,
            "grid": agreement.launch.grid,
            "block": agreement.launch.block,
            "equal": agreement.equal,
            "outputs": agreement.outputs,
            "metrics": {
                row.name: {"warplens": row.emulated.value, "measured": row.measured.value, "equal": row.equal}
                for row in agreement.rows
            },
        }
        for agreement in agreements
    ]
    return json.dumps({"version": SCHEMA_VERSION, "against": source, "kernels": kernels}, indent=2) + "\n"

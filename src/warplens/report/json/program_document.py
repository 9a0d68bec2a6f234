"""Program document: what a whole program did on the GPU, as JSON."""

from __future__ import annotations

from warplens.report.json.document import Document, launch_part, number, shown
from warplens.report.program_view import PURPOSE, LaunchGroup, ProgramView

VERSION = 1
"""Goes up when a key changes its meaning or goes away; a new key leaves it."""


def document(view: ProgramView, exit_code: int) -> Document:
    return {
        "version": VERSION,
        "purpose": PURPOSE,
        "command": view.command,
        "exit_code": exit_code,
        "gpu": view.machine.key,
        "kernels": [group_part(group) for group in view.groups],
        "copies": {
            direction: {
                "count": transfer.copies,
                "bytes": transfer.size,
                "time_us": number(transfer.time_us),
            }
            for direction, transfer in view.transfers.items()
        },
        "faults": view.faults,
        "missing": view.missing,
        "notes": view.notes,
        "ended": view.ended or None,
    }


def group_part(group: LaunchGroup) -> Document:
    """Times are of all launches together, metrics of the first."""
    return {
        "kernel": group.kernel,
        "launch": launch_part(group.launch, (1, 1, 1)),
        "launches": group.launches,
        "executed": group.executed,
        "unpredicted": group.unpredicted,
        "time_us": number(group.time_us),
        "low_us": number(group.low_us),
        "high_us": number(group.high_us),
        "limit": group.limit,
        "metrics": shown(group.metrics),
    }

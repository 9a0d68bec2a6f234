"""Program document: what a whole program did on the GPU, as JSON; program_schema.json in this folder describes it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from importlib.resources import files

from warplens.report.finding_text import format_program_finding
from warplens.report.json.document import Document, launch_part, number, shown
from warplens.report.metric_selection import picked
from warplens.report.program_view import PURPOSE, LaunchGroup, ProgramView, SelectedLaunch

VERSION = 1
"""Goes up when a key changes its meaning or goes away; a new key leaves it."""


def document(view: ProgramView, exit_code: int, names: Sequence[str] | None = None) -> Document:
    """names   of the metrics to write; None for all.

    `launches` lists those that were counted where they are more than the first of each kernel and shape.
    """
    several = len(view.counted) > sum(bool(group.metrics) for group in view.groups)
    timeline = view.timeline
    return {
        "version": VERSION,
        "purpose": PURPOSE,
        "command": view.command,
        "exit_code": exit_code,
        "gpu": view.machine.key,
        "kernels": [group_part(group, names) for group in view.groups],
        "launches": [counted_part(launch, names) for launch in view.counted] if several else [],
        "copies": {
            direction: {
                "count": transfer.copies,
                "bytes": transfer.size,
                "time_us": number(transfer.time_us),
                "pageable_bytes": transfer.pageable_size,
            }
            for direction, transfer in view.transfers.items()
        },
        "timeline": {
            "span_us": number((timeline.end - timeline.begin) / 1000),
            "busy_us": number(timeline.busy() / 1000),
            "streams": [
                {
                    "process": track.process,
                    "gpu": track.device,
                    "stream": track.stream,
                    "busy_us": number(timeline.busy_on(place) / 1000),
                }
                for place, track in enumerate(timeline.tracks)
            ],
        },
        "check": view.checks
        and {
            "checks": list(view.checks),
            "findings": [asdict(finding) for finding in view.findings],
        },
        "advice": [
            {"fault": one.fault, "weight": number(one.weight), "text": format_program_finding(one)}
            for one in view.advice
        ],
        "saved": [asdict(saved) for saved in view.saved],
        "faults": view.faults,
        "missing": view.missing,
        "notes": view.notes,
        "ended": view.ended or None,
    }


def group_part(group: LaunchGroup, names: Sequence[str] | None) -> Document:
    """Times are of all launches together, metrics of the first that was counted."""
    return {
        "kernel": group.kernel,
        "launch": launch_part(group.launch, group.first.kernel.cluster if group.first else (1, 1, 1)),
        "launches": group.launches,
        "executed": group.executed,
        "uncounted": group.uncounted,
        "unpredicted": group.unpredicted,
        "time_us": number(group.time_us),
        "low_us": number(group.low_us),
        "high_us": number(group.high_us),
        "cold_time_us": number(group.cold_us),
        "warm": group.warm,
        "limit": group.limit,
        "metrics": metrics_part(group, names),
    }


def counted_part(launch: SelectedLaunch, names: Sequence[str] | None) -> Document:
    return {
        "number": launch.number,
        "kernel": launch.kernel,
        "launch": launch_part(launch.launch, (1, 1, 1)),
        "process": launch.process,
        "stream": launch.stream,
        "metrics": metrics_part(launch, names),
    }


def metrics_part(counted: LaunchGroup | SelectedLaunch, names: Sequence[str] | None) -> Document:
    return shown({name: metric for name, metric in picked(names, counted.metrics).items() if metric})


def schema() -> Document:
    """The JSON schema of the document."""
    loaded: Document = json.loads(files("warplens.report.json").joinpath("program_schema.json").read_text("utf-8"))
    return loaded

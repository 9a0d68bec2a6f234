"""Suggestion document: what `warplens suggest` found, as JSON; suggestion_schema.json in this folder describes it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from warplens.report.suggestion_view import ProgramSuggestionView, SuggestionView
from warplens.report.terminal.suggestion_report import footing

VERSION = 1
"""Goes up when a key changes its meaning or goes away; a new key leaves it."""
BRIEF_DIFF = 600  # characters; the brief document stays below 2 KB


def text(views: Sequence[SuggestionView], brief: bool = False) -> str:
    made = {"version": VERSION, "kernels": [brief_part(view) if brief else part(view) for view in views]}
    return json.dumps(made, indent=None if brief else 2, ensure_ascii=False) + "\n"


def program_text(view: ProgramSuggestionView, brief: bool = False) -> str:
    """Of a whole program: the same, with `program` beside `kernels`."""
    searched = [kernel.suggestion for kernel in view.kernels if kernel.suggestion]
    rows = [
        {
            "kernel": kernel.kernel, "launches": kernel.launches, "before_us": kernel.before_us,
            "after_us": kernel.after_us, "reason": kernel.reason,
        }
        for kernel in view.kernels
    ]  # fmt: skip
    program = {
        "command": view.command, "gpu": view.gpu, "before_us": view.before_us, "after_us": view.after_us,
        "exit_code": view.exit_code, "output": view.output, "findings": list(view.findings), "kernels": rows,
        "diff": view.diff[:BRIEF_DIFF] if brief else view.diff,
    }  # fmt: skip
    parts = [brief_part(one) if brief else part(one) for one in searched]
    made = {"version": VERSION, "program": program, "kernels": parts}
    return json.dumps(made, indent=None if brief else 2, ensure_ascii=False) + "\n"


def part(view: SuggestionView) -> dict[str, Any]:
    made = asdict(view)
    for change, seen in zip(made["changes"], view.changes, strict=True):
        change["gain"] = seen.gain
        change["counts"] = {n: {"before": b, "after": a} for n, (b, a) in seen.counts.items()}
    return made | {"note": footing(view)}


def brief_part(view: SuggestionView) -> dict[str, Any]:
    """The numbers that matter."""
    rounded = {"before_us": view.before_us, "after_us": view.after_us}
    return {
        "kernel": view.title,
        "gpu": view.gpu,
        **{key: None if value is None else round(value, 3) for key, value in rounded.items()},
        "findings": [found.brief_part() for found in view.findings[:3]],
        "changes": [
            {"line": c.line, "change": c.title, "gain": round(c.gain, 3), "outputs": c.outputs} for c in view.changes
        ],
        "launch": view.launch,
        "diff": view.diff[:BRIEF_DIFF],
    }

"""Diff document: the difference as JSON; diff_schema.json in report/json describes it."""

from __future__ import annotations

import json
from typing import Any

from warplens.control_characters import escaped
from warplens.report.regression_views.diff_view import DiffView, KernelDiff, LineChange

VERSION = 1
"""Goes up when a key changes its meaning or goes away; a new key leaves it."""


def text(view: DiffView) -> str:
    document = {"version": VERSION, "old": view.old, "new": view.new, "kernels": [_kernel(k) for k in view.kernels]}
    return escaped(json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)) + "\n"


def _kernel(kernel: KernelDiff) -> dict[str, Any]:
    code = kernel.code
    return {
        "name": kernel.name,
        "arch": kernel.arch,
        "difference": str(kernel.difference),
        "note": kernel.note or None,
        "code": code and {
            "instructions": list(code.instructions),
            "opcodes": [{"opcode": c.opcode, "old": c.old, "new": c.new} for c in code.opcodes],
            "blocks": [
                {
                    "old": block.old, "new": block.new,
                    "lines": [
                        {"sign": line.sign, "text": line.text, "line": line.source and line.source.line}
                        for line in block.lines
                    ],
                }
                for block in code.blocks if block.changed
            ],
        },
        "counts": {name: {"old": old, "new": new} for name, old, new in kernel.counts},
        "lines": [_line(change) for change in kernel.lines],
        "time_us": kernel.times and {"old": kernel.times[0] / 1000, "new": kernel.times[1] / 1000},
    }  # fmt: skip


def _line(change: LineChange) -> dict[str, Any]:
    shown = change.new or change.old
    assert shown is not None
    return {
        "old": change.old and change.old.place.line,
        "new": change.new and change.new.place.line,
        "text": shown.text,
        "counts": {name: dict(zip(("old", "new"), change.values(name), strict=True)) for name in change.names},
    }

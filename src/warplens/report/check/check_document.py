"""Check document: the verdicts as JSON; check_schema.json in report/json describes it."""

from __future__ import annotations

import json
from typing import Any

from warplens.control_characters import escaped
from warplens.regression.verdict import BrokenBudget, KernelVerdict
from warplens.report.regression_views.check_view import CheckView, broken_text

NAME = "json"
VERSION = 1
"""Goes up when a key changes its meaning or goes away; a new key leaves it."""


def text(view: CheckView) -> str:
    document = {
        "version": VERSION,
        "exit_code": view.exit_code,
        "summary": {str(verdict): count for verdict, count in view.tally.items()},
        "tools": dict(view.tools or {}),
        "baseline": view.baseline or None,
        "problems": list(view.problems),
        "kernels": [_kernel(view, kernel) for kernel in view.kernels],
    }
    return escaped(json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)) + "\n"


def _kernel(view: CheckView, kernel: KernelVerdict) -> dict[str, Any]:
    key = kernel.key
    return {
        "file": view.path(key.file),
        "name": key.name,
        "arch": key.arch,
        "gpu": key.gpu,
        "line": kernel.line and kernel.line.line,
        "verdict": str(kernel.verdict),
        "note": kernel.note or None,
        "exit_code": kernel.exit_code,
        "executed": kernel.executed,
        "broken": [_broken(view, kernel, broken) for broken in kernel.broken],
        "changes": [
            {"name": c.name, "unit": c.unit, "before": c.before, "after": c.after, "better": c.better}
            for c in kernel.changes
        ],
    }


def _broken(view: CheckView, kernel: KernelVerdict, broken: BrokenBudget) -> dict[str, Any]:
    place, at = view.at(kernel, broken), broken.at
    return {
        "budget": broken.budget,
        "value": broken.value,
        "bound": broken.bound,
        "before": broken.before,
        "unit": broken.unit,
        "fails": broken.fails,
        "message": broken_text(broken),
        "file": place.file,
        "line": place.line,
        "text": at.text if at else "",
        "line_metric": at.name or None if at else None,
        "line_before": at.before if at else None,
        "line_after": at.after if at else None,
    }

"""A lab's table as one JSON document: lab_schema.json describes it."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from warplens.control_characters import escaped
from warplens.core.metric import Metric
from warplens.report.lab.lab_table import LabRow, LabTable, MeasuredTime

VERSION = 1


def document(sheet: LabTable) -> str:
    content: dict[str, Any] = {
        "version": VERSION, "lab": sheet.key, "title": sheet.title, "lesson": sheet.lesson, "size": sheet.size,
        "gpus": list(sheet.gpus), "limit": sheet.limit or None,
        "rungs": [_rung(sheet, row) for row in sheet.rows],
        "libraries": {time.rung: _time(time) for time in sheet.libraries},
        "ordered_differently": [list(pair) for pair in sheet.orders],
    }  # fmt: skip
    return escaped(json.dumps(content, indent=2, ensure_ascii=False)) + "\n"


def _rung(sheet: LabTable, row: LabRow) -> dict[str, Any]:
    counts = zip(sheet.columns, row.cells, strict=True)
    return {
        "rung": row.title, "file": row.file, "teaches": row.teaches, "published": list(row.published),
        "counts": {heading: _count(cell) for heading, cell in counts if cell is not None},
        "predicted": {gpu: asdict(found) for gpu, found in row.predicted.items()},
        "unpredicted": row.unpredicted or None,
        "measured": _time(row.measured) if row.measured else None,
        "share_of_limit": row.share,
    }  # fmt: skip


def _count(metric: Metric) -> dict[str, Any]:
    return {"value": metric.value, "unit": metric.unit, "provenance": metric.provenance}


def _time(time: MeasuredTime) -> dict[str, Any]:
    """Without the rung's name, which it stands under."""
    return {name: value for name, value in asdict(time).items() if name not in ("rung", "size")}

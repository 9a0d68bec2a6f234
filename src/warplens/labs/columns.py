"""Columns of a lab's table: a metric, or an expression over {metrics} and the lab's names."""

from __future__ import annotations

import re
from collections.abc import Mapping

from warplens.core.metric import Metric
from warplens.launchspec.expression import Names, Number, evaluate_ratio

IN_BRACES = re.compile(r"\{([^{}]+)\}")
WORST_FIRST = ("sampled", "modelled", "measured", "exact")


def metrics_in(text: str) -> tuple[str, ...]:
    """The metrics that a column uses."""
    return tuple(IN_BRACES.findall(text)) or (text,)


def value(text: str, metrics: Mapping[str, Metric], names: Names) -> Metric | None:
    """The column's number, with the weakest provenance of its parts; None if the rung lacks one, or the expression
    divides by zero (no requests, no sectors a request)."""
    parts = metrics_in(text)
    if any(part not in metrics for part in parts):
        return None
    if parts == (text,):
        return metrics[text]
    known: dict[str, Number] = dict(names)
    for place, part in enumerate(parts):
        known[f"metric_{place}"] = metrics[part].value
        text = text.replace("{" + part + "}", f"metric_{place}")
    provenance = min((metrics[part].provenance for part in parts), key=WORST_FIRST.index)
    found = evaluate_ratio(text, known)
    return None if found is None else Metric(found, "", provenance)

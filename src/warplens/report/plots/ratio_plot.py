"""Ratio plot: the metrics of two launches that a comparison shows, second over first."""

from __future__ import annotations

from typing import Any

from warplens.control_characters import visible
from warplens.core.plot_axes import bars
from warplens.counters.comparison import Comparison
from warplens.report.terminal.comparison_report import shown


def plot_ratios(counts: Comparison, times: tuple[float, float] | None, axes: Any) -> Any:
    """On a logarithmic axis; the ratio of the times, if there are two, on top.  Metrics that are 0 in one of the
    launches have no ratio, and are left out."""
    rows = [(row.name, row.ratio) for row in shown(counts, everything=False) if row.ratio]
    if times is not None:
        rows.insert(0, ("time (modelled)", times[1] / times[0]))
    axes.set_xscale("log", base=2)
    axes.axvline(1, color="0.5", linewidth=0.8)
    label = f"{visible(counts.second)} / {visible(counts.first)}"
    bars(axes, [name for name, _ in rows], [ratio - 1 for _, ratio in rows], label, left=1)
    return axes

"""Ratio plot: the metrics in which two launches differ most."""

from __future__ import annotations

import math
from typing import Any

from warplens.control_characters import visible
from warplens.core.plot_axes import bars
from warplens.counters.comparison import Comparison


def plot_ratios(counts: Comparison, times: tuple[float, float] | None, axes: Any, count: int) -> Any:
    """Second over first on a logarithmic axis, the largest change first; the ratio of the times, if there are two, on
    top."""
    rows = [(row.name, row.ratio) for row in counts.rows if row.ratio and row.ratio != 1]
    rows = sorted(rows, key=lambda pair: (-abs(math.log(pair[1])), pair[0]))[:count]
    if times is not None:
        rows.insert(0, ("time (modelled)", times[1] / times[0]))
    axes.set_xscale("log", base=2)
    axes.axvline(1, color="0.5", linewidth=0.8)
    label = f"{visible(counts.second)} / {visible(counts.first)}"
    bars(axes, [name for name, _ in rows], [ratio - 1 for _, ratio in rows], label, left=1)
    return axes

"""Plot axes: matplotlib's, which is an extra; imported when something is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from warplens.errors import UsageError

AMOUNT, EXCESS = "#76b900", "#d55e00"
"""Colours of bars, told apart also by the colour-blind: what there is, and what is too much."""


def plot_axes(given: Any = None) -> Any:
    """The axes that are given, or those of a new figure.  UsageError if matplotlib is not installed."""
    if given is not None:
        return given
    try:
        from matplotlib import pyplot
    except ImportError:
        raise UsageError("plot() needs matplotlib: pip install 'warplens[plot]'") from None
    _, axes = pyplot.subplots(layout="constrained")
    return axes


def bars(axes: Any, names: Sequence[str], values: Sequence[float], label: str, left: float = 0) -> None:
    """Horizontal bars from `left` to left + value, from top to bottom; names may occur twice."""
    places = range(len(names))
    axes.barh(places, values, left=left, color=AMOUNT)
    axes.set_yticks(places, names, parse_math=False)
    axes.invert_yaxis()
    axes.set_xlabel(label)

"""Sweep plot: the predicted time, or a metric, against a parameter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from warplens.control_characters import visible
from warplens.errors import UsageError
from warplens.sweep.sweep_space import PARAMETERS

Row = dict[str, Any]
INTERVAL = ("low_us", "high_us")


def plot_sweep(rows: Sequence[Row], x: str | None, y: str, label: str, axes: Any) -> Any:
    """A line for each combination of the other parameters; times with their interval.

    x   a parameter (default: the first that has several values);  y: a column;  label: of the vertical axis
    Rows without a value are left out.  UsageError for an unknown column, or where no row has a value.
    """
    varied = [name for name in PARAMETERS if len({str(row[name]) for row in rows}) > 1]
    chosen = x or next(iter(varied), PARAMETERS[0])
    for name in (chosen, y):
        if name not in rows[0]:
            raise UsageError(f"the sweep has no column {name!r}, only {', '.join(rows[0])}")
    shown = [row for row in rows if row[y] is not None]
    if not shown:
        reason = next((row["error"] for row in rows if row["error"]), "name a GPU with gpu=")
        raise UsageError(f"no row has a value of {y}: {reason}")
    # The grid and the shared memory that follow from the block tell no lines apart.
    others = [name for name in varied if name != chosen and not _follows(rows, chosen, name)]
    ticks = list(dict.fromkeys(str(row[chosen]) for row in shown))
    for key in dict.fromkeys(tuple(str(row[name]) for name in others) for row in shown):
        line = [row for row in shown if tuple(str(row[name]) for name in others) == key]
        places = [ticks.index(str(row[chosen])) for row in line]
        title = ", ".join(f"{name} {value}" for name, value in zip(others, key, strict=True))
        (drawn,) = axes.plot(places, [row[y] for row in line], "o-", label=visible(title) or None)
        if y == "time_us":
            low, high = ([row[name] for row in line] for name in INTERVAL)
            axes.fill_between(places, low, high, color=drawn.get_color(), alpha=0.2, linewidth=0)
    axes.set_xticks(range(len(ticks)), ticks)
    axes.set_xlabel(chosen)
    axes.set_ylabel(label)
    axes.set_ylim(bottom=0)
    if others:
        axes.legend()
    return axes


def _follows(rows: Sequence[Row], first: str, second: str) -> bool:
    """Whether the second parameter has one value for each value of the first."""
    return len({(str(row[first]), str(row[second])) for row in rows}) == len({str(row[first]) for row in rows})

"""Line plot: warp instructions, or sectors of global and local memory, by source line."""

from __future__ import annotations

from typing import Any

from warplens.control_characters import visible
from warplens.core.plot_axes import EXCESS, bars
from warplens.report.launch_view import LaunchView
from warplens.report.tables import LineRow, lines

TEXT = 40  # characters of a source line that are shown


def plot_instructions(subject: LaunchView, axes: Any, count: int) -> Any:
    """The lines that execute most, hottest first."""
    rows = lines(subject)[:count]
    label = f"warp instructions ({subject.provenance})"
    bars(axes, [_name(row) for row in rows], [row.executed for row in rows], label)
    axes.set_title(visible(subject.title), parse_math=False)
    return axes


def plot_sectors(subject: LaunchView, axes: Any, count: int) -> Any:
    """The lines that move most sectors; those above the ideal in another colour."""
    rows = sorted((row for row in lines(subject) if row.sectors), key=lambda row: -row.sectors)[:count]
    names = [_name(row) for row in rows]
    bars(axes, names, [row.sectors for row in rows], f"sectors ({subject.memory_provenance})")
    axes.barh(
        range(len(rows)), [row.excess for row in rows], left=[row.sectors - row.excess for row in rows], color=EXCESS,
        label="excessive",
    )  # fmt: skip
    if any(row.excess for row in rows):
        axes.legend()
    axes.set_title(visible(subject.title), parse_math=False)
    return axes


def _name(row: LineRow) -> str:
    """ "20  sum += matrix[row * columns + i];"."""
    text = visible(row.text.strip())
    return f"{row.place.line}  {text if len(text) <= TEXT else f'{text[: TEXT - 1]}…'}".rstrip()

"""Plots of a launch: instructions and sectors by line, and the roofline, from counts that are known."""

from __future__ import annotations

from dataclasses import replace

import matplotlib as mpl
import pytest

from helpers.made_up_predictions import predicted
from helpers.report_runs import subject_of
from warplens.core.plot_axes import plot_axes
from warplens.errors import UsageError
from warplens.report.plots.line_plot import plot_instructions, plot_sectors
from warplens.report.plots.roofline_plot import plot_roofline
from warplens.report.roofline import rooflines
from warplens.report.tables import lines

mpl.use("Agg")


def test_instructions_by_line_hottest_first() -> None:
    axes = plot_instructions(subject_of("nccopy"), plot_axes(), 2)
    assert [label.get_text().split()[0] for label in axes.get_yticklabels()] == ["40", "39"]
    assert [bar.get_width() for bar in axes.patches] == [row.executed for row in lines(subject_of("nccopy"))[:2]]
    assert axes.get_xlabel() == "warp instructions (exact)"


def test_excessive_sectors_stand_at_the_end_of_the_bar() -> None:
    """32,768 floats, every second one: 8 sectors a load where 4 would do, and 4 a store."""
    axes = plot_sectors(subject_of("nccopy"), plot_axes(), 10)
    requests = 32768 // 32
    moved, excess = axes.patches
    assert (moved.get_x(), moved.get_width()) == (0, 12 * requests)
    assert (excess.get_x(), excess.get_width()) == (8 * requests, 4 * requests)
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["excessive"]
    assert plot_sectors(subject_of("ccopy"), plot_axes(), 10).get_legend() is None


def test_a_roofline_has_a_roof_and_a_point_below_it() -> None:
    subject = predicted("matmul")
    assert subject.prediction is not None
    (roof,) = rooflines(subject, subject.prediction)
    axes = plot_roofline(subject, plot_axes())
    line, point = axes.get_lines()
    assert list(point.get_xydata()[0]) == [roof.intensity, roof.achieved]
    assert line.get_ydata()[-1] == roof.peak
    assert line.get_xdata()[1] == pytest.approx(roof.peak / roof.bandwidth)
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")


def test_where_there_is_no_roofline_it_says_why() -> None:
    with pytest.raises(UsageError, match=r"plot run\.timed\(\)"):
        plot_roofline(subject_of("matmul"), plot_axes())
    with pytest.raises(UsageError, match="does no floating-point work"):
        plot_roofline(predicted("ccopy"), plot_axes())
    waiting = replace(subject_of("matmul"), unpredicted="blocks wait for each other")
    with pytest.raises(UsageError, match="blocks wait"):
        plot_roofline(waiting, plot_axes())

"""Plots that need no launch: axes, bars, speed of light, and what is said without matplotlib."""

from __future__ import annotations

import sys

import matplotlib as mpl
import pytest

from helpers.made_up_predictions import made_up
from helpers.report_runs import subject_of
from warplens.core.plot_axes import bars, plot_axes
from warplens.errors import UsageError

mpl.use("Agg")


def test_given_axes_are_drawn_on() -> None:
    axes = plot_axes()
    assert plot_axes(axes) is axes
    assert plot_axes() is not axes


def test_bars_run_from_top_to_bottom_and_a_dollar_sign_is_none_of_mathematics() -> None:
    axes = plot_axes()
    bars(axes, ["a$b$", "a$b$"], [3, 2], "inst")
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a$b$", "a$b$"]
    assert [bar.get_width() for bar in axes.patches] == [3, 2]
    assert axes.yaxis_inverted()
    axes.figure.canvas.draw()


def test_without_matplotlib_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    with pytest.raises(UsageError, match=r"pip install 'warplens\[plot\]'"):
        plot_axes()


def test_a_prediction_is_drawn_as_speed_of_light() -> None:
    axes = made_up(subject_of("ccopy")).plot()
    assert [label.get_text() for label in axes.get_yticklabels()] == ["DRAM", "issue slots", "shared memory"]
    assert [bar.get_width() for bar in axes.patches] == [75, 12.5, 0]
    assert axes.get_title() == "h200: 80 µs (modelled)"

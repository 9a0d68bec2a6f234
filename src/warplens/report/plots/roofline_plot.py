"""Roofline plot: what the launch achieves, below what the GPU admits."""

from __future__ import annotations

from typing import Any

from warplens.control_characters import visible
from warplens.errors import UsageError
from warplens.report.launch_view import LaunchView
from warplens.report.roofline import rooflines

DECADES = 10  # that the roof is drawn to the left and right of the launch and of its ridge


def plot_roofline(subject: LaunchView, axes: Any) -> Any:
    """A roof and a point for each precision that the kernel computes in.  UsageError where there is none."""
    prediction = subject.prediction
    if prediction is None:
        raise UsageError(f"a roofline needs a time: {subject.unpredicted or 'plot run.timed()'}")
    found = rooflines(subject, prediction)
    if not found:
        raise UsageError("there is no roofline: the kernel does no floating-point work, or does not reach DRAM")
    for roof in found:
        ridge = roof.peak / roof.bandwidth
        left, right = min(roof.intensity, ridge) / DECADES, max(roof.intensity, ridge) * DECADES
        (line,) = axes.plot(
            [left, ridge, right], [left * roof.bandwidth, roof.peak, roof.peak], label=f"{roof.precision} and DRAM"
        )
        launch = f"{roof.precision} of {visible(subject.title)}"
        axes.plot([roof.intensity], [roof.achieved], "o", color=line.get_color(), label=launch)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("FLOP per byte of DRAM")
    axes.set_ylabel("GFLOP/s")
    axes.set_title(f"{subject.machine.title} (modelled{'' if prediction.calibrated else ', uncalibrated'})")
    axes.legend(loc="upper left")
    return axes

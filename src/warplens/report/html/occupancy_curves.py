"""Occupancy curves: resident warps by registers, by threads and by shared memory of a block, as steps for SVG."""

from __future__ import annotations

from dataclasses import dataclass

from warplens.counters.occupancy import Curve, curves
from warplens.report.launch_view import LaunchView

CHART_WIDTH, CHART_HEIGHT = 300, 110  # units of the drawing, without its margins


@dataclass(frozen=True, slots=True)
class Chart:
    """A curve of occupancy as a drawing: `path` for SVG, the launch's place, the ends of the axes."""

    title: str
    path: str
    x: float
    y: float
    first: int
    last: int
    at: int
    most: int


def charts(subject: LaunchView) -> list[Chart]:
    kernel, launch = subject.kernel, subject.launch
    around = curves(
        subject.machine, kernel.registers, launch.threads_per_block, kernel.shared_bytes, launch.shared,
        kernel.barriers,
    )  # fmt: skip
    most = subject.machine.limits.warps_per_multiprocessor
    warps = subject.occupancy.warps
    return [
        chart("Registers per thread", around.registers, kernel.registers, warps, most),
        chart("Threads per block", around.block_threads, launch.threads_per_block, warps, most),
        chart("Shared memory per block, bytes", around.shared_bytes, kernel.shared_bytes + launch.shared, warps, most),
    ]


def chart(title: str, curve: Curve, at: int, warps: int, most: int) -> Chart:
    """The curve as steps: it holds its height up to the next point."""
    first, last = curve[0][0], curve[-1][0]

    def x(value: float) -> float:
        return round((value - first) / (last - first) * CHART_WIDTH, 1)

    def y(value: float) -> float:
        return round((1 - value / most) * CHART_HEIGHT, 1)

    path = f"M0 {y(curve[0][1])}"
    height = curve[0][1]
    for value, resident in curve[1:]:
        if resident != height:
            path += f"H{x(value)}V{y(resident)}"
            height = resident
    return Chart(title, path + f"H{CHART_WIDTH}", min(x(at), CHART_WIDTH), y(warps), first, last, at, most)

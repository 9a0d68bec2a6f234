"""Time of each rung against the size of the problem, both logarithmic: predicted as a line, measured as dots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from warplens.report.pictures._axes import RIGHT, Axes, span
from warplens.report.pictures._svg import Svg
from warplens.report.prediction_view import spoken

WIDTH, HEIGHT = 800, 380
LABELS_APART = 13  # pixels between the names at the right


@dataclass(frozen=True, slots=True)
class Series:
    """(size, microseconds) of one rung."""

    predicted: Sequence[tuple[float, float]] = ()
    measured: Sequence[tuple[float, float]] = ()

    @property
    def points(self) -> list[tuple[float, float]]:
        return [*self.predicted, *self.measured]


def time_against_size(rungs: Mapping[str, Series], size_name: str, gpu: str, title: str = "Time against size") -> str:
    """The picture as SVG text.  rungs: by name, each with a point at least;  size_name: what is counted as size."""
    points = [point for series in rungs.values() for point in series.points]
    axes = Axes(*span(size for size, _ in points), *span(time for _, time in points), WIDTH, HEIGHT)
    svg = Svg(WIDTH, HEIGHT, title, describe(rungs, gpu))
    axes.draw(svg, size_name, "time", lambda value: f"{value:,.0f}", spoken)
    ends = {name: axes.y(max(series.points)[1]) for name, series in rungs.items()}
    for order, (name, label_y) in enumerate(apart(ends).items()):
        series, kind = rungs[name], "curve" if order % 2 == 0 else "hotcurve"
        if series.predicted:
            svg.path(kind, *((axes.x(size), axes.y(time)) for size, time in sorted(series.predicted)))
        for size, time in series.measured:
            svg.dot(axes.x(size), axes.y(time), "bar" if order % 2 == 0 else "hot")
        svg.path("axis", (axes.x(max(series.points)[0]), ends[name]), (WIDTH - RIGHT + 8, label_y))
        svg.write(WIDTH - RIGHT + 11, label_y + 4, name, "name")
    return svg.text()


def describe(rungs: Mapping[str, Series], gpu: str) -> str:
    measured = any(series.measured for series in rungs.values())
    kinds = "lines: predicted" + (", dots: measured" if measured else "")
    if len(rungs) == 1:
        only = next(iter(rungs.values()))
        points = sorted(only.measured or only.predicted)
        (first, quick), (most, slow) = points[0], points[-1]
        return f"{kinds}, on the {gpu}; {spoken(quick)} at {first:,.0f} and {spoken(slow)} at {most:,.0f}"
    last = {name: max(series.measured or series.predicted)[1] for name, series in rungs.items()}
    best = min(last, key=lambda name: last[name])
    return f"{kinds}, on the {gpu}; at the largest size {best} is the fastest with {spoken(last[best])}"


def apart(places: Mapping[str, float]) -> dict[str, float]:
    """The same places from top to bottom, moved down where two labels would meet."""
    moved: dict[str, float] = {}
    lowest = float("-inf")
    for name, place in sorted(places.items(), key=lambda item: item[1]):
        lowest = moved[name] = max(place, lowest + LABELS_APART)
    return moved

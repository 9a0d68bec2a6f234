"""The roofline of a GPU with launches below it: one as a point, the rungs of a ladder as a path from first to last."""

from __future__ import annotations

from collections.abc import Mapping

from warplens.report.pictures._axes import RIGHT, Axes, span
from warplens.report.pictures._svg import Svg
from warplens.report.pictures.time_against_size import apart
from warplens.report.roofline import Roofline

WIDTH, HEIGHT = 720, 360
AROUND = 0.6  # powers of ten that are drawn beside the outermost points
ABOVE = 0.15  # and above the roof


def roofline_path(rungs: Mapping[str, Roofline], title: str = "") -> str:
    """The picture as SVG text.  rungs: in their order, at least one, all of one precision on one GPU."""
    last = list(rungs.values())[-1]
    ridge = last.peak / last.bandwidth
    low, high = span((ridge, *(found.intensity for found in rungs.values())))
    bottom, top = span((last.peak, *(found.achieved for found in rungs.values())))
    axes = Axes(low - AROUND, high + AROUND, bottom - AROUND, top + ABOVE, WIDTH, HEIGHT)
    name = title or f"Roofline, {last.precision}"
    svg = Svg(WIDTH, HEIGHT, name, last.summary if len(rungs) == 1 else f"{list(rungs)[-1]}: {last.summary}")
    axes.draw(svg, "FLOP per byte of DRAM", "FLOP/s", lambda value: f"{value:g}", rate)
    start = max(10**axes.x_low, 10**axes.y_low / last.bandwidth)
    roof = [(start, start * last.bandwidth), (ridge, last.peak), (10**axes.x_high, last.peak)]
    svg.path("curve", *((axes.x(intensity), axes.y(achieved)) for intensity, achieved in roof))
    places = {rung: (axes.x(found.intensity), axes.y(found.achieved)) for rung, found in rungs.items()}
    if len(places) > 1:
        svg.path("hotcurve", *places.values())
        for rung, label_y in apart({rung: y for rung, (_, y) in places.items()}).items():
            svg.path("axis", places[rung], (WIDTH - RIGHT + 8, label_y))
            svg.write(WIDTH - RIGHT + 11, label_y + 4, rung, "name")
    for x, y in places.values():
        svg.dot(x, y, "hot")
    return svg.text()


def rate(gigaflops: float) -> str:
    """ "100 G", "10 T"."""
    return f"{gigaflops / 1000:g} T" if gigaflops >= 1000 else f"{gigaflops:g} G"

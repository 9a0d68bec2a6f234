"""The streams of a program over time: how much of each part of it they spend in kernels, copies and fills."""

from __future__ import annotations

from itertools import groupby

from warplens.report.pictures._svg import Svg
from warplens.report.prediction_view import spoken
from warplens.report.timeline import Timeline

PARTS, WIDTH, LEFT, TOP, HEIGHT, GAP = 240, 960, 150, 62, 22, 8
SHAPES = ("bar", "hot", "odd")  # of kernels, copies, fills
MOST = 24  # streams that are drawn


def streams_over_time(timeline: Timeline, title: str = "Streams over time") -> str:
    """The picture as SVG text: a row a stream; a bar is as high as the share of its time that is spent."""
    tracks = range(min(len(timeline.tracks), MOST))
    svg = Svg(WIDTH, TOP + len(tracks) * (HEIGHT + GAP) + 26, title, describe(timeline))
    nanoseconds, step = max(timeline.end - timeline.begin, 1) / PARTS, (WIDTH - LEFT - 16) / PARTS
    for row in tracks:
        base = TOP + row * (HEIGHT + GAP) + HEIGHT
        svg.write(LEFT - 8, base - 7, timeline.tracks[row].title, "name", "end")
        svg.path("axis", (LEFT, base), (WIDTH - 16, base))
        filled = [0.0] * PARTS
        for kind, spent in enumerate(timeline.buckets(row, PARTS)):
            highs = [round(HEIGHT * min(amount / nanoseconds, 1.0), 2) for amount in spent.tolist()]
            first = 0
            for (low, high), parts in groupby(zip(filled, highs, strict=True)):
                wide = len(list(parts))
                if high >= 0.05:
                    svg.rect(LEFT + first * step, base - low - high, wide * step, high, SHAPES[kind], 0)
                first += wide
            filled = [low + high for low, high in zip(filled, highs, strict=True)]
    bottom = TOP + len(tracks) * (HEIGHT + GAP) + 12
    svg.write(LEFT, bottom, "0", "tiny")
    svg.write(WIDTH - 16, bottom, spoken((timeline.end - timeline.begin) / 1000), "tiny", "end")
    return svg.text()


def describe(timeline: Timeline) -> str:
    total = max(timeline.end - timeline.begin, 1)
    busy = f"the GPU is busy {100 * timeline.busy() / total:.0f} % of {spoken(total / 1000)}"
    return f"{busy}: kernels (blue), copies (orange), fills (light); the higher a bar, the more of its time"

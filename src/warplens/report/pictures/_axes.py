"""Two logarithmic axes and where a point lies between them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from warplens.report.pictures._svg import Svg

LEFT, RIGHT, TOP, BOTTOM = 78, 150, 70, 48


@dataclass(frozen=True)
class Axes:
    """x and y from low to high, as powers of ten, in a drawing of so many pixels."""

    x_low: float
    x_high: float
    y_low: float
    y_high: float
    width: float
    height: float

    def x(self, value: float) -> float:
        share = (math.log10(value) - self.x_low) / (self.x_high - self.x_low)
        return LEFT + min(max(share, 0.0), 1.0) * (self.width - LEFT - RIGHT)

    def y(self, value: float) -> float:
        share = (math.log10(value) - self.y_low) / (self.y_high - self.y_low)
        return self.height - BOTTOM - min(max(share, 0.0), 1.0) * (self.height - TOP - BOTTOM)

    def draw(
        self, svg: Svg, x_name: str, y_name: str, x_mark: Callable[[float], str], y_mark: Callable[[float], str]
    ) -> None:
        for value in decades(self.x_low, self.x_high):
            svg.path("axis", (self.x(value), TOP), (self.x(value), self.height - BOTTOM))
            svg.write(self.x(value), self.height - BOTTOM + 14, x_mark(value), "tiny", "middle")
        for value in decades(self.y_low, self.y_high):
            svg.path("axis", (LEFT, self.y(value)), (self.width - RIGHT, self.y(value)))
            svg.write(LEFT - 6, self.y(value) + 3, y_mark(value), "tiny", "end")
        svg.write((LEFT + self.width - RIGHT) / 2, self.height - 14, x_name, "words", "middle")
        svg.write(LEFT - 6, TOP - 11, y_name, "tiny", "end")


def decades(low: float, high: float) -> list[float]:
    """1, 10, 100 ... and between two of them 2 and 5, where there are few."""
    steps = (1, 2, 5) if high - low <= 3 else (1,)
    powers = range(math.floor(low), math.ceil(high) + 1)
    return [s * 10.0**p for p in powers for s in steps if low - 1e-9 <= math.log10(s * 10.0**p) <= high + 1e-9]


def span(values: Iterable[float]) -> tuple[float, float]:
    """Around these values, in powers of ten: at least one decade."""
    logs = [math.log10(value) for value in values]
    low, high = min(logs) - 0.1, max(logs) + 0.1
    middle = (low + high) / 2
    return (low, high) if high - low >= 1 else (middle - 0.5, middle + 0.5)

"""Predicted launch: a launch's time, by what L2 holds when it begins."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from warplens.core.metric import Metric
from warplens.machine import Machine
from warplens.model import Prediction
from warplens.model.grid.l2_contents import L2Sizes, L2Start, RangeUse
from warplens.model.predict import LaunchModel
from warplens.program.arena import BASE, BYTES, WORD_BYTES
from warplens.report.limit_text import with_text

STEPS = 16  # of a share, by which starts are told apart
MOST_STARTS = 8  # predictions of a launch: one takes 0.05 s and more; a further start has the time of the nearest


@dataclass(frozen=True)
class LaunchTime:
    """Launch time: with its interval; `predicted` is False where it is only the least time that the units allow."""

    time_us: float
    low_us: float
    high_us: float
    limit: str
    predicted: bool = True
    metrics: dict[str, Metric] = field(default_factory=dict)
    prediction: Prediction | None = None
    unpredicted: str = ""  # why there is no prediction
    in_proportion: bool = False  # to that of another launch

    @property
    def nanoseconds(self) -> int:
        return round(self.time_us * 1000)

    @staticmethod
    def of(made: Prediction) -> LaunchTime:
        return LaunchTime(
            made.time_us, made.low_us, made.high_us, made.limit, metrics=dict(made.metrics), prediction=made
        )

    def scaled(self, factor: float, launch_us: float) -> LaunchTime:
        """Of `factor` times the work; `launch_us`, which starting a launch takes, stays."""
        known = self.low_us, self.time_us, self.high_us
        low, time, high = (us + (factor - 1) * max(us - launch_us, 0) for us in known)
        return replace(
            self, time_us=time, low_us=low, high_us=high, metrics={}, in_proportion=True, prediction=None,
            unpredicted=self.unpredicted or "its time is in proportion to that of another launch",
        )  # fmt: skip


@dataclass
class PredictedLaunch:
    """Predicted launch: warp instructions, and the time with an empty L2.

    parameters   of the launch;  anchors: by use, the word of the parameters that points to its buffer, or None
    model        to predict it for another L2; None where it is not predicted, or any more
    """

    instructions: int
    cold: LaunchTime
    parameters: bytes = b""
    uses: tuple[RangeUse, ...] = ()
    anchors: tuple[int | None, ...] = ()
    model: LaunchModel | None = None
    _warm: dict[L2Start, LaunchTime] = field(default_factory=dict)

    @property
    def recorded_bytes(self) -> int:
        return self.model.nbytes if self.model else 0

    def ratio(self, instructions: int) -> float:
        """At least 1."""
        least, most = sorted((instructions, self.instructions))
        return most / max(least, 1)

    def time(self, start: L2Start, sizes: L2Sizes) -> LaunchTime:
        """Where L2 holds that, in steps of a share."""
        if not self.uses:
            return self.cold
        start = start.rounded(STEPS, sizes)
        if start.is_empty:
            return self.cold
        known = self._warm.get(start)
        if known is None and self.model is not None and len(self._warm) < MOST_STARTS:
            made = self.model.prediction(start)
            known = self._warm[start] = replace(LaunchTime.of(with_text(made)), metrics={}, prediction=None)
        return known or self._nearest(start)

    def _nearest(self, start: L2Start) -> LaunchTime:
        empty = L2Start((0.0,) * len(self.uses), 0)
        nearest = min((empty, *self._warm), key=lambda known: known.distance(start, self.uses))
        return self._warm.get(nearest, self.cold)

    def uses_at(self, parameters: bytes) -> tuple[RangeUse, ...]:
        """Of a launch with these parameters, whose buffers are elsewhere."""
        if parameters == self.parameters:
            return self.uses
        before, now = words(self.parameters), words(parameters)
        by = (0 if word is None else now[word] - before[word] for word in self.anchors)
        return tuple(
            use._replace(low=use.low + offset, high=use.high + offset)
            for use, offset in zip(self.uses, by, strict=True)
        )


def anchors(uses: Sequence[RangeUse], buffers: Sequence[tuple[int, int]], parameters: bytes) -> tuple[int | None, ...]:
    """By use: the word of the parameters that points into its buffer, the last one before the range in use."""
    pointers, found = list(enumerate(words(parameters))), list[int | None]()
    for use, (low, high) in zip(uses, buffers, strict=True):
        inside = [(value > use.low, abs(use.low - value), n) for n, value in pointers if low <= value < high]
        found.append(min(inside)[2] if inside else None)
    return tuple(found)


def words(parameters: bytes) -> tuple[int, ...]:
    """The whole words of a parameter block."""
    return struct.unpack_from(f"<{len(parameters) // WORD_BYTES}Q", parameters)


def is_address(word: int) -> bool:
    return BASE <= word < BASE + BYTES


@dataclass(frozen=True)
class TimedLaunch:
    """Timed launch: like `predicted`, with `factor` times its work (None: the same), and uses of its own."""

    predicted: PredictedLaunch
    uses: tuple[RangeUse, ...]
    machine: Machine
    factor: float | None = None

    @property
    def cold(self) -> LaunchTime:
        """With an empty L2."""
        return self._scaled(self.predicted.cold)

    def time(self, start: L2Start, sizes: L2Sizes) -> LaunchTime:
        return self._scaled(self.predicted.time(start, sizes))

    def _scaled(self, time: LaunchTime) -> LaunchTime:
        return time if self.factor is None else time.scaled(self.factor, self.machine.speeds.launch_microseconds)

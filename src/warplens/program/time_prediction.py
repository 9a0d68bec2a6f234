"""Time prediction: the predicted time of each launch of a program; launches that are alike are predicted once."""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from warplens.core.metric import Metric
from warplens.errors import Unpredictable, UnsupportedInstruction, UsageError
from warplens.machine import Machine
from warplens.model import Prediction
from warplens.program.arena import BASE, BYTES, GRANULARITY, WORD_BYTES
from warplens.program.loaded_module import LaunchConfiguration
from warplens.run import Run

MOST = 64  # predictions for a kernel and configuration: one takes 0.05 s and more
# Predictions for a kernel and block: a further grid takes the time of the nearest, if it executes up to a quarter more
# or less instructions.  A decomposition of a matrix launches hundreds of grids.
MOST_GRIDS, NEAR_GRID = 4, 1.25
# A launch that executes twice or half as many instructions as each that was predicted is too far from them for a
# proportion: one of the next so many like it is counted, and predicted.
FAR, PATIENCE = 2.0, 8


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

    def scaled(self, factor: float, launch_us: float) -> LaunchTime:
        """Of `factor` times the work; `launch_us`, which starting a launch takes, stays."""
        known = self.low_us, self.time_us, self.high_us
        low, time, high = (us + (factor - 1) * max(us - launch_us, 0) for us in known)
        return replace(
            self, time_us=time, low_us=low, high_us=high, metrics={}, in_proportion=True, prediction=None,
            unpredicted=self.unpredicted or "its time is in proportion to that of another launch",
        )  # fmt: skip


@dataclass(frozen=True)
class PredictedLaunch:
    """Predicted launch: warp instructions, and time."""

    instructions: int
    time: LaunchTime

    def ratio(self, instructions: int) -> float:
        """At least 1."""
        least, most = sorted((instructions, self.instructions))
        return most / max(least, 1)


Question = tuple[bytes, bytes]  # the parameters, without addresses, and the warp instructions of each basic block


@dataclass
class KnownTimes:
    """Known times of a kernel and configuration; `to_count`: how many more launches to count until one is predicted."""

    by_question: dict[Question, PredictedLaunch] = field(default_factory=dict)
    to_count: int = 0


class TimePredictor:
    """Time predictor: predicts each counted launch that differs from those before.

    Launches of one kernel and configuration that have the same parameters, addresses aside, and execute each basic
    block as often are taken to last equally long, whatever their data.  Of those that differ MOST are predicted; each
    further one, and each that was not counted, takes the time of the nearest, in proportion to its instructions.
    """

    def __init__(self, gpu: Machine) -> None:
        self.gpu = gpu
        self._known: dict[LaunchConfiguration, KnownTimes] = {}
        self._grids: defaultdict[object, list[PredictedLaunch]] = defaultdict(list)  # by kernel and block

    def wants_counters(self, configuration: LaunchConfiguration) -> bool:
        """Whether the next launch should be counted, so that it can be predicted."""
        known = self._known.get(configuration)
        return known is None or known.to_count > 0

    def time(self, run: Run, configuration: LaunchConfiguration, selected: bool = True) -> LaunchTime:
        """The time of a launch that has just been executed; its memory is as the launch left it.

        selected   whether its counters are reported: then it is predicted also if another is near
        """
        assert run.again is not None
        by_block = run.counted.executed()
        known = self._known.setdefault(configuration, KnownTimes())
        question = without_addresses(run.again.parameters), by_block.tobytes()
        found = known.by_question.get(question)
        if found is not None:
            return found.time
        instructions = int(by_block.sum())
        grids = self._grids[configuration.function, configuration.kernel, replace(configuration.launch, grid=(1, 1, 1))]
        nearest = _nearest(list(known.by_question.values()) or grids, instructions)
        if nearest is not None and not self._predicts(run, known, grids, nearest.ratio(instructions), selected):
            factor = instructions / max(nearest.instructions, 1)
            return nearest.time.scaled(factor, self.gpu.speeds.launch_microseconds)
        run.again.memory.again()
        run.again.memory.release()
        time = self._predicted(run)
        if not known.by_question:
            grids.append(PredictedLaunch(instructions, time))
        known.by_question[question] = PredictedLaunch(instructions, time)
        known.to_count = 0
        return time

    def _predicts(
        self, run: Run, known: KnownTimes, grids: Sequence[PredictedLaunch], ratio: float, selected: bool
    ) -> bool:
        """Whether a launch is predicted whose instructions are `ratio` times those of the nearest one, or its part."""
        if not known.by_question and len(grids) >= MOST_GRIDS and ratio < NEAR_GRID:
            return False
        far = ratio > FAR and len(known.by_question) < MOST
        if run.counted.counted:
            known.to_count -= known.to_count > 0
            return len(known.by_question) < MOST and (selected or far or not known.by_question)
        if far:
            known.to_count = PATIENCE
        return False

    def _predicted(self, run: Run) -> LaunchTime:
        try:
            made = run.predict()
        except (Unpredictable, UnsupportedInstruction, UsageError) as reason:  # blocks in clusters are not predicted
            return self._least(run, str(reason))
        return LaunchTime(
            made.time_us, made.low_us, made.high_us, made.limit, metrics=dict(made.metrics), prediction=made
        )

    def _least(self, run: Run, reason: str) -> LaunchTime:
        try:
            least = run.floor().microseconds + self.gpu.speeds.launch_microseconds
        except UsageError:
            least = self.gpu.speeds.launch_microseconds
        limit = f"not predicted: {reason}"
        return LaunchTime(least, least, least, limit, predicted=False, unpredicted=reason)


def _nearest(predicted: Sequence[PredictedLaunch], instructions: int) -> PredictedLaunch | None:
    return min(predicted, key=lambda one: abs(one.instructions - instructions), default=None)


def without_addresses(parameters: bytes) -> bytes:
    """The parameter block with device addresses replaced by their offset from the allocation unit."""
    whole = len(parameters) // WORD_BYTES
    words = struct.unpack_from(f"<{whole}Q", parameters)
    plain = (word % GRANULARITY if BASE <= word < BASE + BYTES else word for word in words)
    return struct.pack(f"<{whole}Q", *plain) + parameters[whole * WORD_BYTES :]

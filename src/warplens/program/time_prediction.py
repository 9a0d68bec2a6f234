"""Time prediction: the predicted time of each launch of a program; launches that are alike are predicted once."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field, replace

from warplens.core.metric import Metric
from warplens.errors import Unpredictable, UsageError
from warplens.machine import Machine
from warplens.program.arena import BASE, BYTES, GRANULARITY, WORD_BYTES
from warplens.program.loaded_module import LaunchConfiguration
from warplens.run import Run

MOST = 64  # predictions for a kernel and configuration: one takes 0.05 s and more


@dataclass(frozen=True)
class LaunchTime:
    """Launch time: with its interval; `predicted` is False where it is only the least time that the units allow."""

    time_us: float
    low_us: float
    high_us: float
    limit: str
    predicted: bool = True
    metrics: dict[str, Metric] = field(default_factory=dict)
    in_proportion: bool = False  # to that of another launch

    def scaled(self, factor: float) -> LaunchTime:
        return replace(
            self, time_us=factor * self.time_us, low_us=factor * self.low_us, high_us=factor * self.high_us,
            metrics={}, in_proportion=True,
        )  # fmt: skip


@dataclass(frozen=True)
class PredictedLaunch:
    """Predicted launch: warp instructions, and time."""

    instructions: int
    time: LaunchTime


Question = tuple[bytes, bytes]  # the parameters, without addresses, and the warp instructions of each basic block


class TimePredictor:
    """Time predictor: predicts each launch that differs from those before.

    Launches of one kernel and configuration that have the same parameters, addresses aside, and execute each basic
    block as often are taken to last equally long, whatever their data.  Of those that differ MOST are predicted; each
    further one takes the time of the nearest, in proportion to its instructions.
    """

    def __init__(self, gpu: Machine) -> None:
        self.gpu = gpu
        self._known: dict[LaunchConfiguration, dict[Question, PredictedLaunch]] = {}

    def time(self, run: Run, configuration: LaunchConfiguration) -> LaunchTime:
        """The time of a launch that has just been executed; its memory is as the launch left it."""
        assert run.again is not None
        by_block = run.counted.executed()
        known = self._known.setdefault(configuration, {})
        question = without_addresses(run.again.parameters), by_block.tobytes()
        found = known.get(question)
        if found is not None:
            return found.time
        instructions = int(by_block.sum())
        if len(known) >= MOST:
            nearest = min(known.values(), key=lambda one: abs(one.instructions - instructions))
            return nearest.time.scaled(instructions / max(nearest.instructions, 1))
        run.again.memory.again()
        run.again.memory.release()
        time = self._predicted(run)
        known[question] = PredictedLaunch(instructions, time)
        return time

    def _predicted(self, run: Run) -> LaunchTime:
        try:
            made = run.predict()
        except (Unpredictable, UsageError) as reason:
            return self._least(run, str(reason))
        return LaunchTime(made.time_us, made.low_us, made.high_us, made.limit, metrics=dict(made.metrics))

    def _least(self, run: Run, reason: str) -> LaunchTime:
        try:
            least = run.floor().microseconds + self.gpu.speeds.launch_microseconds
        except UsageError:
            least = self.gpu.speeds.launch_microseconds
        return LaunchTime(least, least, least, f"not predicted: {reason}", predicted=False)


def without_addresses(parameters: bytes) -> bytes:
    """The parameter block with device addresses replaced by their offset from the allocation unit."""
    whole = len(parameters) // WORD_BYTES
    words = struct.unpack_from(f"<{whole}Q", parameters)
    plain = (word % GRANULARITY if BASE <= word < BASE + BYTES else word for word in words)
    return struct.pack(f"<{whole}Q", *plain) + parameters[whole * WORD_BYTES :]

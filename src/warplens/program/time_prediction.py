"""Time prediction: the predicted time of each launch of a program; launches that are alike are predicted once."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from warplens.core.metric import Metric
from warplens.errors import Unpredictable, UsageError
from warplens.machine import Machine
from warplens.program.arena import BASE, BYTES, GRANULARITY, WORD_BYTES
from warplens.program.loaded_module import LoadedFunction
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
        times = (factor * time for time in (self.time_us, self.low_us, self.high_us))
        return LaunchTime(*times, self.limit, self.predicted, in_proportion=True)


@dataclass(frozen=True)
class PredictedLaunch:
    """Predicted launch: what tells it from others of its kernel and configuration, and its time.

    parameters   without the addresses in them, which count by their alignment alone
    executed     executions of each basic block;  instructions: their sum, in warp instructions
    """

    parameters: bytes
    executed: bytes
    instructions: int
    time: LaunchTime


class TimePredictor:
    """Time predictor: predicts each launch that differs from those before.

    Launches of one kernel and configuration that have the same parameters, addresses aside, and execute each basic
    block as often are taken to last equally long, whatever their data.  Of those that differ MOST are predicted; each
    further one takes the time of the nearest, in proportion to its instructions.
    """

    def __init__(self, gpu: Machine) -> None:
        self.gpu = gpu
        self._known: dict[tuple[object, ...], list[PredictedLaunch]] = {}

    def time(self, run: Run, function: LoadedFunction) -> LaunchTime:
        """The time of a launch that has just been executed; its memory is as the launch left it."""
        assert run.again is not None
        by_block = run.counted.executed()
        executed, instructions = by_block.tobytes(), int(by_block.sum())
        parameters = without_addresses(run.again.parameters)
        known = self._known.setdefault((function, run.kernel.kernel.cluster, run.launch), [])
        for found in known:
            if found.executed == executed and found.parameters == parameters:
                return found.time
        if len(known) >= MOST:
            nearest = min(known, key=lambda found: abs(found.instructions - instructions))
            return nearest.time.scaled(instructions / max(nearest.instructions, 1))
        run.again.memory.again()
        run.again.memory.release()
        time = self._predicted(run)
        known.append(PredictedLaunch(parameters, executed, instructions, time))
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
    words = np.frombuffer(parameters[: len(parameters) // WORD_BYTES * WORD_BYTES], np.uint64).copy()
    addresses = (words >= BASE) & (words < BASE + BYTES)
    words[addresses] %= GRANULARITY
    return words.tobytes() + parameters[words.nbytes :]

"""Time prediction: the predicted time of each launch of a program; equal launches are predicted once."""

from __future__ import annotations

from dataclasses import dataclass, field

from warplens.core.metric import Metric
from warplens.errors import Unpredictable, UsageError
from warplens.machine import Machine
from warplens.model import Prediction
from warplens.program.loaded_module import LoadedFunction
from warplens.run import Run


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


class TimePredictor:
    """Time predictor: remembers predictions by kernel, launch, parameters and executed instructions.

    Launches that differ in their data alone, and execute the same instructions equally often, are taken to last
    equally long.
    """

    def __init__(self, gpu: Machine) -> None:
        self.gpu = gpu
        self._known: dict[tuple[object, ...], LaunchTime] = {}

    def time(self, run: Run, function: LoadedFunction) -> LaunchTime:
        """The time of a launch that has just been executed; its memory is as the launch left it."""
        assert run.again is not None
        executed = run.counted.read()["executed"]
        key = function, run.kernel.kernel.cluster, run.launch, run.again.parameters, executed.tobytes()
        found = self._known.get(key)
        if found is None:
            run.again.memory.again()
            run.again.memory.release()
            found = self._known[key] = self._predicted(run)
        return found

    def _predicted(self, run: Run) -> LaunchTime:
        try:
            made = run.predict()
        except (Unpredictable, UsageError) as reason:
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

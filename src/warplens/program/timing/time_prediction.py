"""Time prediction: the predicted time of each launch of a program; launches that are alike are predicted once."""

from __future__ import annotations

import struct
from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from warplens.errors import Unpredictable, UnsupportedInstruction, UsageError
from warplens.machine import Machine
from warplens.program.arena import GRANULARITY, WORD_BYTES
from warplens.program.loaded_module import LaunchConfiguration
from warplens.program.timing.predicted_launch import (
    LaunchTime,
    PredictedLaunch,
    TimedLaunch,
    anchors,
    is_address,
    words,
)
from warplens.report.limit_text import with_text
from warplens.run import Run, launch_model

MOST = 64  # predictions for a kernel and configuration: one takes 0.05 s and more
# Predictions for a kernel and block: a further grid takes the time of the nearest, if it executes up to a quarter more
# or less instructions.  A decomposition of a matrix launches hundreds of grids.
MOST_GRIDS, NEAR_GRID = 4, 1.25
# A launch that executes twice or half as many instructions as each that was predicted is too far from them for a
# proportion: one of the next so many like it is counted, and predicted.
FAR, PATIENCE = 2.0, 8
MOST_RECORDED = 1 << 28  # bytes of what was recorded of launches, to predict them again for another L2


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
        self._recorded: deque[PredictedLaunch] = deque()
        self._recorded_bytes = 0

    def wants_counters(self, configuration: LaunchConfiguration) -> bool:
        """Whether the next launch should be counted, so that it can be predicted."""
        known = self._known.get(configuration)
        return known is None or known.to_count > 0

    def time(self, run: Run, configuration: LaunchConfiguration, selected: bool = True) -> TimedLaunch:
        """The time of a launch that has just been executed; its memory is as the launch left it.

        selected   whether its counters are reported: then it is predicted also if another is near
        """
        assert run.again is not None
        by_block, parameters = run.counted.executed(), run.again.parameters
        known = self._known.setdefault(configuration, KnownTimes())
        question = without_addresses(parameters), by_block.tobytes()
        found = known.by_question.get(question)
        if found is not None:
            return TimedLaunch(found, found.uses_at(parameters), self.gpu)
        instructions = int(by_block.sum())
        grids = self._grids[configuration.function, configuration.kernel, replace(configuration.launch, grid=(1, 1, 1))]
        nearest = _nearest(list(known.by_question.values()) or grids, instructions)
        if nearest is not None and not self._predicts(run, known, grids, nearest.ratio(instructions), selected):
            factor = instructions / max(nearest.instructions, 1)
            uses = tuple(use.scaled(factor) for use in nearest.uses_at(parameters))
            return TimedLaunch(nearest, uses, self.gpu, factor)
        run.again.memory.again()
        run.again.memory.release()
        found = self._predicted(run, instructions)
        if not known.by_question:
            grids.append(found)
        known.by_question[question] = found
        known.to_count = 0
        return TimedLaunch(found, found.uses, self.gpu)

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

    def _predicted(self, run: Run, instructions: int) -> PredictedLaunch:
        assert run.again is not None
        try:
            model = launch_model(run)
            cold = LaunchTime.of(with_text(model.prediction()))
        except (Unpredictable, UnsupportedInstruction, UsageError) as reason:  # blocks in clusters are not predicted
            return PredictedLaunch(instructions, self._least(run, str(reason)))
        parameters, buffers = run.again.parameters, [(a.address, a.address + a.size) for a in run.again.memory.in_use]
        made = PredictedLaunch(
            instructions, cold, parameters, model.uses, anchors(model.uses, buffers, parameters), model
        )  # fmt: skip
        self._keep(made)
        return made

    def _keep(self, made: PredictedLaunch) -> None:
        """Its recording, in the place of the oldest ones where they are too many."""
        self._recorded.append(made)
        self._recorded_bytes += made.recorded_bytes
        while self._recorded_bytes > MOST_RECORDED:
            oldest = self._recorded.popleft()
            self._recorded_bytes -= oldest.recorded_bytes
            oldest.model = None

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
    found = words(parameters)
    plain = (word % GRANULARITY if is_address(word) else word for word in found)
    return struct.pack(f"<{len(found)}Q", *plain) + parameters[len(found) * WORD_BYTES :]

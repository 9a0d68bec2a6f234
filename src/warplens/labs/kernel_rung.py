"""Kernel rung: a rung that launches a kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from warplens.commands.target import Flags, Target, targets
from warplens.core.metric import Metric
from warplens.core.program import Program
from warplens.core.run_options import RunOptions
from warplens.errors import UsageError
from warplens.hardware import Gpu, Job, Timing
from warplens.hardware import time as timed
from warplens.labs.python_file import function, keywords, load
from warplens.labs.reference_check import ReferenceCheck
from warplens.labs.rung import RungResult
from warplens.launchspec.expression import Names
from warplens.launchspec.lab_toml import LabFile, RungEntry
from warplens.model import Prediction
from warplens.report.lab.lab_table import Predicted
from warplens.report.terminal.progress import bar
from warplens.run import Run

QUANTITIES = "quantities.py"


@dataclass(frozen=True)
class KernelRung:
    """Kernel rung: a .cu file and its launch."""

    folder: Path
    lab: LabFile
    entry: RungEntry

    def target(self, gpu: str | None, size: Names | None) -> Target:
        """The kernel with its launch, not yet run."""
        settings = tuple(f"{name}={value}" for name, value in self.lab.settings(self.entry, size).items())
        (found,) = targets(str(self.folder / self.entry.file), Flags(self.entry.title, gpu=gpu, settings=settings))
        return found

    def run(self, gpu: str, size: Names | None, host: RunOptions, predict: bool = True) -> RungResult:
        target = self.target(gpu, size)
        target.kernel.check(target.launch, target.machine)
        before, after = target.values(), target.fresh_values()
        if self.lab.sample and size is not None:
            host = replace(host, sample=host.sample or self.lab.sample)
        names = self.lab.names(self.entry, size)
        truth = None if host.sample else ReferenceCheck(self.folder, self.entry, before, names)
        run = target.run_with(after, host, bar(self.entry.title))
        wrong = truth.differences(after) if truth else ()
        if wrong:
            return RungResult(run.metrics, None, wrong=wrong, run=run)
        metrics = {**run.metrics, **self.quantities(run, names)}
        if not predict:
            return RungResult(metrics, None, run=run)
        run = run.timed()
        found = predicted(run.prediction) if run.prediction else None
        return RungResult(metrics, found, run.unpredicted, run=run)

    def quantities(self, run: Run, names: Names) -> dict[str, Metric]:
        """Quantities of a run, by the lab's quantities.py; none without such a file.

        UsageError if it lacks the function that the rung names.
        """
        path = self.folder / QUANTITIES
        if not path.is_file():
            return {}
        function_of = function(load(path), self.entry.quantities)
        if function_of is None:
            raise UsageError(f"{path} has no function {self.entry.quantities}()")
        found: Mapping[str, float | int] = function_of(run, **keywords(function_of, names))
        label = run.subject.memory_provenance  # it may depend on anything that the run counted
        return {name: Metric(value, "", label) for name, value in found.items()}

    def program(self, gpu: str) -> Program:
        return self.target(gpu, {}).kernel.program

    def job(self, size: Names | None) -> Job:
        target = self.target(None, size)
        target.set_variables()
        return target.kernel.job(target.launch, *target.values())

    def time(self, gpu: Gpu, size: Names | None) -> Timing:
        return timed(self.job(size), gpu)


def predicted(prediction: Prediction) -> Predicted:
    return Predicted(
        prediction.gpu, prediction.time_us, prediction.low_us, prediction.high_us, prediction.limit,
        bool(prediction.calibrated),
    )  # fmt: skip

"""Python rung: a rung without a kernel: Python that counts, predicts and measures by itself.

    def quantities(*, n): return {"bytes": 4 * n}            # exact numbers by name, for the columns
    def predicted(machine, *, n): return 12.5                # microseconds, from the machine's description
    def measured(gpu, *, n): return [12.1, 12.3, 12.2]       # microseconds of each run, on this machine's GPU

Each is optional; its keyword-only parameters are names of the lab.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from warplens.core.metric import Metric
from warplens.core.run_options import RunOptions
from warplens.errors import Unpredictable
from warplens.hardware import Gpu, Timing
from warplens.labs.python_file import function, keywords, load
from warplens.labs.rung import RungResult
from warplens.launchspec.expression import Names
from warplens.launchspec.lab_toml import LabFile, RungEntry
from warplens.machine import machine
from warplens.report.lab.lab_table import Predicted


@dataclass(frozen=True)
class PythonRung:
    folder: Path
    lab: LabFile
    entry: RungEntry

    def run(self, gpu: str, size: Names | None, host: RunOptions, predict: bool = True) -> RungResult:
        module, names = load(self.folder / self.entry.file), self.lab.names(self.entry, size)
        quantities = function(module, "quantities")
        found = quantities(**keywords(quantities, names)) if quantities else {}
        metrics = {name: Metric(value, "", "exact") for name, value in found.items()}
        forecast = function(module, "predicted") if predict else None
        if forecast is None:
            return RungResult(metrics, None)
        try:
            time = float(forecast(machine(gpu), **keywords(forecast, names)))
        except Unpredictable as reason:
            return RungResult(metrics, None, str(reason))
        return RungResult(metrics, Predicted(gpu, time, None, None, "", bool(machine(gpu).calibrated)))

    def program(self, gpu: str) -> None:
        return None

    def job(self, size: Names | None) -> None:
        return None

    def time(self, gpu: Gpu, size: Names | None) -> Timing | None:
        measure = function(load(self.folder / self.entry.file), "measured")
        if measure is None:
            return None
        runs: Sequence[float] = sorted(measure(gpu, **keywords(measure, self.lab.names(self.entry, size))))
        tenth, median = len(runs) // 10, statistics.median(runs)
        return Timing(median, runs[tenth], runs[-1 - tenth], 0.0, 0.0, len(runs), gpu.name, gpu.driver, gpu.cuda)

"""Measurement: a launch on this machine's GPU, next to its prediction."""

from __future__ import annotations

import shutil
from dataclasses import replace

from warplens.commands.target import Target
from warplens.core.run_options import RunOptions
from warplens.errors import Unpredictable
from warplens.hardware import COUNTERS, Gpu, measure, time
from warplens.kernel import Progress
from warplens.model import Prediction
from warplens.report.terminal.measurement_report import Measured, TimeComparison
from warplens.run import Run


def measured(target: Target, gpu: Gpu, host: RunOptions, progress: Progress | None = None) -> Measured:
    """The counters of the prediction, or where there is none the exact ones.

    HardwareError, KernelFault, and UsageError for a wrong launch.
    """
    arguments = target.fresh_values()
    target.kernel.check(target.launch, target.machine)
    target.set_variables()
    job = target.kernel.job(target.launch, *arguments)
    timing = time(job, gpu)
    run = target.run(host, progress)
    prediction, why = _predicted(run, target.machine.key)
    ours = prediction.metrics if prediction else {name: run.metrics[name] for name in COUNTERS if name in run.metrics}
    names = tuple(ours) if shutil.which("ncu") else ()
    found = measure([job], names, cold=True)[0] if names else {}
    rows = tuple(
        TimeComparison(name, ours[name], replace(found[name], unit=ours[name].unit)) for name in names if name in found
    )
    return Measured(target.title, timing, prediction, why, rows)


def _predicted(run: Run, gpu: str) -> tuple[Prediction | None, str]:
    try:
        return run.predict(gpu), ""
    except Unpredictable as error:
        return None, str(error)

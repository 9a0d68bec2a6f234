"""A launch on this machine's GPU beside what warplens predicts for it.  F9."""

from __future__ import annotations

import shutil
from dataclasses import replace

from warplens.api import Progress
from warplens.errors import Unpredictable
from warplens.hardware import Gpu, measure, time
from warplens.host import Host
from warplens.model import Prediction
from warplens.report.measurement import Beside, Measured
from warplens.target import Target


def measured(target: Target, gpu: Gpu, host: Host, progress: Progress | None = None) -> Measured:
    """HardwareError, KernelFault, and UsageError for a wrong launch."""
    arguments = target.fresh_values()
    target.kernel.check(target.launch, target.machine)
    target.set_variables()
    job = target.kernel.job(target.launch, *arguments)
    timing = time(job, gpu)
    prediction, why = _predicted(target, host, progress)
    names = tuple(prediction.metrics) if prediction and shutil.which("ncu") else ()
    found = measure([job], names, cold=True)[0] if names else {}
    rows = tuple(
        Beside(name, prediction.metrics[name], replace(found[name], unit=prediction.metrics[name].unit))
        for name in names
        if prediction and name in found
    )
    return Measured(target.title, timing, prediction, why, rows)


def _predicted(target: Target, host: Host, progress: Progress | None) -> tuple[Prediction | None, str]:
    try:
        return target.run(host, progress).predict(target.machine.key), ""
    except Unpredictable as error:
        return None, str(error)

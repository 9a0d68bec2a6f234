"""GPU measurement of a lab's rungs: times, and hardware counters compared with warplens'."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date

from warplens.commands.validate import rows
from warplens.core.metric import Metric
from warplens.core.run_options import RunOptions
from warplens.errors import HardwareError
from warplens.hardware import COUNTERS, Gpu, Timing, measure, open_gpu
from warplens.kernel import Progress
from warplens.labs.run_lab import Size
from warplens.labs.rung import Rung
from warplens.machine.local_gpu import detect
from warplens.report.lab.lab_table import MeasuredTime
from warplens.run import tool_versions

Counted = Mapping[str, Mapping[str, Metric]]


def present(gpu: str) -> Gpu | None:
    """This machine's GPU, if it is the named one."""
    if detect() != gpu:
        return None
    try:
        return open_gpu()
    except HardwareError:
        return None


def times(
    rungs: Sequence[Rung], size: Size, gpu: Gpu, progress: Progress | None = None
) -> Iterator[MeasuredTime]:  # fmt: skip
    """Times of the rungs that can be timed; `progress` is called with how many are done.

    HardwareError and KernelFault as for hardware.time().
    """
    for done, rung in enumerate(rungs):
        if progress:
            progress(done, len(rungs))
        if (timing := rung.time(gpu, size.names)) is not None:
            yield measured_time(rung.entry.title, size.text, timing)
    if progress:
        progress(len(rungs), len(rungs))


def measured_time(rung: str, size: str, timing: Timing) -> MeasuredTime:
    versions = ", ".join(f"{tool} {version}" for tool, version in tool_versions("nvrtc").items())
    return MeasuredTime(
        gpu=timing.gpu, date=date.today().isoformat(), driver=timing.driver, cuda=timing.cuda, versions=versions,
        size=size, rung=rung, time_us=timing.microseconds, low_us=timing.low, high_us=timing.high,
        warm_us=timing.warm or None, runs=timing.runs, megahertz=timing.megahertz or None, fresh=True,
    )  # fmt: skip


def counted(
    found: Sequence[MeasuredTime], rungs: Sequence[Rung], known: Counted, gpu: str, host: RunOptions
) -> list[MeasuredTime]:  # fmt: skip
    """The same rows with how many of Nsight Compute's counters were compared at the small size, and how many are
    equal; unchanged without ncu.

    known   metrics by rung of earlier runs at the small size; the other rungs are run
    """
    if shutil.which("ncu") is None:
        return list(found)
    jobs = {rung.entry.title: job for rung in rungs if (job := rung.job(None)) is not None}
    theirs = dict(zip(jobs, measure(list(jobs.values()), COUNTERS), strict=True))
    ours = dict(known)
    for rung in rungs:
        if rung.entry.title in jobs and rung.entry.title not in ours:
            ours[rung.entry.title] = rung.run(gpu, None, host, predict=False).metrics
    compared = {title: rows(ours[title], theirs[title]) for title in jobs}
    return [
        replace(
            time, compared=len(both), equal=sum(row.equal for row in both),
            versions=f"{time.versions}, Nsight Compute {ncu_version()}",
        ) if (both := compared.get(time.rung)) else time
        for time in found
    ]  # fmt: skip


def ncu_version() -> str:
    """Version that ncu reports: "2025.3.1.0"."""
    said = subprocess.run(["ncu", "--version"], capture_output=True, text=True, check=False).stdout
    return said.partition("Version ")[2].split(" ")[0].strip() or "unknown"

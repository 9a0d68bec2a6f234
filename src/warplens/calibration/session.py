"""All trials on the GPU of this machine, from source to a record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path

from warplens.calibration.bench import Bench, Compiled
from warplens.calibration.record import Row, rows
from warplens.calibration.trial import Trial, source_of, subjects, trials
from warplens.compiler import compile_source, read_cubin
from warplens.hardware import Gpu

DRIVER = Path("/proc/driver/nvidia/version")
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Session:
    """rows: of the record;  left_out: trials for which the architecture or the memory of this GPU does not suffice"""

    rows: list[Row]
    left_out: tuple[Trial, ...]
    multiprocessors: int


def compiled(arch: str) -> dict[str, Compiled]:
    """The micro-benchmarks for an architecture, by subject."""
    found = {}
    for subject in subjects():
        data, _ = compile_source(source_of(subject), f"{subject}.cu", arch)
        kernels = read_cubin(data).kernels
        found[subject] = Compiled(data, {name: [p.size for p in kernel.parameters] for name, kernel in kernels.items()})
    return found


def run(gpu: Gpu, progress: Progress | None = None) -> Session:
    """Takes some ten seconds on a GPU.  HardwareError, CompileError."""
    multiprocessors = int(gpu.device.properties.multiprocessor_count)
    bench = Bench(gpu, compiled(gpu.arch))
    wanted = list(trials(multiprocessors))
    possible = [trial for trial in wanted if bench.can(trial)]
    readings = []
    for done, trial in enumerate(possible, 1):
        readings += bench.read(trial)
        if progress:
            progress(done, len(possible))
    tools = f"NVRTC {version('nvidia-cuda-nvrtc')}, CUDA events"
    kept = rows(readings, gpu.name, str(date.today()), driver_version() or f"CUDA {gpu.driver}", tools)
    return Session(kept, tuple(trial for trial in wanted if trial not in possible), multiprocessors)


def driver_version() -> str:
    """ "580.159.04", or "" where the driver does not say it."""
    try:
        words = DRIVER.read_text(encoding="utf-8").split()
    except OSError:
        return ""
    return next((word for word in words if word[:1].isdigit() and word.count(".") >= 1), "")

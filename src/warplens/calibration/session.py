"""Calibration session: runs all trials on the GPU of this machine and writes the record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path

from warplens.calibration.bench import Bench, CompiledTrials
from warplens.calibration.derive import tables, toml
from warplens.calibration.readings import Row, read, rows, text_of
from warplens.calibration.trial import Trial, source_of, subjects, trials
from warplens.compiler import compile_source, read_cubin
from warplens.errors import UsageError
from warplens.hardware import Gpu
from warplens.hardware.device import check
from warplens.machine import detect, machine
from warplens.system.atomic_write import write_whole

RECORD = "calibration.csv"
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Session:
    """source: GPU, date, driver and tools;  rows: of the record;  left_out: trials for which the architecture or memory
    of this GPU does not suffice"""

    source: str
    rows: list[Row]
    left_out: tuple[Trial, ...]
    multiprocessors: int


def compiled(arch: str) -> dict[str, CompiledTrials]:
    """The micro-benchmarks for an architecture, by subject."""
    found = {}
    for subject in subjects():
        data, _ = compile_source(source_of(subject), f"{subject}.cu", arch)
        kernels = read_cubin(data).kernels
        found[subject] = CompiledTrials(
            data, {name: [p.size for p in kernel.parameters] for name, kernel in kernels.items()}
        )
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
    source = (gpu.name, str(date.today()), gpu.driver or f"for CUDA {gpu.cuda}", tools)
    kept = rows(readings, *source)
    left_out = tuple(trial for trial in wanted if trial not in possible)
    return Session("{}, {}, driver {}, {}".format(*source), kept, left_out, multiprocessors)


def calibrated(gpu: Gpu, folder: str, progress: Progress | None = None) -> tuple[str, str]:
    """Writes the record to calibration.csv in `folder`; the tables of the GPU's file, and what was done."""
    path = Path(folder, RECORD)
    try:  # before minutes of measuring
        path.parent.mkdir(parents=True, exist_ok=True)
        path.open("ab").close()
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}; choose another folder with --out") from None
    done, key = run(gpu, progress), detect()
    write_whole(path, text_of(done.rows).encode())
    bandwidth = machine(key).dram_gigabytes_per_second if key else theoretical_bandwidth(gpu)
    l2_bytes = machine(key).l2_bytes if key else int(gpu.device.properties.l2_cache_size)
    found = tables(read(path), done.multiprocessors, bandwidth, l2_bytes)
    summary = f"{len(done.rows)} readings written to {path}; {len(done.left_out)} trials were not possible here"
    return toml(found, f"{done.source}: measurements/{key or 'NAME'}/{RECORD}"), summary


def theoretical_bandwidth(gpu: Gpu) -> float:
    """Gigabytes a second, from the clock and the width that the driver reports: two transfers a cycle."""
    from cuda.bindings import driver

    wanted = driver.CUdevice_attribute
    device = gpu.device.device_id
    kilohertz = check(driver.cuDeviceGetAttribute(wanted.CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, device))
    bits = check(driver.cuDeviceGetAttribute(wanted.CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, device))
    return 2 * float(kilohertz) * 1000 * float(bits) / 8 / 1e9

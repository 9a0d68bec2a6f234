"""Nsight Compute's counters of launches of the calibration (src/warplens/calibration): what, parameter, or trial."""

from __future__ import annotations

from functools import cache
from typing import Any

from gpu import Gpu

from warplens.calibration.trial import Buffer, Trial, source_of, trials

FILES = ("calibration_active", "calibration_counters", "calibration_lookups", "throughputs", "walks")
SOURCE = ""
MOST_BYTES = 2 << 30  # Nsight Compute keeps a copy of what a kernel writes


@cache
def named(multiprocessors: int) -> dict[str, Trial]:
    return {trial.name: trial for trial in trials(multiprocessors)}


@cache
def module_of(subject: str) -> Gpu:
    return Gpu(source_of(subject), profiled=True)


def name_of(row: dict[str, str]) -> str:
    return row["trial"] if "trial" in row else ", ".join(filter(None, [row["what"], row["parameter"]]))


def launch(gpu: Gpu, row: dict[str, str]) -> bool | None:
    trial = named(gpu.multiprocessors).get(name_of(row))
    if trial is None or sum(a.bytes for a in trial.args if isinstance(a, Buffer)) > MOST_BYTES:
        return None
    args = [made(gpu, trial, argument) for argument in trial.args]
    module_of(trial.subject).start(trial.kernel, trial.grid, trial.block, *args, shared=trial.shared)
    return True


def made(gpu: Gpu, trial: Trial, argument: Any) -> Any:
    cupy = gpu.cupy
    if isinstance(argument, float):
        return cupy.float32(argument)
    if isinstance(argument, int):
        return argument
    if not isinstance(argument, Buffer):
        return gpu.zeros(8 * max(trial.grid * -(-trial.block // 32), trial.count))
    kind, _, step = argument.fill.partition(" ")
    if kind == "chain":
        n = argument.bytes // 4
        return ((cupy.arange(n, dtype=cupy.uint64) + int(step)) % n).astype(cupy.uint32)
    if kind == "pointers":
        n = argument.bytes // 8
        place = gpu.zeros(argument.bytes).view(cupy.uint64)
        place[:] = place.data.ptr + 8 * ((cupy.arange(n, dtype=cupy.uint64) + int(step)) % n)
        return place
    if kind == "numbers":
        return cupy.arange(argument.bytes // 4, dtype=cupy.float32)
    return gpu.zeros(argument.bytes)

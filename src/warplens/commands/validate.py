"""Validation: compares results and counters with a GPU's, or with recorded ones."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplens.commands.target import Target
from warplens.core.agreement import Agreement, AgreementRow
from warplens.core.launch import Launch
from warplens.core.metric import Metric
from warplens.core.run_options import RunOptions
from warplens.errors import UsageError
from warplens.hardware import COUNTERS, Gpu, Job, launch, measure, open_gpu
from warplens.kernel import Progress
from warplens.launchspec.pitched_array import plain
from warplens.run import Run
from warplens.system.atomic_write import write_whole

IDENTITY = ("kernel", "grid", "block")
HUNDREDTH = 0.0051  # Nsight Compute prints percentages to two decimals


class Emulated:
    """A target's run on the CPU, with the job that repeats it on a GPU and the bytes it left."""

    def __init__(self, target: Target, host: RunOptions, progress: Progress | None) -> None:
        self.title = target.title
        arguments = target.fresh_values()
        self.job: Job = target.kernel.job(target.launch, *arguments)
        self.run: Run = target.kernel.launch(
            target.launch.grid, target.launch.block, *arguments, shared=target.launch.shared,
            cooperative=target.launch.cooperative, gpu=target.machine.key, threads=host.threads, budget=host.budget,
            progress=progress, labels=target.labels,
        )  # fmt: skip
        arrays = [a for a in map(plain, arguments) if isinstance(a, np.ndarray) and a.ndim]
        self.arrays: list[NDArray[Any]] = arrays

    @property
    def launch(self) -> Launch:
        return self.run.launch


def on_gpu(runs: Sequence[Emulated]) -> tuple[Gpu, list[Agreement]]:
    """Every run again on the GPU of this machine, once for its results and once for its counters.  HardwareError."""
    gpu = open_gpu()
    outputs = [launch(run.job, gpu) for run in runs]
    counted = measure([run.job for run in runs], COUNTERS)
    agreements = [
        Agreement(run.title, run.launch, rows(run.run.metrics, found), difference(run, got))
        for run, found, got in zip(runs, counted, outputs, strict=True)
    ]
    return gpu, agreements


def with_record(runs: Sequence[Emulated], file: str) -> list[Agreement]:
    """Every run beside the row of `file` that has its kernel, grid and block.  UsageError if there is none."""
    kept = read_record(file)
    found = []
    for run in runs:
        key = identity(run.title, run.launch)
        if key not in kept:
            raise UsageError(f"{file} has no launch of {key[0]} with grid {key[1]} and block {key[2]}")
        found.append(Agreement(run.title, run.launch, rows(run.run.metrics, kept[key]), None))
    return found


def rows(ours: Mapping[str, Metric], theirs: Mapping[str, Metric]) -> tuple[AgreementRow, ...]:
    """The metrics that both have, by name."""
    both = sorted(set(COUNTERS) & set(ours) & set(theirs))
    return tuple(
        AgreementRow(name, ours[name], theirs[name], abs(ours[name].value - theirs[name].value) < HUNDREDTH)
        for name in both
    )


def difference(run: Emulated, got: Sequence[NDArray[np.uint8]]) -> str:
    """The first element that differs in words; "" if all bytes are equal."""
    distinct = {(a.ctypes.data, a.nbytes): a for a in run.arrays}.values()
    for number, (array, theirs) in enumerate(zip(distinct, got, strict=True)):
        ours = array.reshape(-1).view(np.uint8)
        wrong = np.flatnonzero(ours != theirs)
        if wrong.size:
            at = int(wrong[0]) // array.itemsize
            values = (array.reshape(-1)[at], theirs.view(array.dtype)[at])
            return f"array {number + 1}, element {at}: {values[0]} here, {values[1]} on the GPU"
    return ""


def identity(title: str, launch: Launch) -> tuple[str, str, str]:
    return title, "x".join(map(str, launch.grid)), "x".join(map(str, launch.block))


def read_record(file: str) -> dict[tuple[str, ...], dict[str, Metric]]:
    """Counters by kernel, grid and block.  UsageError for a file that is none."""
    try:
        lines = Path(file).read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from None
    except ValueError:  # also a path with a byte of 0
        raise UsageError(f"{file} is not a record of counters: it is no text") from None
    try:
        names, *table = csv.reader(line for line in lines if line and not line.startswith("#"))
    except (csv.Error, ValueError):  # a field of 128 KiB; no line at all
        names, table = [], []
    if not set(IDENTITY) <= set(names):
        raise UsageError(f"{file} is not a record of counters: it needs the columns {', '.join(IDENTITY)}")
    kept: dict[tuple[str, ...], dict[str, Metric]] = {}
    for cells in table:
        if len(cells) != len(names):
            raise UsageError(f"{file} is damaged: a line of {len(cells)} values stands below {len(names)} columns")
        row = dict(zip(names, cells, strict=True))
        kept[tuple(row[n] for n in IDENTITY)] = {
            name: Metric(_counter(file, name, value), "", "measured")
            for name, value in row.items() if name not in IDENTITY and value
        }  # fmt: skip
    return kept


def _counter(file: str, name: str, text: str) -> int | float:
    try:
        value = float(text)
        if not math.isfinite(value):
            raise ValueError
        return value if "." in text else int(text)
    except ValueError:
        raise UsageError(f"{file} is damaged: {name} is {text[:40]!r}, and a number is wanted") from None


def write_record(file: str, agreements: Sequence[Agreement], heading: str) -> None:
    """What the GPU counted, for `read_record`; `heading` says which GPU and when."""
    names = sorted({row.name for agreement in agreements for row in agreement.rows})
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow([*IDENTITY, *names])
    for agreement in agreements:
        values = {row.name: row.measured.value for row in agreement.rows}
        table.writerow([*identity(agreement.title, agreement.launch), *(values.get(name, "") for name in names)])
    write_whole(Path(file), f"# {heading}\n{text.getvalue()}".encode())

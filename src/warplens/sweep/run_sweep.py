"""Sweep run: launches a kernel with all parameters of a space, each time with the same inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from warplens.errors import WarplensError
from warplens.report.metric_selection import asked, picked
from warplens.report.prediction_view import provenance
from warplens.report.terminal.progress import count_bar
from warplens.run import Run
from warplens.sweep.sweep_space import SweepSpace
from warplens.sweep.sweep_table import Row, Sweep

TIMES = ("time_us", "low_us", "high_us", "limit")


class Launcher(Protocol):
    """Launcher: LaunchableKernel.launch() with all but the size, the arguments and the GPU fixed."""

    def __call__(self, grid: Any, block: Any, *args: Any, shared: Any, gpu: str | None) -> Run: ...


def run_sweep(
    name: str,
    space: SweepSpace,
    launch: Launcher,
    variables: Sequence[NDArray[np.uint8]],
    metrics: str | Sequence[str],
) -> Sweep:
    """Executes every launch of the space, each with the same inputs.

    variables   memory of the module's variables, as it is before each launch and after the sweep
    metrics     names or patterns, as --metrics takes them
    A launch that is refused or faults gives a row with its error; if all of them do, the first error is raised.
    """
    words = [metrics] if isinstance(metrics, str) else metrics
    names = asked(words, space.gpu is not None, "metrics")
    before = [memory.copy() for memory in variables]
    rows: list[Row] = []
    provenances: dict[str, str] = {}
    errors: list[WarplensError] = []
    with count_bar(name) as progress:
        total = len(space)
        for done, parameters in enumerate(space):
            progress(done, total)
            try:
                arguments = space.arguments(parameters["block"])
                run = launch(
                    parameters["grid"], parameters["block"], *arguments, shared=parameters["shared"],
                    gpu=parameters["gpu"],
                )  # fmt: skip
                run = run.timed() if space.gpu is not None else run
                rows.append(_row(parameters, run, names, provenances))
            except WarplensError as error:
                errors.append(error)
                rows.append({**parameters, **dict.fromkeys((*TIMES, *names)), "error": str(error)})
            finally:
                for memory, content in zip(variables, before, strict=True):
                    memory[...] = content
        progress(total, total)
    if len(errors) == total:
        raise errors[0]
    return Sweep(name, tuple(rows), provenances)


def _row(parameters: Row, run: Run, names: Sequence[str], provenances: dict[str, str]) -> Row:
    """A row of a finished launch; the provenance of its numbers is put into `provenances`."""
    found = picked(names, run.subject.all_metrics)
    provenances.update({key: metric.provenance for key, metric in found.items() if metric})
    time = run.prediction
    if time is not None:
        provenances.update(dict.fromkeys(TIMES[:3], provenance(time)))
    times = dict(zip(TIMES, (time.time_us, time.low_us, time.high_us, time.limit) if time else [None] * 4, strict=True))
    values = {key: metric.value if metric else None for key, metric in found.items()}
    return {**parameters, **times, **values, "error": run.unpredicted}

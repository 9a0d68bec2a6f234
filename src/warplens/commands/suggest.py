"""Suggest: tries changes of a kernel's source and keeps those that are proven: outputs equal, and less time.

Each version is compiled, executed with the arguments of the launch and compared with the original's outputs; those
that are kept are executed once more with other random arrays.  Time is predicted, for the GPU that the user names.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from warplens.advice import Advice, OutputComparison, Step, Suggestion, Version, advise, search
from warplens.advice.search import Progress
from warplens.api import Module, compile, read_source
from warplens.commands.kernel_selection import is_source, kernel_of
from warplens.commands.suggestion.kernel_view import difference, kernel_view
from warplens.commands.suggestion.version_evaluator import (
    Candidate,
    SuggestRequest,
    VersionEvaluator,
    proven,
    tolerant,
)
from warplens.commands.target import Target
from warplens.core.run_options import RunOptions
from warplens.errors import CompileError, KernelFault, UsageError
from warplens.hardware import Gpu, Timing, time
from warplens.launchspec.arguments import parse_argument
from warplens.launchspec.array_view import RestoredArray
from warplens.launchspec.launch_block import Size
from warplens.launchspec.launch_block_edit import Sizes, divided, with_sizes
from warplens.launchspec.mapped_array import MappedArray
from warplens.launchspec.pitched_array import Pitched
from warplens.machine.gpu_choice import NONE
from warplens.report.suggestion_view import MeasuredView, SuggestionView
from warplens.rules import findings
from warplens.run import Run
from warplens.sass import disassemble_ahead
from warplens.transform import KernelSource, LaunchFacts

OTHER_PLACE = 7919  # of random arguments: other numbers than at the launch's own places


@dataclass(frozen=True)
class Suggested:
    """What came of it for one kernel.

    run, changed   the kernel as it is, executed, and with all changes
    measured   times of both on this machine's GPU, where asked for
    findings   of the kernel as it is, with their upper bounds;  fresh: how outputs compare on other random arrays
    """

    target: Target
    run: Run
    changed: Target
    findings: tuple[Advice, ...]
    suggestion: Suggestion
    fresh: str
    measured: tuple[Timing, Timing] | None = None

    def timed(self, gpu: Gpu) -> Suggested:
        """The same with the times of both versions on a GPU."""
        if not self.suggestion.steps:
            return self
        before, after = (
            time(target.kernel.job(target.launch, *target.values()), gpu) for target in (self.target, self.changed)
        )
        return replace(self, measured=(before, after))

    @property
    def source(self) -> str:
        """The changed file, with its launch block."""
        return with_sizes(self.suggestion.end.text, self.target.file, self.target.title, self.sizes)

    @property
    def sizes(self) -> dict[str, Size]:
        """Sizes of the launch that changed; a grid that is divided stays an expression of the names in the file."""
        end, launches = self.suggestion.end, [step.change.launch for step in self.suggestion.steps]
        found: dict[str, Size] = {}
        if end.grid is not None:
            over = [math.prod(sizes) for sizes in zip(*(launch.grid_over for launch in launches), strict=True)]
            fixed = any(launch.grid for launch in launches)
            grid = self.target.entry.grid if self.target.flags.grid is None else self.target.flags.grid
            quotient = None if fixed or grid is None else divided(grid, (over[0], over[1], over[2]))
            found["grid"] = _short(end.grid) if quotient is None else quotient
        if end.block is not None:
            found["block"] = _short(end.block)
        return found

    @property
    def view(self) -> SuggestionView:
        """For reports."""
        launch = ", ".join(f"{key} {size}" for key, size in self.sizes.items())
        fresh = f"on {VersionRunner.others} {self.fresh}" if self.fresh else ""
        diff = self.diff() if self.suggestion.steps else ""
        made = kernel_view(self.target.title, self.run, self.findings, self.suggestion, fresh, launch, diff)
        return replace(made, measured=_measured(*self.measured)) if self.measured else made

    def diff(self) -> str:
        """Unified diff of the file."""
        file = Path(self.target.file)
        return difference(read_source(file), self.source, file.name)


class VersionRunner(VersionEvaluator):
    """Executes versions of a kernel with the launch that its file or the command line has.

    modules   by source;  changed: places of the arguments whose arrays the kernel as it is changes
    """

    others = "other random arrays"
    changed: frozenset[int]

    def __init__(self, target: Target, request: SuggestRequest) -> None:
        super().__init__(request)
        self.target = target
        self.modules: dict[str, Module] = {}

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of the arguments: the parameters' names in the source, else their labels, else their numbers."""
        try:
            declared = KernelSource(read_source(Path(self.target.file)), self.target.entry.name).parameters
        except UsageError:
            declared = ()
        if len(declared) == len(self.target.kernel.parameters):
            return tuple(parameter.name for parameter in declared)
        return tuple(label or f"argument {place}" for place, label in enumerate(self.target.labels, 1))

    def as_it_is(self) -> Candidate:
        target = self.target

        def execute(host: RunOptions) -> tuple[Run, list[Any]]:
            values = target.fresh_values()
            run = target.run_with(values, host)
            self.changed = _changed(run)
            unchanged = target.values()
            return run, [value if n in self.changed else unchanged[n] for n, value in enumerate(values)]

        return Candidate(target.kernel.kernel.code, execute)

    def candidate(self, version: Version) -> Candidate:
        target = self.made(version)

        def execute(host: RunOptions) -> tuple[Run, list[Any]]:
            if host.sample is not None:
                return target.run_with(self.restored_values, host), []
            values = self.with_copies(target.values())
            return self.run(target, values, host), values

        return Candidate(target.kernel.kernel.code, execute)

    def run(self, target: Target, values: Sequence[Any], host: RunOptions) -> Run:
        """UsageError where a version changes an array that the kernel as it is only reads."""
        run = target.run_with(values, host)
        if more := sorted(_changed(run) - self.changed):
            raise UsageError(f"it writes to {self.names[more[0]]}, which the kernel as it is does not change")
        return run

    def with_copies(self, values: Sequence[Any]) -> list[Any]:
        """Arguments with copies of the arrays that the kernel changes; the others stand for themselves."""
        return [_copy(value) if n in self.changed else value for n, value in enumerate(values)]

    @cached_property
    def restored_values(self) -> list[Any]:
        """The same for runs of a few blocks, whose results nobody reads: arrays that have their old content again."""
        copies = self.with_copies(self.target.values())
        return [
            RestoredArray(value) if n in self.changed and isinstance(value, np.ndarray) else value
            for n, value in enumerate(copies)
        ]

    def made(self, version: Version) -> Target:
        """The kernel of a version.  CompileError."""
        flags, old = self.target.flags, self.target.kernel.kernel
        kernel = kernel_of(self.compiled(version.text), self.target.entry, self.target.file)
        if old.cluster != (1, 1, 1):
            kernel = kernel.in_clusters(old.cluster)
        grid, block = (None if size is None else ",".join(map(str, size)) for size in (version.grid, version.block))
        return replace(
            self.target, kernel=kernel, flags=replace(flags, grid=grid or flags.grid, block=block or flags.block)
        )

    def compiled(self, source: str) -> Module:
        """CompileError."""
        if source not in self.modules:
            entry, beside = self.target.entry, f"-I{Path(self.target.file).absolute().parent}"
            names = (entry.name,) if set("<:") & set(entry.name) else ()
            options = (*entry.options, *self.target.flags.options, beside)
            arch = self.target.kernel.kernel.arch
            self.modules[source] = compile(source=source, arch=arch, options=options, names=names)
        return self.modules[source]

    def compile_ahead(self, versions: Sequence[Version]) -> None:
        """Compiles versions, and disassembles them together; what cannot be compiled is left to evaluate()."""
        modules = []
        for version in versions:
            with suppress(CompileError):
                modules.append(self.compiled(version.text))
        disassemble_ahead(module.cubin for module in modules)

    def facts(self, run: Run) -> LaunchFacts:
        found = findings(run.subject)
        values = dict(zip(self.names, self.target.arguments, strict=True))
        sizes = {name: value.bytes for name, value in values.items() if value.bytes}
        numbers = {name: v.source for name, v in values.items() if isinstance(v.source, int | float)}
        machine = run.machine
        return LaunchFacts(
            run.launch.grid, run.launch.block, run.launch.shared, numbers, sizes,
            faults=frozenset(finding.fault for finding in found),
            warps=machine.limits.warps_per_multiprocessor, multiprocessors=machine.multiprocessors,
            resident=run.occupancy.blocks,
        )  # fmt: skip

    @cached_property
    def other(self) -> tuple[list[Any], list[Any]] | None:
        """Other random arrays, before the original and after it; None where there are none, or it faults on them."""
        before = self.other_values()
        if before is None:
            return None
        after = self.with_copies(before)
        try:
            self.run(self.target, after, self.request.host)
        except (KernelFault, UsageError):
            return None
        return before, after

    def on_other_inputs(self, steps: Sequence[Step]) -> OutputComparison | None:
        """How outputs compare after these changes on other random arrays; None where there are none.

        KernelFault if the changed kernel faults on them.
        """
        if self.other is None:
            return None
        before, expected = self.other
        values = self.with_copies(before)
        self.run(self.made(steps[-1].after), values, self.request.host)
        return self.compared(expected, values, tolerant([step.change for step in steps]))

    def other_values(self) -> list[Any] | None:
        texts = self.target.flags.args or self.target.entry.args
        if not any("random" in text for text in texts):
            return None
        folder = Path() if self.target.flags.args else Path(self.target.file).parent
        values = self.target.values()
        for place, (text, parameter) in enumerate(zip(texts, self.target.kernel.parameters, strict=True)):
            if "random" in text and not isinstance(values[place], Pitched):
                argument = parse_argument(text, self.target.known, place + OTHER_PLACE, folder)
                values[place] = argument.make(parameter.size)
                if isinstance(values[place], np.ndarray):
                    values[place].flags.writeable = False
        return values


def suggest(target: Target, request: SuggestRequest, progress: Progress) -> Suggested:
    """What makes one kernel faster.  UsageError for code that is no CUDA source, or whose time is not predicted."""
    if not is_source(target.file) or target.file.endswith(".ptx"):
        raise UsageError(f"suggest changes CUDA source; {target.file} has none")
    if target.machine_from == NONE:
        raise UsageError("suggest predicts the time of each change: name a GPU with --gpu")
    runner = VersionRunner(replace(target, kept={}), request)
    for flag, named in (("--scratch", request.scratch), ("--total", request.totals)):
        if unknown := sorted(set(named) - set(runner.names)):
            known = ", ".join(runner.names)
            raise UsageError(f"{flag}: no argument is called {', '.join(unknown)}; there are {known}")
    start = Version(read_source(Path(target.file)))
    found = search(start, target.entry.name, runner.evaluate, progress, runner.compile_ahead)
    found, fresh = proven(runner, found)
    changed = runner.made(found.end) if found.steps else target
    return Suggested(target, runner.start, changed, tuple(advise(runner.start)), found, fresh)


def _changed(run: Run) -> frozenset[int]:
    """Places of the arguments whose arrays a launch has changed."""
    assert run.again is not None
    memory, block = run.again.memory, run.again.parameters
    places = {memory.allocations[number].address for number in memory.written}
    return frozenset(
        n for n, parameter in enumerate(run.kernel.kernel.parameters)
        if int.from_bytes(block[parameter.offset : parameter.offset + parameter.size], "little") in places
    )  # fmt: skip


def _copy(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray | Pitched | MappedArray) else value


def _short(size: Sizes) -> Size:
    parts = list(size)
    while len(parts) > 1 and parts[-1] == 1:
        parts.pop()
    return parts[0] if len(parts) == 1 else tuple(parts)


def _measured(before: Timing, after: Timing) -> MeasuredView:
    return MeasuredView(before.microseconds, after.microseconds, before.gpu)

"""Suggest: tries changes of a kernel's source and keeps those that are proven: outputs equal, and less time.

Each version is compiled, executed with the arguments of the launch and compared with the original's outputs; those
that are kept are executed once more with other random arrays.  Time is predicted, for the GPU that the user names.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from difflib import unified_diff
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from warplens.advice import (
    NOISE,
    RATIO_ERROR,
    Advice,
    Evaluation,
    OutputComparison,
    Step,
    Suggestion,
    Version,
    advise,
    compare_outputs,
    search,
)
from warplens.advice.search import Outcome, Progress
from warplens.api import Module, compile, read_source
from warplens.commands.kernel_selection import is_source, kernel_of
from warplens.commands.target import Target
from warplens.core.run_options import RunOptions
from warplens.errors import CompileError, KernelFault, UnsupportedInstruction, UsageError
from warplens.hardware import Gpu, Timing, time
from warplens.launchspec.arguments import parse_argument
from warplens.launchspec.launch_block import Size
from warplens.launchspec.launch_block_edit import Sizes, divided, with_sizes
from warplens.launchspec.pitched_array import Pitched
from warplens.machine.gpu_choice import NONE
from warplens.report.suggestion_view import ChangeView, FindingView, MeasuredView, RejectedView, SuggestionView
from warplens.rules import findings
from warplens.run import Run
from warplens.sass import disassemble_ahead
from warplens.transform import Change, KernelSource, LaunchFacts

SAMPLE = 64  # blocks; its predicted time is that of the whole launch in the labs
LONG = 20_000_000  # warp instructions: a fifth of a second
OTHER_PLACE = 7919  # of random arguments: other numbers than at the launch's own places
COUNTS = ("smsp__inst_executed.sum", "memory_l2_theoretical_sectors_global", "memory_l1_wavefronts_shared",
          "smsp__inst_executed_op_branch.sum", "launch__registers_per_thread")  # fmt: skip


@dataclass(frozen=True)
class SuggestRequest:
    """host: how to execute;  scratch: arrays whose content after the launch does not matter;  totals: arrays of which
    only the sum of all elements matters"""

    host: RunOptions
    scratch: tuple[str, ...] = ()
    totals: tuple[str, ...] = ()


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
        found, prediction = self.suggestion, self.run.prediction
        changes = [_change(step, self.fresh) for step in found.steps]
        rejected = [RejectedView(step.change.title, step.change.line, _reason(step)) for step in found.tried]
        return SuggestionView(
            title=self.target.title,
            gpu=self.target.machine.title,
            before_us=found.begin.time_us,
            low_us=prediction.low_us if prediction else None,
            high_us=prediction.high_us if prediction else None,
            after_us=found.time_us,
            unpredicted=self.run.unpredicted,
            findings=[FindingView(a.finding.fault, a.text, a.line, a.gain, a.worth_it) for a in self.findings],
            changes=changes,
            rejected=rejected,
            refused=[RejectedView(refusal.transform, refusal.line, refusal.reason) for refusal in found.refused],
            launch=", ".join(f"{key} {size}" for key, size in self.sizes.items()),
            diff=self.diff() if changes else "",
            noise=NOISE,
            ratio_error=RATIO_ERROR,
            measured=_measured(*self.measured) if self.measured else None,
        )

    def diff(self) -> str:
        """Unified diff of the file."""
        before, name = read_source(Path(self.target.file)), Path(self.target.file).name
        lines = unified_diff(before.split("\n"), self.source.split("\n"), f"a/{name}", f"b/{name}", lineterm="", n=2)
        return "\n".join(lines)


@dataclass
class VersionRunner:
    """Executes versions of one kernel.

    known     machine code and launch of those before;  modules: by source
    start     the run of the kernel as it is
    """

    target: Target
    request: SuggestRequest
    known: set[tuple[bytes, Sizes | None, Sizes | None]] = field(default_factory=set)
    modules: dict[str, Module] = field(default_factory=dict)
    start: Run = field(init=False)

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

    @cached_property
    def original(self) -> tuple[Run, list[Any]]:
        values = self.target.fresh_values()
        return self.target.run_with(values, self.request.host), values

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

    def evaluate(self, version: Version, changes: tuple[Change, ...], limit_us: float | None) -> Evaluation:
        if not changes:
            run, _ = self.original
            self.start = run.timed()
            self.known.add((self.target.kernel.kernel.code, None, None))
            return self.evaluated(self.start, self.target, exact=True)
        unknown = LaunchFacts((1, 1, 1), (1, 1, 1))
        try:
            target = self.made(version)
        except CompileError as error:
            return Evaluation("not compiled", unknown, note=_first_line(error))
        identity = target.kernel.kernel.code, version.grid, version.block
        if identity in self.known:
            return Evaluation("same code", unknown, note="same machine code as a version before")
        self.known.add(identity)
        try:
            if limit_us and self.is_long:
                quick = _time(target.run(replace(self.request.host, sample=SAMPLE)).timed())
                if quick and quick > limit_us * (1 - NOISE):
                    return Evaluation("no gain", unknown, quick)
            values = self.target.fresh_values()
            run = target.run_with(values, self.request.host)
        except (KernelFault, UnsupportedInstruction, UsageError) as error:
            return Evaluation("fault", unknown, note=_first_line(error))
        compared = self.compared(self.original[1], values, _tolerant(changes))
        if not compared.equal:
            note = "; ".join(compared.differs.values())
            if changes[-1].effect == "order":
                flags = ", ".join(f"--scratch {name}" for name in compared.differs)
                note += f"; if nobody reads it afterwards, add {flags}; if only its sum is used, --total instead"
            return Evaluation("outputs differ", unknown, note=note)
        return self.evaluated(run.timed(), target, compared.exact)

    def evaluated(self, timed: Run, target: Target, exact: bool) -> Evaluation:
        """Of a version whose outputs are right."""
        outcome: Outcome = "equal" if timed.prediction else "not timed"
        return Evaluation(
            outcome, self.facts(timed, target), _time(timed), timed.unpredicted, exact, _counts(timed)
        )  # fmt: skip

    @property
    def is_long(self) -> bool:
        """Whether a sample of the blocks is timed before the whole launch is executed."""
        return int(self.start.trace.executed.sum()) > LONG and self.start.launch.blocks > 4 * SAMPLE

    def compared(self, expected: Sequence[Any], found: Sequence[Any], tolerant: bool) -> OutputComparison:
        return compare_outputs(self.names, expected, found, tolerant, self.request.scratch, self.request.totals)

    def facts(self, run: Run, target: Target) -> LaunchFacts:
        found = findings(run.subject)
        values = dict(zip(self.names, target.arguments, strict=True))
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
        after = [value.copy() if isinstance(value, np.ndarray) else value for value in before]
        try:
            self.target.run_with(after, self.request.host)
        except KernelFault:
            return None
        return before, after

    def on_other_inputs(self, steps: Sequence[Step]) -> OutputComparison | None:
        """How outputs compare after these changes on other random arrays; None where there are none.

        KernelFault if the changed kernel faults on them.
        """
        if self.other is None:
            return None
        before, expected = self.other
        values = [value.copy() if isinstance(value, np.ndarray) else value for value in before]
        self.made(steps[-1].after).run_with(values, self.request.host)
        return self.compared(expected, values, _tolerant([step.change for step in steps]))

    def other_values(self) -> list[Any] | None:
        texts = self.target.flags.args or self.target.entry.args
        if not any("random" in text for text in texts):
            return None
        folder = Path() if self.target.flags.args else Path(self.target.file).parent
        values = self.target.fresh_values()
        for place, (text, parameter) in enumerate(zip(texts, self.target.kernel.parameters, strict=True)):
            if "random" in text and not isinstance(values[place], Pitched):
                argument = parse_argument(text, self.target.known, place + OTHER_PLACE, folder)
                values[place] = argument.make(parameter.size)
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


def proven(runner: VersionRunner, found: Suggestion) -> tuple[Suggestion, str]:
    """Drops the last changes until outputs are equal on other random arrays too; and how equal they are."""
    while found.steps:
        *kept, last = found.steps
        try:
            compared = runner.on_other_inputs(found.steps)
        except KernelFault as fault:
            note = f"on other random arrays: {_first_line(fault)}"
        else:
            if compared is None:
                return found, ""
            if compared.equal:
                return found, "equal bit for bit" if compared.exact else "equal within rounding"
            note = "on other random arrays " + "; ".join(compared.differs.values())
        wrong = replace(last, evaluation=replace(last.evaluation, outcome="outputs differ", note=note))
        found = replace(found, steps=tuple(kept), tried=(wrong, *found.tried))
    return found, ""


def _change(step: Step, fresh: str) -> ChangeView:
    outputs = "equal bit for bit" if step.evaluation.exact else "equal within rounding"
    if fresh:
        outputs += f"; on other random arrays {fresh}"
    before, after = step.counts_before, step.evaluation.counts
    counts = {name: (before[name], after[name]) for name in after if after[name] != before.get(name)}
    return ChangeView(
        step.change.title, step.change.transform, step.change.line, step.time_before_us or 0.0,
        step.evaluation.time_us or 0.0, outputs, step.change.promise, counts,
    )  # fmt: skip


def _reason(step: Step) -> str:
    """Why a change that was tried is not offered."""
    if step.evaluation.outcome not in ("equal", "no gain"):
        return step.evaluation.note
    if step.gain >= NOISE:
        return f"{step.gain:.0%} less time; not needed beside the changes above"
    return "no measurable gain" if step.gain > -NOISE else f"{-step.gain:.0%} more time"


def _time(run: Run) -> float | None:
    return run.prediction.time_us if run.prediction else None


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]


def _tolerant(changes: Sequence[Change]) -> bool:
    """Whether floats may differ by rounding after these changes."""
    return any(change.effect != "exact" for change in changes)


def _counts(run: Run) -> dict[str, float]:
    return {name: float(run.metrics[name].value) for name in COUNTS if name in run.metrics}


def _short(size: Sizes) -> Size:
    parts = list(size)
    while len(parts) > 1 and parts[-1] == 1:
        parts.pop()
    return parts[0] if len(parts) == 1 else tuple(parts)


def _measured(before: Timing, after: Timing) -> MeasuredView:
    return MeasuredView(before.microseconds, after.microseconds, before.gpu)

"""Suggest: tries changes of a kernel's source and keeps those that are proven: outputs equal, and less time.

Each version is compiled, executed with the arguments of the launch and compared with the original's outputs; those
that are kept are executed once more with other random arrays.  Time is predicted, for the GPU that the user names.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
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
from warplens.api import compile, read_source
from warplens.commands.kernel_selection import is_source, kernel_of
from warplens.commands.target import Target
from warplens.core.run_options import RunOptions
from warplens.errors import CompileError, KernelFault, UnsupportedInstruction, UsageError
from warplens.hardware import Gpu, Timing, time
from warplens.launchspec.arguments import parse_argument
from warplens.launchspec.launch_block import Size
from warplens.launchspec.launch_block_edit import with_sizes
from warplens.launchspec.pitched_array import Pitched
from warplens.machine.gpu_choice import NONE
from warplens.report.suggestion_view import ChangeView, FindingView, MeasuredView, RejectedView, SuggestionView
from warplens.rules import findings
from warplens.run import Run
from warplens.transform import Change, KernelSource, LaunchFacts

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
        """Sizes of the launch that changed."""
        end = self.suggestion.end
        given = {"grid": end.grid, "block": end.block, "shared": end.shared}
        return {key: _short(size) for key, size in given.items() if size is not None}

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
    """Executes versions of one kernel.  code: machine code of those before;  start: the run of the kernel as it is"""

    target: Target
    request: SuggestRequest
    folder: Path
    code: dict[Version, bytes] = field(default_factory=dict)
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
        """The kernel of a version, in a file of the same name in a folder of its own.  CompileError."""
        path = self.folder / Path(self.target.file).name
        path.write_text(version.text, encoding="utf-8")
        flags, entry = self.target.flags, self.target.entry
        beside = f"-I{Path(self.target.file).absolute().parent}"
        names = (entry.name,) if set("<:") & set(entry.name) else ()
        module = compile(
            path, arch=self.target.kernel.arch, options=(*entry.options, *flags.options, beside), names=names
        )
        kernel = kernel_of(module, entry, str(path))
        if self.target.kernel.kernel.cluster != (1, 1, 1):
            kernel = kernel.in_clusters(self.target.kernel.kernel.cluster)
        sizes = {
            key: ",".join(map(str, size)) if isinstance(size, tuple) else str(size)
            for key, size in (("grid", version.grid), ("block", version.block), ("shared", version.shared))
            if size is not None
        }
        return replace(self.target, kernel=kernel, flags=replace(flags, **sizes))  # type: ignore[arg-type]

    def evaluate(self, version: Version, change: Change | None) -> Evaluation:
        unknown = LaunchFacts((1, 1, 1), (1, 1, 1))
        if change is None:
            run, _ = self.original
            timed = run.timed()
            self.start, self.code[version] = timed, _code(timed)
            return Evaluation(
                "equal", self.facts(timed, self.target), _time(timed), timed.unpredicted, counts=_counts(timed)
            )
        try:
            target = self.made(version)
        except CompileError as error:
            return Evaluation("not compiled", unknown, note=str(error).splitlines()[0])
        code = target.kernel.kernel.code
        if code in self.code.values() and not (version.grid or version.block or version.shared):
            return Evaluation("same code", unknown, note="same machine code as a version before")
        self.code[version] = code
        values = self.target.fresh_values()
        try:
            run = target.run_with(values, self.request.host)
        except (KernelFault, UnsupportedInstruction, UsageError) as error:
            return Evaluation("fault", unknown, note=str(error).splitlines()[0])
        compared = self.compared(self.original[1], values, change.effect != "exact")
        if not compared.equal:
            note = "; ".join(compared.differs.values())
            if change.effect == "order":
                flags = ", ".join(f"--scratch {name}" for name in compared.differs)
                note += f"; if nobody reads it afterwards, add {flags}; if only its sum is used, --total instead"
            return Evaluation("outputs differ", unknown, note=note)
        timed = run.timed()
        outcome: Outcome = "equal" if timed.prediction else "not timed"
        return Evaluation(
            outcome,
            self.facts(timed, target),
            _time(timed),
            timed.unpredicted,
            compared.exact,
            _counts(timed),
        )

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
            lines=frozenset(finding.line.line for finding in found if finding.line),
            warps=machine.limits.warps_per_multiprocessor, multiprocessors=machine.multiprocessors,
            resident=run.occupancy.blocks,
        )  # fmt: skip

    def on_other_inputs(self, version: Version, tolerant: bool) -> str:
        """How outputs compare on other random arrays: "" where the launch has none, else a sentence.  Differences are
        in it."""
        values = self.other_values()
        if values is None:
            return ""
        mine, others = values, [value.copy() if isinstance(value, np.ndarray) else value for value in values]
        self.target.run_with(mine, self.request.host)
        self.made(version).run_with(others, self.request.host)
        compared = self.compared(mine, others, tolerant)
        if not compared.equal:
            return "outputs differ on other random arrays: " + "; ".join(compared.differs.values())
        return "equal bit for bit" if compared.exact else "equal within rounding"

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
    with tempfile.TemporaryDirectory(prefix="warplens-suggest-") as folder:
        runner = VersionRunner(replace(target, kept={}), request, Path(folder))
        for flag, named in (("--scratch", request.scratch), ("--total", request.totals)):
            if unknown := sorted(set(named) - set(runner.names)):
                known = ", ".join(runner.names)
                raise UsageError(f"{flag}: no argument is called {', '.join(unknown)}; there are {known}")
        text = read_source(Path(target.file))
        found = search(Version(text), target.entry.name, runner.evaluate, progress)
        fresh = ""
        if found.steps:
            fresh = runner.on_other_inputs(found.end, any(s.change.effect != "exact" for s in found.steps))
        if fresh.startswith("outputs differ"):
            found = replace(found, steps=(), tried=(*found.steps, *found.tried))
        run = runner.start
        changed = runner.made(found.end) if found.steps else target
        return Suggested(target, run, changed, tuple(advise(run)), found, fresh)


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
    if step.evaluation.outcome != "equal":
        return step.evaluation.note
    if step.gain >= NOISE:
        return f"{step.gain:.0%} less time; not needed beside the changes above"
    return "no measurable gain" if step.gain > -NOISE else f"{-step.gain:.0%} more time"


def _time(run: Run) -> float | None:
    return run.prediction.time_us if run.prediction else None


def _code(run: Run) -> bytes:
    return run.kernel.kernel.code


def _counts(run: Run) -> dict[str, float]:
    return {name: float(run.metrics[name].value) for name in COUNTS if name in run.metrics}


def _short(size: tuple[int, int, int] | int) -> Size:
    if isinstance(size, int):
        return size
    parts = list(size)
    while len(parts) > 1 and parts[-1] == 1:
        parts.pop()
    return parts[0] if len(parts) == 1 else tuple(parts)


def _measured(before: Timing, after: Timing) -> MeasuredView:
    return MeasuredView(before.microseconds, after.microseconds, before.gpu)

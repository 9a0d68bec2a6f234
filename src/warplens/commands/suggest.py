"""Suggest: tries changes of a kernel's source and keeps those that are proven: outputs equal, and less time.

Each version is compiled, executed with the arguments of the launch and compared with the original's outputs; those
that are kept are executed once more with other random arrays.  Time is predicted, for the GPU that the user names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from warplens.advice import Advice, Suggestion, Version, advise, search
from warplens.advice.search import Progress
from warplens.api import read_source
from warplens.commands.kernel_selection import is_source
from warplens.commands.suggestion.kernel_view import difference, kernel_view
from warplens.commands.suggestion.version_evaluator import SuggestRequest, proven
from warplens.commands.suggestion.version_runner import VersionRunner
from warplens.commands.target import Target
from warplens.errors import UsageError
from warplens.hardware import Gpu, Timing, time
from warplens.launchspec.launch_block import Size
from warplens.launchspec.launch_block_edit import Sizes, divided, exchanged, multiplied, with_sizes
from warplens.machine.gpu_choice import NONE
from warplens.report.suggestion_view import MeasuredView, SuggestionView
from warplens.run import Run
from warplens.transform import LaunchChange


@dataclass(frozen=True)
class Suggested:
    """What came of it for one kernel.

    run, changed   the kernel as it is, executed, and with all changes
    measured   times of both on this machine's GPU, where asked for
    findings   of the kernel as it is, with their upper bounds;  fresh: how outputs compare on other inputs, in words
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
        """Sizes of the launch that changed; a grid that is divided or multiplied, or whose x and y are exchanged, stays
        an expression of the names in the file."""
        end = self.suggestion.end
        found: dict[str, Size] = {}
        if end.grid is not None:
            grid = self.target.entry.grid if self.target.flags.grid is None else self.target.flags.grid
            expression = None if grid is None else self._changed_expression(grid)
            found["grid"] = _short(end.grid) if expression is None else expression
        if end.block is not None:
            found["block"] = _short(end.block)
        return found

    def _changed_expression(self, grid: Size) -> Size | None:
        """Of the grid, where all changes divide or multiply it, or exchange x and another axis; else None."""
        facts, changed = self.suggestion.begin.facts, grid
        for step in self.suggestion.steps:
            made = _grid_of(changed, step.change.launch, facts.grid)
            if made is None:
                return None
            facts, changed = step.evaluation.facts, made
        return changed

    @property
    def view(self) -> SuggestionView:
        """For reports."""
        launch = ", ".join(f"{key} {_text(size)}" for key, size in self.sizes.items())
        diff = self.diff() if self.suggestion.steps else ""
        made = kernel_view(self.target.title, self.run, self.findings, self.suggestion, self.fresh, launch, diff)
        return replace(made, measured=_measured(*self.measured)) if self.measured else made

    def diff(self) -> str:
        """Unified diff of the file."""
        file = Path(self.target.file)
        return difference(read_source(file), self.source, file.name)


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
    changed.kept.clear()  # they are those of other inputs
    return Suggested(target, runner.start, changed, tuple(advise(runner.start)), found, fresh)


def _grid_of(size: Size, launch: LaunchChange, grid: Sizes) -> Size | None:
    """The expression of a changed grid that was `grid`; None where it is right for this size alone."""
    if launch.grid is None:
        made = divided(size, launch.grid_over)
        return None if made is None else multiplied(made, (launch.grid_times, 1, 1))
    if launch.block is None:
        return None  # as many blocks as a GPU holds
    if launch.exchanged:
        turned, before = exchanged(size, launch.exchanged), list(grid)
        if turned is None:
            return None
        before[0], before[launch.exchanged] = before[launch.exchanged], before[0]
        size, grid = turned, _sizes(before)
    pairs = list(zip(grid, launch.grid, strict=True))
    if any(old % new and new % old for old, new in pairs):
        return None
    made = divided(size, _sizes([max(old // new, 1) for old, new in pairs]))
    return None if made is None else multiplied(made, _sizes([max(new // old, 1) for old, new in pairs]))


def _sizes(of: Sequence[int]) -> Sizes:
    x, y, z = of
    return x, y, z


def _text(size: Size) -> str:
    return f"({', '.join(map(str, size))})" if isinstance(size, tuple) else str(size)


def _short(size: Sizes) -> Size:
    parts = list(size)
    while len(parts) > 1 and parts[-1] == 1:
        parts.pop()
    return parts[0] if len(parts) == 1 else tuple(parts)


def _measured(before: Timing, after: Timing) -> MeasuredView:
    return MeasuredView(before.microseconds, after.microseconds, before.gpu)

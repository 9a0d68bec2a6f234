"""Suggest program: changes of a program's own source, proven on its launches and by running the changed program."""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path

from warplens.advice import NOISE, Advice, Suggestion, Version, advise, search
from warplens.advice.launch_sites import with_launches
from warplens.advice.search import Progress
from warplens.commands.kernel_selection import matching
from warplens.commands.suggestion.kernel_view import difference, kernel_view
from warplens.commands.suggestion.program_kernel import ProgramKernel
from warplens.commands.suggestion.program_sources import ProgramSources, Texts, short
from warplens.commands.suggestion.program_trial import ProgramTrial, trial
from warplens.commands.suggestion.version_evaluator import (
    SuggestRequest,
    first_error,
    first_line,
    proven,
    without_last,
)
from warplens.emulator import DEFAULT_BUDGET
from warplens.errors import CompileError, KernelFault, UnsupportedInstruction, UsageError
from warplens.machine import Machine, choose
from warplens.machine.gpu_choice import NONE
from warplens.program.launch_archive import LaunchArchive
from warplens.program.nvcc_build import SOURCES
from warplens.program.program_options import Options
from warplens.program.saved_launch import SavedLaunch, read
from warplens.report.finding_text import format_program_finding
from warplens.report.program_view import LaunchGroup, ProgramView
from warplens.report.suggestion_view import ProgramKernelView, ProgramSuggestionView, SuggestionView
from warplens.report.terminal import program_progress
from warplens.run import Run

LEAST_SHARE = 0.05  # of the kernels' time: what a kernel below it can gain is less than the error of a prediction
MOST_KERNELS = 5
MOST_SHAPES = 4  # of launches of a kernel on which outputs are compared


@dataclass(frozen=True)
class ProgramRequest:
    """Program request: which program, and how it is run.

    words      its .cu and .cpp files, then its arguments;  nvcc: options
    kernels    words of --kernel, () for those that take most of the time
    expect     what its output must contain;  timeout: seconds of each of its runs
    """

    words: Sequence[str]
    request: SuggestRequest
    gpu: str | None = None
    nvcc: Sequence[str] = ()
    kernels: Sequence[str] = ()
    expect: str = ""
    timeout: float | None = None

    @property
    def sources(self) -> list[str]:
        return list(takewhile(lambda word: word.endswith(SOURCES), self.words))

    @property
    def arguments(self) -> list[str]:
        return list(self.words[len(self.sources) :])

    @property
    def machine(self) -> Machine:
        machine, machine_from = choose(self.gpu, os.environ)
        if machine_from == NONE:
            raise UsageError("suggest predicts the time of each change: name a GPU with --gpu")
        return machine


@dataclass
class KernelResult:
    """Kernel result: what came of one kernel; `run` and `view` are None where there was no search, for this reason."""

    kernel: str
    run: Run | None = None
    view: SuggestionView | None = None
    reason: str = ""


@dataclass
class SuggestedProgram:
    """Suggested program: texts before and after by file, trials of both, and its kernels, heaviest first."""

    request: ProgramRequest
    sources: ProgramSources
    before: ProgramTrial
    after: ProgramTrial
    texts: Texts
    kernels: list[KernelResult] = field(default_factory=list)

    @property
    def changed(self) -> dict[str, bytes]:
        """The files that changed, as they are to be written."""
        old = self.sources.texts
        return {name: self.sources.bytes_of(name, text) for name, text in self.texts.items() if text != old[name]}

    @property
    def view(self) -> ProgramSuggestionView:
        before, after = self.before.times_us, self.after.times_us
        launches = _launches(self.before.view)
        kernels = [
            ProgramKernelView(
                one.kernel, launches[one.kernel], before[one.kernel], after.get(one.kernel, 0.0), one.view, one.reason
            )
            for one in self.kernels
        ]  # fmt: skip
        old = self.sources.texts
        diffs = [difference(old[name], self.texts[name], short(name)) for name in self.changed]
        return ProgramSuggestionView(
            self.before.view.command, self.request.machine.title, sum(before.values()), sum(after.values()),
            self.before.exit_code, self._output, kernels,
            [format_program_finding(finding) for finding in self.before.view.advice], "\n".join(diffs),
        )  # fmt: skip

    @property
    def _output(self) -> str:
        if not self.changed:
            return ""
        lines = self.before.other_numbers(self.after)
        said = f", and contains {self.request.expect!r}" if self.request.expect else ""
        if not lines:
            return f"the changed program prints the same{said}"
        many = "1 line has other numbers" if lines == 1 else f"{lines} lines have other numbers"
        return f"the changed program prints the same words, {many} (times, or digits that rounding changes){said}"


def suggest_program(asked: ProgramRequest, progress: Progress) -> SuggestedProgram:
    """Runs a program, changes the kernels that take most of its time, and runs it again after each.

    UsageError where it is no program of CUDA source, or does not end as it should; CompileError.
    """
    if not asked.sources:
        raise UsageError(f"suggest changes CUDA source; {asked.words[0]} is none: give the program's .cu files")
    machine = asked.machine
    progress("compiling the program", 0, 1)
    sources = ProgramSources(asked.sources, machine.arch, asked.nvcc)
    with tempfile.TemporaryDirectory(prefix="warplens-") as folder:
        archive = LaunchArchive(Path(folder))
        before = _run(asked, sources, sources.texts, archive)
        if reason := before.why_not_green(asked.expect):
            raise UsageError(f"nothing can be proven with this program: {reason}")
        if not before.view.groups:
            raise UsageError("the program launches no kernel")
        made = SuggestedProgram(asked, sources, before, before, sources.texts)
        for kernel in _chosen(asked, before):
            made.kernels.append(_suggested(made, kernel, archive, progress))
        return made


def _run(
    asked: ProgramRequest, sources: ProgramSources, texts: Texts, archive: LaunchArchive | None = None
) -> ProgramTrial:  # fmt: skip
    """CompileError where the texts cannot be compiled."""
    machine = asked.machine
    view = ProgramView(shlex.join(asked.words), machine)
    budget = asked.request.host.budget or DEFAULT_BUDGET
    options = Options(machine, budget=budget, timeout=asked.timeout, archive=archive)
    with sources.built(texts) as made, program_progress.shown(view):
        return trial([str(made), *asked.arguments], options, view)


def _chosen(asked: ProgramRequest, before: ProgramTrial) -> list[str]:
    """The kernels that are named, or those that take most of the time; heaviest first.  UsageError."""
    times = before.times_us
    ordered = sorted(times, key=lambda kernel: -times[kernel])
    if asked.kernels:
        meant = {name for word in asked.kernels for name in matching(word, ordered)}
        if not meant:
            raise UsageError(f"--kernel: the program launches no such kernel; there are {', '.join(ordered)}")
        return [kernel for kernel in ordered if kernel in meant]
    whole = sum(times.values())
    return [kernel for kernel in ordered if times[kernel] >= LEAST_SHARE * whole][:MOST_KERNELS]


def _suggested(made: SuggestedProgram, kernel: str, archive: LaunchArchive, progress: Progress) -> KernelResult:
    """Searches one kernel, and takes what is proven into the program's texts."""
    groups = [group for group in made.before.view.groups if group.kernel == kernel]
    try:
        launches = _saved(kernel, groups, archive, made)
        evaluator = ProgramKernel(kernel, made.sources, made.texts, launches, made.request.request)

        def tell(what: str, done: int, of: int) -> None:
            progress(f"{kernel}: {what}", done, of)

        found = search(
            Version(made.texts[evaluator.file]), kernel, evaluator.evaluate, tell, evaluator.compile_ahead,
            evaluator.refusal,
        )  # fmt: skip
    except (UsageError, CompileError, KernelFault, UnsupportedInstruction) as error:
        return KernelResult(kernel, reason=first_line(error))
    found, fresh = proven(evaluator, found)
    before = made.texts
    while found.steps and (note := _taken(made, evaluator, found, tell)):
        found, fresh = proven(evaluator, without_last(found, f"in the whole program: {note}"))
    diffs = [
        difference(before[name], text, short(name)) for name, text in made.texts.items() if text != before[name]
    ]  # fmt: skip
    advice: tuple[Advice, ...] = tuple(advise(evaluator.start))
    view = kernel_view(kernel, evaluator.start, advice, found, fresh, "", "\n".join(diffs))
    return KernelResult(kernel, evaluator.start, view)


def _saved(
    kernel: str, groups: Sequence[LaunchGroup], archive: LaunchArchive, made: SuggestedProgram
) -> list[SavedLaunch]:
    """Launches of a kernel, that of the shape that takes most of its time first.  UsageError if there is none."""
    found = []
    for group in sorted(groups, key=lambda group: -group.time_us)[:MOST_SHAPES]:
        file = archive.files.get((kernel, group.launch))
        if file is not None and file.is_file():
            found.append(read(str(file), made.request.machine, "--gpu"))
        elif not found:
            room = archive.room >> 30
            raise UsageError(f"the memory of its launches is not there: more than {room} GiB would have to be kept")
    return found


def _taken(made: SuggestedProgram, evaluator: ProgramKernel, found: Suggestion, progress: Progress) -> str:
    """Takes changes into the program if it then ends as before and its kernels take less time; else why not."""
    texts = changed_texts(evaluator, found)
    progress("the changed program", 0, 1)
    try:
        after = _run(made.request, made.sources, texts)
    except CompileError as error:
        return f"not compiled: {first_error(error)}"
    note = made.before.difference(after, made.request.expect) or _no_gain(made.after, after, evaluator.kernel)
    if not note:
        made.texts, made.after = texts, after
    return note


def _no_gain(before: ProgramTrial, after: ProgramTrial, kernel: str) -> str:
    """Why a changed program is no better; "" where the kernel takes less time, and all kernels together do."""
    old, new = before.times_us, after.times_us
    if new.get(kernel, 0.0) > old[kernel] * (1 - NOISE):
        return f"all launches of {kernel} take {new[kernel] / old[kernel] - 1:+.0%} time"
    return "" if sum(new.values()) < sum(old.values()) else "its kernels together take no less time"


def changed_texts(evaluator: ProgramKernel, found: Suggestion) -> Texts:
    """All files of the program with the changes of a kernel and of its launches."""
    texts = {**evaluator.texts, evaluator.file: found.end.text}
    for rewrite in evaluator.rewrites(found.steps):
        texts = {name: with_launches(text, evaluator.source.name, rewrite) for name, text in texts.items()}
    return texts


def _launches(view: ProgramView) -> dict[str, int]:
    found: dict[str, int] = {}
    for group in view.groups:
        found[group.kernel] = found.get(group.kernel, 0) + group.launches
    return found

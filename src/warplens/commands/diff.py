"""Diff: two versions of a file's kernels: machine code, counts by source line, predicted time."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from warplens.commands.case_pool import answers
from warplens.commands.git_revision import checked_out, revision_of
from warplens.commands.kernel_case import (
    CaseError,
    CompiledCase,
    Counting,
    FileJob,
    compiled,
    counted,
    forget,
    normal_form_of,
)
from warplens.emulator import available_threads
from warplens.errors import UsageError
from warplens.machine import machine
from warplens.machine.gpu_choice import NONE
from warplens.regression.budget import Vocabulary, parse_budget
from warplens.regression.check_settings import KernelRule
from warplens.regression.code_diff import code_diff
from warplens.regression.kernel_record import KernelRecord
from warplens.regression.tracked_counts import DEFAULT_BUDGETS, is_static
from warplens.report.definitions import definitions
from warplens.report.regression_views.diff_view import TIME, Difference, DiffView, KernelDiff

UNLAUNCHED = "not launched: write a launch block into the file, or give --grid, --block and --arg"


@dataclass(frozen=True)
class DiffRequest:
    """What is asked.

    words    of --kernel;  launch: keys of a launch block, for files without one
    gpu      on which the time is predicted, where one is named;  static: machine code alone
    """

    old: str
    new: str
    words: tuple[str, ...] = ()
    arch: str | None = None
    gpu: str | None = None
    options: tuple[str, ...] = ()
    launch: Mapping[str, Any] = field(default_factory=dict)
    static: bool = False


@dataclass(frozen=True)
class FileVersion:
    """One version of the file, compiled."""

    job: FileJob
    cases: dict[str, CompiledCase | CaseError]


def diff(request: DiffRequest, folder: Path) -> DiffView:
    """The difference; versions of git are taken out into `folder`.  UsageError."""
    forget()
    budgets = [parse_budget(text, Vocabulary({d.name: d.unit for d in definitions()})) for text in DEFAULT_BUDGETS]
    timed = request.gpu is not None and request.gpu.casefold() != NONE
    if timed:
        machine(str(request.gpu))  # one error, not one for each kernel
    names = sorted({name for budget in budgets for name in budget.names})
    statics = [name for name in names if is_static(name)]
    old, new = (
        _version(request, word, folder / side, statics)
        for word, side in ((request.old, "old"), (request.new, "new"))
    )  # fmt: skip
    if not old.cases.keys() & new.cases.keys() and len(old.cases) == len(new.cases) == 1:
        new = _renamed(new, next(iter(old.cases)))  # one kernel each: they are meant
    found = [_kernel(name, old, new) for name in {**old.cases, **new.cases}]
    timed = request.gpu is not None and request.gpu.casefold() != NONE
    wanted = tuple(name for name in names if not is_static(name)) + ((TIME,) if timed else ())
    if not request.static:
        found = _counted(found, old, new, wanted, timed)
    return DiffView(old.job.shown, new.job.shown, tuple(sorted(found, key=lambda kernel: kernel.name)))


def _version(request: DiffRequest, word: str, folder: Path, statics: list[str]) -> FileVersion:
    path, root, shown = word, os.curdir, word
    if revision := revision_of(word):
        folder.mkdir()
        out = checked_out(*revision, folder)
        path, root, shown = out.path, out.folder, out.shown
    gpu = None if request.gpu is None or request.gpu.casefold() == NONE else request.gpu
    rules = (KernelRule("*", launch=request.launch),) if request.launch else ()
    job = FileJob(path, shown, root, request.arch, gpu, request.options, request.words, rules)
    cases = compiled(job, statics)
    if len(cases) == 1 and isinstance(error := cases[0], CaseError) and not error.name:
        raise UsageError(f"{shown}: {error.message}" if shown not in error.message else error.message)
    named = {case.name if isinstance(case, CaseError) else case.record.key.name: case for case in cases}
    return FileVersion(job, named)


def _renamed(version: FileVersion, name: str) -> FileVersion:
    (case,) = version.cases.values()
    return FileVersion(version.job, {name: case})


def _kernel(name: str, old: FileVersion, new: FileVersion) -> KernelDiff:
    one, other = old.cases.get(name), new.cases.get(name)
    for case in (one, other):
        if isinstance(case, CaseError):
            return KernelDiff(name, "", Difference.ERROR, note=case.message, exit_code=case.exit_code)
    assert not isinstance(one, CaseError)
    assert not isinstance(other, CaseError)
    if one is None or other is None:
        only = one or other
        assert only is not None
        return KernelDiff(name, only.record.key.arch, Difference.NEW if one is None else Difference.GONE)
    records = one.record, other.record
    if records[0].code == records[1].code:
        return KernelDiff(name, records[1].key.arch, Difference.UNCHANGED, *records)
    code = code_diff(normal_form_of(old.job, one), normal_form_of(new.job, other))
    return KernelDiff(name, records[1].key.arch, Difference.CHANGED, *records, code)


def _counted(
    found: list[KernelDiff], old: FileVersion, new: FileVersion, names: tuple[str, ...], timed: bool
) -> list[KernelDiff]:
    """With the counts of both launches, where machine code or launch differ and launches are known."""
    jobs: list[Counting] = []
    for kernel in found:
        cases = [version.cases.get(kernel.name) for version in (old, new)]
        known = [case for case in cases if isinstance(case, CompiledCase) and case.started]
        if kernel.difference is Difference.CHANGED and len(known) == 2:
            jobs += [Counting(v.job, case, names, timed, 1) for v, case in zip((old, new), known, strict=True)]

    def died(job: Counting) -> KernelRecord | CaseError:
        return CaseError(job.case.record.key.name, "the process that executed it ended", 4)

    done = dict(answers(counted, jobs, available_threads(), died))
    of = {id(counting.case): done[number] for number, counting in enumerate(jobs)}
    return [_with_counts(kernel, of.get(id(old.cases.get(kernel.name))), of.get(id(new.cases.get(kernel.name))))
            for kernel in found]  # fmt: skip


def _with_counts(
    kernel: KernelDiff, old: KernelRecord | CaseError | None, new: KernelRecord | CaseError | None
) -> KernelDiff:
    if kernel.difference is not Difference.CHANGED:
        return kernel
    for answer in (old, new):
        if isinstance(answer, CaseError):
            return replace(kernel, note=answer.message, exit_code=answer.exit_code)
    if old is None or new is None:
        return replace(kernel, note=UNLAUNCHED)
    assert isinstance(old, KernelRecord)
    assert isinstance(new, KernelRecord)
    unlike = "" if old.inputs == new.inputs else f"launched in different ways: {old.launch}; {new.launch}"
    return replace(kernel, old=old, new=new, note=unlike)

"""Program cases of `warplens check`: the launches of a whole program, one record a kernel and launch shape."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from warplens.commands.kernel_case import CaseError
from warplens.commands.kernel_counts import MachineCode, Places, with_counts, with_static_counts
from warplens.core.cubin import SourceLine
from warplens.errors import WarplensError
from warplens.machine import Machine
from warplens.program.program_options import Options
from warplens.program.server import serve
from warplens.regression.check_settings import ProgramRule
from warplens.regression.kernel_record import KernelKey, KernelRecord
from warplens.regression.normal_form import normal_form
from warplens.report.launch_view import LaunchView, blocks_of
from warplens.report.program_view import LaunchGroup, ProgramView

INPUT_LETTERS = 16


@dataclass(frozen=True)
class ProgramJob:
    """A program to be run.  folder: where its command begins;  names: of counts, statics: of the machine code."""

    rule: ProgramRule
    folder: str
    gpu: Machine
    names: Sequence[str]
    statics: Sequence[str]
    instructions: int | None = None


@dataclass(frozen=True)
class ProgramCase:
    """One kernel in one launch shape, counted.  line: where it begins."""

    record: KernelRecord
    line: SourceLine | None


def run_program_case(job: ProgramJob) -> list[ProgramCase | CaseError]:
    """Runs the program; what it prints goes to stderr, as stdout is the report's."""
    view = ProgramView(shlex.join(job.rule.command), job.gpu)
    options = Options(job.gpu) if job.instructions is None else Options(job.gpu, budget=job.instructions)
    try:
        with _in_folder(job.folder), _printing_to_stderr():
            outcome = serve(job.rule.command, options, view)
    except WarplensError as error:
        return [CaseError("", str(error), error.exit_code)]
    found: list[ProgramCase | CaseError] = []
    for group in view.groups:
        try:
            found.append(_case(job, group))
        except WarplensError as error:
            found.append(CaseError(_name(group), str(error), error.exit_code))
    if view.faults:
        return [*found, CaseError("", "; ".join(view.faults), 3)]
    if outcome.exit_code:
        return [*found, CaseError("", f"the program ended with {outcome.exit_code}", 3)]
    return found or [CaseError("", "the program launched no kernel", 2)]


def _case(job: ProgramJob, group: LaunchGroup) -> ProgramCase | CaseError:
    view = group.first
    if view is None:
        return CaseError(_name(group), "no launch of it was counted", 4)
    places = Places(view.file, view.file, job.folder)
    key = KernelKey(job.rule.name, _name(group), view.kernel.arch, view.machine.key)
    asked = [list(job.rule.command), group.launch.grid, group.launch.block, group.launch.shared]
    inputs = hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:INPUT_LETTERS]
    code = normal_form(view.program, view.kernel).digest
    tools = {name: version for name, version in view.tools.items() if name in ("warplens", "nvdisasm")}
    record = KernelRecord(key, code, blocks_of(group.launch), inputs, tools, {})
    least = view.machine.limits.registers_per_thread_minimum
    static = with_static_counts(
        record, MachineCode(view.kernel, view.program, view.sources), job.statics, places, least
    )  # fmt: skip
    return ProgramCase(with_counts(static, view, job.names, places), _begin(view, places))


def _begin(view: LaunchView, places: Places) -> SourceLine | None:
    found = next((i.source for i in view.program.instructions if i.source), None)
    return found and places(found)


def _name(group: LaunchGroup) -> str:
    """ "scale<<<8192, 128>>>": its kernel and launch shape."""
    launch = group.launch
    sizes = ["x".join(map(str, size)).removesuffix("x1").removesuffix("x1") for size in (launch.grid, launch.block)]
    return f"{group.kernel}<<<{', '.join(sizes)}>>>"


@contextmanager
def _in_folder(folder: str) -> Iterator[None]:
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


@contextmanager
def _printing_to_stderr() -> Iterator[None]:
    """Of this process and the program that it starts."""
    sys.stdout.flush()
    kept = os.dup(1)
    with suppress(OSError):
        os.dup2(2, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)

"""Run program: executes a whole program, and writes its report where it is wanted."""

from __future__ import annotations

import io
import os
import shlex
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any, TextIO, cast

from warplens.errors import UsageError
from warplens.machine import choose
from warplens.program.nvcc_build import CUDA_SOURCE, SOURCES, executable
from warplens.program.program_options import Options
from warplens.program.server import Outcome, serve
from warplens.report.html import program_page
from warplens.report.json import program_document
from warplens.report.json.document import text
from warplens.report.program_view import PURPOSE, ProgramView
from warplens.report.raw_page import DEFAULT_STREAM, RawLaunch, page_of
from warplens.report.terminal import program_progress, program_report
from warplens.report.terminal.console_layout import Trimmed, console
from warplens.report.timeline import DEFAULT_STREAM as OUR_DEFAULT_STREAM
from warplens.report.timeline import chrome_trace
from warplens.run import write_text


@dataclass(frozen=True)
class ProgramOutput:
    """Program output: files, and what is in the report.

    report   a file, "" for stderr;  json, trace, html: files for the JSON document, the timeline and the page, "" for
             none
    page     of the report, or None;  as_csv: it is the raw page of Nsight Compute
    metrics  names of metrics that are asked for, or None for all;  on_stdout: the report is, not on stderr
    """

    report: str = ""
    json: str = ""
    trace: str = ""
    page: program_report.Page | None = None
    as_csv: bool = False
    metrics: Sequence[str] | None = None
    on_stdout: bool = False
    html: str = ""

    def __post_init__(self) -> None:
        if self.as_csv and self.page not in ("raw", None):
            raise UsageError(f"--csv is of --page raw, not of --page {self.page}")
        if self.metrics is not None and self.page not in ("raw", None):
            raise UsageError(f"--metrics is of --page raw, not of --page {self.page}, which has tables of its own")

    @property
    def shown(self) -> program_report.Page:
        return self.page or ("summary" if self.metrics is None else "raw")


def run_program(
    command: Sequence[str], gpu: str | None, output: ProgramOutput, nvcc: Sequence[str] = (), **wishes: Any
) -> int:
    """The exit code: the program's, or 1 where that is 0 and a check found something.

    command   of a program; or .cu files, to be compiled with `nvcc` as options, and the program's arguments
    wishes    fields of Options
    UsageError where it cannot be started, CompileError where it cannot be compiled.
    """
    machine, _ = choose(gpu, os.environ)
    shown = shlex.join(command)
    with ExitStack() as stack:
        if command[0].endswith(CUDA_SOURCE):
            sources = list(takewhile(lambda word: word.endswith(SOURCES), command))
            arguments = list(command[len(sources) :])
            if arguments[:1] == ["--"]:
                del arguments[0]
            made = stack.enter_context(executable(sources, machine.arch, nvcc))
            command = [str(made), *arguments]
        view = ProgramView(shown, machine)
        with program_progress.shown(view):
            outcome = serve(command, Options(machine, **wishes), view)
    write(outcome, output)
    return outcome.exit_code or int(outcome.view.failed_check)


def write(outcome: Outcome, output: ProgramOutput) -> None:
    view = outcome.view
    if output.json:
        write_text(output.json, text(program_document.document(view, outcome.exit_code, output.metrics)))
    if output.trace:
        write_text(output.trace, "".join(chrome_trace(view.timeline, view.processes, PURPOSE)))
    if output.html:
        write_text(output.html, program_page.page(view))
    report = raw_page(view, output.metrics) if output.as_csv else None
    if output.report:
        page = io.StringIO()
        if report is None:
            program_report.show(view, console(page), output.shown, output.metrics)
        write_text(output.report, report or page.getvalue())
        program_report.show_faults(view, console(sys.stderr))
        return
    stream = sys.stdout if output.on_stdout else sys.stderr
    if report is not None:
        stream.write(f"==PROF== {PURPOSE}\n{report}")  # readers of Nsight Compute's output leave such lines out
    else:
        program_report.show(view, console(cast(TextIO, Trimmed(stream))), output.shown, output.metrics)


def raw_page(view: ProgramView, names: Sequence[str] | None) -> str:
    """The counted launches as `ncu --csv --page raw` has them."""
    rows = [
        RawLaunch(
            launch.kernel, launch.launch, launch.arch, launch.metrics, number, launch.process,
            Path(view.processes.get(launch.process, "")).name,
            DEFAULT_STREAM if launch.stream == OUR_DEFAULT_STREAM else launch.stream,
        )
        for number, launch in enumerate(view.counted)
    ]  # fmt: skip
    return page_of(rows, names)

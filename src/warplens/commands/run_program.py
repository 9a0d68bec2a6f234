"""Run program: executes a whole program, and writes its report where it is wanted."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from warplens.machine import choose
from warplens.program import Options, Outcome, executable, serve
from warplens.report.json import program_document
from warplens.report.json.document import text
from warplens.report.terminal import program_report
from warplens.report.terminal.console_layout import console
from warplens.run import write_text


@dataclass(frozen=True)
class ProgramOutput:
    """Program output: files for the report, "" for stderr, and for the JSON document, "" for none."""

    report: str = ""
    json: str = ""


def run_program(
    command: Sequence[str], gpu: str | None, output: ProgramOutput, nvcc: Sequence[str] = (), **wishes: Any
) -> int:
    """The program's exit code.

    command   of a program; or .cu files, to be compiled with `nvcc` as options, and the program's arguments
    wishes    fields of Options
    UsageError where it cannot be started, CompileError where it cannot be compiled.
    """
    machine, _ = choose(gpu, os.environ)
    with ExitStack() as stack:
        if sources := list(takewhile(lambda word: word.endswith(".cu"), command)):
            arguments = list(command[len(sources) :])
            if arguments[:1] == ["--"]:
                del arguments[0]
            made = stack.enter_context(executable(sources, machine.arch, nvcc))
            command = [str(made), *arguments]
        outcome = serve(command, Options(machine, **wishes))
    write(outcome, output)
    return outcome.exit_code


def write(outcome: Outcome, output: ProgramOutput) -> None:
    if output.json:
        write_text(output.json, text(program_document.document(outcome.view, outcome.exit_code)))
    if output.report:
        page = io.StringIO()
        program_report.show(outcome.view, console(page))
        write_text(output.report, page.getvalue())
        program_report.show_faults(outcome.view, console(sys.stderr))
    else:
        program_report.show(outcome.view, console(sys.stderr))

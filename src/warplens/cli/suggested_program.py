"""What `warplens suggest` prints and writes of a whole program, and the options that it shares with kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from warplens.cli.page_file import write_page
from warplens.core.run_options import RunOptions
from warplens.errors import UsageError
from warplens.system.atomic_write import check_place, write_whole

if TYPE_CHECKING:
    from warplens.commands.suggestion.suggest_program import SuggestedProgram
    from warplens.commands.suggestion.version_evaluator import SuggestRequest
    from warplens.commands.target import Flags


@dataclass(frozen=True)
class Presentation:
    """brief: few sentences;  html: a file, or None"""

    brief: bool
    as_json: bool
    html: str | None


@dataclass(frozen=True)
class Application:
    """Whether changed files are written, and where.  UsageError for what does not go together."""

    apply: bool
    output: str | None
    in_place: bool

    def __post_init__(self) -> None:
        if (self.output or self.in_place) and not self.apply:
            raise UsageError("--output and --in-place belong to --apply")
        if self.output and self.in_place:
            raise UsageError("--output and --in-place exclude each other: choose one")

    def place(self, file: str) -> str:
        """Where the changed version of a file goes."""
        path = Path(file)
        return file if self.in_place else self.output or str(path.with_name(f"{path.stem}.suggested{path.suffix}"))


@dataclass(frozen=True)
class RequestOptions:
    """Options of the search;  nvcc, expect, timeout: of programs"""

    host: RunOptions
    scratch: tuple[str, ...] = ()
    totals: tuple[str, ...] = ()
    nvcc: tuple[str, ...] = ()
    expect: str = ""
    timeout: float | None = None

    @property
    def request(self) -> SuggestRequest:
        from warplens.commands.suggestion.version_evaluator import SuggestRequest

        return SuggestRequest(self.host, self.scratch, self.totals)


def suggest_for_program(
    words: Sequence[str], flags: Flags, asked: RequestOptions, shown: Presentation, applied: Application
) -> None:  # fmt: skip
    """The whole of `warplens suggest main.cu -- ARGUMENTS`.  UsageError, CompileError."""
    from warplens.commands.saved_launches import vars_of
    from warplens.commands.suggestion.suggest_program import ProgramRequest, suggest_program
    from warplens.report.html import suggestion_page
    from warplens.report.json import suggestion_document
    from warplens.report.terminal import program_suggestion_report as report
    from warplens.report.terminal.console_layout import console
    from warplens.report.terminal.progress import steps

    possible = ("kernel", "gpu", "options")
    if wrong := [f"--{name}" for name, value in vars_of(flags).items() if name not in possible and value]:
        raise UsageError(f"{' and '.join(wrong)}: of a kernel with a launch block; a program makes its own launches")
    kernels = (flags.kernel,) if isinstance(flags.kernel, str) else flags.kernel or ()
    if applied.apply:
        check_place(applied.place(words[0]))
    request = ProgramRequest(
        words, asked.request, flags.gpu, (*flags.options, *asked.nvcc), kernels, asked.expect, asked.timeout
    )  # fmt: skip
    with steps(words[0]) as progress:
        done = suggest_program(request, progress)
    if shown.as_json:
        click.echo(suggestion_document.program_text(done.view, shown.brief), nl=False)
    elif shown.html:
        subjects = [one.run.page_subject for one in done.kernels if one.run]
        write_page(shown.html, suggestion_page.program_page(done.view, subjects))
    elif shown.brief:
        click.echo(report.brief(done.view))
    else:
        report.show(done.view, console())
    if applied.apply:
        _write(done, applied, shown.as_json)


def _write(done: SuggestedProgram, applied: Application, quiet: bool) -> None:
    """Every changed file; UsageError where several would go to one name."""
    changed = done.changed
    if not changed:
        click.echo("nothing to apply: no file is written", err=True)
        return
    if applied.output and len(changed) > 1:
        files = " and ".join(Path(name).name for name in changed)
        raise UsageError(f"--output names one file, and {files} change: use --in-place, or leave --output out")
    for name, data in changed.items():
        place = applied.place(name)
        try:
            write_whole(Path(place), data, Path(name).stat().st_mode & 0o777)
        except OSError as error:
            raise UsageError(f"cannot write {place}: {error.strerror}") from None
        click.echo(f"written to {place}", err=quiet)

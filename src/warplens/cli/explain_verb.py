"""What `warplens explain` prints or writes of kernels on one GPU, or on several."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from warplens.control_characters import visible
from warplens.errors import UsageError, WarplensError
from warplens.system.atomic_write import check_place

if TYPE_CHECKING:
    from warplens.commands.explain import Explained, ExplainRequest
    from warplens.commands.target import Flags
    from warplens.core.hazard import Hazard
    from warplens.run import Run


@dataclass(frozen=True)
class Output:
    """How a run is shown.

    metrics   names, as --metrics means them, or None for the whole report;  html, trace: files
    brief     the numbers that matter, in few sentences
    """

    as_json: bool = False
    as_csv: bool = False
    html: str | None = None
    lines: int = 10
    metrics: Sequence[str] | None = None
    trace: str | None = None
    brief: bool = False

    def __post_init__(self) -> None:
        formats = [flag for flag, on in (("--json", self.as_json), ("--csv", self.as_csv), ("--html", self.html)) if on]
        if self.html == "":
            raise UsageError("--html: the name of a file is missing: write --html report.html")
        if len(formats) > 1:
            raise UsageError(f"{' and '.join(formats)} exclude each other: choose one")
        if self.brief and (self.as_csv or self.html or self.metrics is not None):
            raise UsageError("--brief goes with --json or alone, not with --csv, --html or --metrics")
        if self.html:
            check_place(self.html)
        if self.trace is not None:
            check_place(self.trace)
        if self.html and self.metrics is not None:
            raise UsageError("--html has all metrics: use --metrics without it, or with --csv or --json")


def explained(
    file: str | None, saved: str | None, flags: Flags, wish: ExplainRequest
) -> Sequence[Sequence[Explained]]:  # fmt: skip
    """The kernels of FILE, those that a Python file launches, or the launches of --from, each on all GPUs named."""
    if file and file.endswith(".py"):
        from warplens.commands.python_launches import python_launches

        return python_launches(file, flags, wish.host, wish.check)
    if saved:
        from warplens.commands.saved_launches import saved_launches

        return saved_launches(saved, flags)
    from warplens.commands.explain import kernels

    return kernels(file or "", flags, wish.what_if)


def explain_program(file: str, flags: Flags, names: Sequence[str], as_csv: bool) -> None:
    """Runs a program, and reports each kernel that it launches."""
    from warplens.commands.run_program import ProgramOutput, run_program
    from warplens.program.launch_selection import LaunchSelection
    from warplens.report.metric_selection import asked

    words = (flags.kernel,) if isinstance(flags.kernel, str) else flags.kernel or ("",)
    if len(words) > 1:
        raise UsageError("--run takes one --kernel: use regex:A|B")
    metrics = asked(names) if names else None
    output = ProgramOutput(
        page=None if as_csv or names else "details", as_csv=as_csv, metrics=metrics, on_stdout=True
    )  # fmt: skip
    code = run_program(
        [file if os.sep in file or file.endswith(".cu") else f"./{file}"], flags.gpu, output, flags.options,
        selection=LaunchSelection.of(kernel_name=words[0]),
    )  # fmt: skip
    if code:
        raise click.exceptions.Exit(code)


def on_one(found: Sequence[Sequence[Explained]], wish: ExplainRequest, output: Output) -> bool:
    """The whole report of each kernel.  False if a check found something."""
    from warplens.commands.explain import run

    wish = replace(wish, advice=not output.as_csv and output.metrics is None)
    errors_and_warnings: list[Hazard] = []  # not the runs, which hold their arrays

    def executed(target: Explained) -> Run:
        done = run(target, wish)
        errors_and_warnings.extend(hazard for hazard in done.hazards if hazard.severity != "note")
        if output.trace:
            write_trace(done, output.trace)
        return done

    if output.as_json:
        from warplens.report.findings import launch_brief
        from warplens.report.json.document import error_document, text

        documents, ended = [], 0
        for (target,) in found:
            try:
                done = executed(target)
                documents.append(launch_brief.document(done.subject) if output.brief else done.document(output.metrics))
            except WarplensError as error:  # the other kernels still run
                documents.append(error_document(error, target.title, target.kernel.arch, target.machine.key))
                ended = ended or report_error(error, f"{target.title}: " if len(found) > 1 else "")
        click.echo(text(documents if len(documents) > 1 else documents[0], output.brief), nl=False)
        if ended:
            raise click.exceptions.Exit(ended)
    elif output.as_csv:
        from warplens.report import raw_page

        click.echo(raw_page.page([executed(target).subject for (target,) in found], output.metrics), nl=False)
    elif output.html:
        from warplens.report.headline import headline
        from warplens.report.html import launch_page as page
        from warplens.run import write_text

        shown = [executed(target).page_subject for (target,) in found]
        write_text(output.html, page.page(shown))
        click.echo("\n".join([*map(headline, shown), f"written to {output.html}"]))
    else:
        from warplens.report.findings import launch_brief
        from warplens.report.terminal import launch_report, metric_table
        from warplens.report.terminal.console_layout import console

        out, ended = console(), 0
        for place, (target,) in enumerate(found):
            if place:
                click.echo() if output.brief else out.rule(style="dim")
            try:
                subject = executed(target).subject
                if output.brief:
                    click.echo("\n".join(launch_brief.sentences(subject)))
                elif output.metrics is None:
                    launch_report.show(subject, out, output.lines)
                else:
                    metric_table.show(subject, output.metrics, out)
            except WarplensError as error:  # the other kernels still run
                if len(found) == 1:
                    raise
                ended = ended or report_error(error, f"{target.title}: ")
        if ended:
            raise click.exceptions.Exit(ended)
    return not errors_and_warnings


def write_trace(run: Run, file: str) -> None:
    """The timeline of one SM, for Perfetto."""
    from warplens.report.sm_timeline import chrome_trace
    from warplens.run import write_text

    write_text(file, "".join(chrome_trace(run.timeline(), run.kernel.program, run.subject.title)))
    click.echo(f"written to {file}", err=True)


def on_many(found: Sequence[Sequence[Explained]], wish: ExplainRequest, output: Output) -> bool:
    """A row for each GPU; the page has the whole reports, --metrics and --csv the metrics on each GPU."""
    from warplens.commands.explain import answers
    from warplens.report import raw_page
    from warplens.report.terminal import gpu_table, metric_table
    from warplens.report.terminal.console_layout import console

    if output.brief:
        raise UsageError("--brief is for one GPU: name one with --gpu")
    if wish.check:
        raise UsageError("--check is for one GPU: what it finds does not depend on the GPU")
    if output.metrics is not None and output.as_json:
        raise UsageError("--metrics with --json is for one GPU: name one with --gpu, or use --csv")
    by_kernel = [(same[0].title, list(answers(same, wish, for_page=bool(output.html)))) for same in found]
    if output.as_json:
        from warplens.report.json.document import text

        documents = [gpu_table.document(*rows) for rows in by_kernel]
        click.echo(text(documents if len(documents) > 1 else documents[0]), nl=False)
    elif output.html:
        from warplens.report.html import launch_page as page
        from warplens.run import write_text

        write_text(output.html, page.page([a.subject for _, rows in by_kernel for a in rows if a.subject], by_kernel))
        click.echo(f"written to {output.html}")
    elif output.as_csv or output.metrics is not None:
        subjects = [answer.subject for _, rows in by_kernel for answer in rows if answer.subject]
        refused = [(title, answer) for title, rows in by_kernel for answer in rows if answer.refused]
        if not subjects:
            raise UsageError(refused[0][1].refused)
        for title, answer in refused:
            click.echo(visible(f"{title} on {answer.machine.key}: {answer.refused}"), err=True)
        if output.as_csv:
            click.echo(raw_page.page(subjects, output.metrics, by_gpu=True), nl=False)
        else:
            metric_table.show_all(subjects, output.metrics or (), console())
    else:
        out = console()
        for place, (title, rows) in enumerate(by_kernel):
            if place:
                out.rule(style="dim")
            gpu_table.show(title, rows, out)
    return True


def report_error(error: WarplensError, whose: str = "") -> int:
    """Prints the error on stderr, after what the kernel printed before it faulted; returns the exit code."""
    click.echo(visible(getattr(error, "printed", "")), err=True, nl=False)
    click.echo(f"error: {visible(whose)}{error}", err=True)
    return error.exit_code

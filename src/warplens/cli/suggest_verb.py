"""`warplens suggest`: changes of a kernel's source that are proven."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warplens.cli.options import CODE, GPU, HOST, LAUNCH, options
from warplens.cli.page_file import check_page, write_page
from warplens.cli.suggested_program import Application, Presentation, RequestOptions, suggest_for_program
from warplens.core.run_options import RunOptions
from warplens.errors import UsageError
from warplens.system.atomic_write import check_place

if TYPE_CHECKING:
    from warplens.commands.suggest import Suggested
    from warplens.commands.target import Flags


@click.command(short_help="Change the source, and prove what makes it faster.")
@click.argument("words", nargs=-1, required=True, metavar="FILE... [-- ARGUMENTS]")
@options(LAUNCH, CODE, GPU, HOST)
@click.option("--run", "whole", is_flag=True, help="FILE is a program, though it has a launch block: run it whole.")
@click.option("--nvcc", multiple=True, metavar="OPT", help="Of a program, for nvcc: --nvcc=-O2, --nvcc=-Iinclude.")
@click.option("--expect", default="", metavar="TEXT", help="Of a program: what its output must contain.")
@click.option("--timeout", type=click.FloatRange(0, min_open=True), metavar="SECONDS", help="Of each run of a program.")
@click.option("--apply", is_flag=True, help="Write the changed file: to FILE with .suggested.cu as its ending.")
@click.option("--output", "-o", metavar="F", help="Of --apply: the file to write.")
@click.option("--in-place", is_flag=True, help="Of --apply: change FILE itself.")
@click.option("--scratch", multiple=True, metavar="NAME",
              help="An array whose content after the kernel does not matter; may be repeated.")  # fmt: skip
@click.option("--total", "totals", multiple=True, metavar="NAME",
              help="An array of which only the sum matters, such as partial sums; may be repeated.")  # fmt: skip
@click.option("--measure", is_flag=True, help="Time both versions on this machine's GPU as well.")
@click.option("--brief", is_flag=True, help="At most 15 sentences; with --json at most 2 KB a kernel.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")
@click.option("--html", metavar="F", help="Write one self-contained page, with the report of the kernel as it is.")
def suggest(
    words: tuple[str, ...], flags: Flags, host: RunOptions, scratch: tuple[str, ...], totals: tuple[str, ...],
    measure: bool, brief: bool, as_json: bool, html: str | None, **given: Any,
) -> None:  # fmt: skip
    """Find what is wrong with the kernels of FILE, change it in the source, and prove that it helps.

    Each change is compiled and executed; its outputs must equal the original's, and its predicted time be less.
    FILE has a launch block, or is a program with main(): it is then compiled with nvcc, run with its ARGUMENTS, its
    heaviest kernels are changed, and the changed program must print the same.

    \b
      warplens suggest copy.cu
      warplens suggest copy.cu --kernel nccopy --gpu a100
      warplens suggest sum.cu --scratch data --apply
      warplens suggest main.cu util.cu --expect PASS -- --size 4096
    """
    check_page(html, as_json)
    applied = Application(given.pop("apply"), given.pop("output"), given.pop("in_place"))
    shown = Presentation(brief, as_json, html)
    whole = given.pop("whole")
    if is_whole(words, flags, whole):
        if measure:
            raise UsageError("--measure times kernels with a launch block; of a program, time the changed one yourself")
        suggest_for_program(words, flags, RequestOptions(host, scratch, totals, **given), shown, applied)
        return
    if wrong := [f"--{name}" for name, value in given.items() if value]:
        raise UsageError(f"{' and '.join(wrong)}: of programs; {words[0]} has a launch block, --run runs it whole")
    _suggest_for_kernels(words[0], flags, RequestOptions(host, scratch, totals), shown, applied, measure)


def is_whole(words: Sequence[str], flags: Flags, whole: bool) -> bool:
    """Whether a program is meant, and not kernels with the launches of a launch block or of the flags."""
    from warplens.api import read_source
    from warplens.commands.kernel_selection import is_source, launches
    from warplens.compiler.launch_template import is_program

    if whole or len(words) > 1:
        return True
    (file,) = words
    if flags.grid or not is_source(file) or file.endswith(".ptx"):
        return False
    return launches(file) is None and is_program(read_source(Path(file)))


def _suggest_for_kernels(
    file: str, flags: Flags, asked: RequestOptions, shown: Presentation, applied: Application, measure: bool
) -> None:
    from warplens.commands.suggest import suggest as suggested
    from warplens.commands.target import targets, unstarted
    from warplens.hardware import open_gpu
    from warplens.report.json import suggestion_document
    from warplens.report.terminal import suggestion_report as report
    from warplens.report.terminal.console_layout import console
    from warplens.report.terminal.progress import steps

    apply, as_json, html = applied.apply, shown.as_json, shown.html
    place = applied.place(file)
    if apply:
        check_place(place)
    found = targets(file, flags)
    if len(found) > 1 and not (found[0].started or flags.grid):
        raise UsageError(unstarted(found))
    if apply and len(found) > 1:
        titles = ", ".join(target.title for target in found)
        raise UsageError(f"--apply changes one kernel; choose it with --kernel: {titles}")
    gpu = open_gpu() if measure else None
    done: list[Suggested] = []
    for number, target in enumerate(found):
        with steps(target.title) as progress:
            one = suggested(target, asked.request, progress)
            done.append(one.timed(gpu) if gpu else one)
        if not as_json and not html:
            if number:
                click.echo()
            if shown.brief:
                click.echo(report.brief(done[-1].view))
            else:
                report.show(done[-1].view, console())
    if as_json:
        click.echo(suggestion_document.text([one.view for one in done], shown.brief), nl=False)
    if html:
        from warplens.report.html import suggestion_page

        write_page(html, suggestion_page.page([one.view for one in done], [one.run.page_subject for one in done]))
    if apply:
        _write(done[0], place, as_json)




def _write(found: Suggested, place: str, quiet: bool) -> None:
    from warplens.run import write_text

    if not found.suggestion.steps:
        click.echo(f"nothing to apply: {place} is not written", err=True)
        return
    write_text(place, found.source)
    click.echo(f"written to {place}", err=quiet)

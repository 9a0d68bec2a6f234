"""`warplens suggest`: changes of a kernel's source that are proven."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from warplens.cli.options import CODE, GPU, HOST, LAUNCH, options
from warplens.cli.page_file import check_page, write_page
from warplens.core.run_options import RunOptions
from warplens.errors import UsageError
from warplens.system.atomic_write import check_place

if TYPE_CHECKING:
    from warplens.commands.suggest import Suggested
    from warplens.commands.target import Flags


@click.command()
@click.argument("file")
@options(LAUNCH, CODE, GPU, HOST)
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
    file: str, flags: Flags, host: RunOptions, apply: bool, output: str | None, in_place: bool,
    scratch: tuple[str, ...], totals: tuple[str, ...], measure: bool, brief: bool, as_json: bool,
    html: str | None,
) -> None:  # fmt: skip
    """Find what is wrong with the kernels of FILE, change it in the source, and prove that it helps.

    Each change is compiled and executed; its outputs must equal the original's, and its predicted time be less.

    \b
      warplens suggest copy.cu
      warplens suggest copy.cu --kernel nccopy --gpu a100
      warplens suggest sum.cu --scratch data --apply
    """
    from warplens.commands.suggest import SuggestRequest
    from warplens.commands.suggest import suggest as suggested
    from warplens.commands.target import targets, unstarted
    from warplens.hardware import open_gpu
    from warplens.report.json import suggestion_document
    from warplens.report.terminal import suggestion_report as report
    from warplens.report.terminal.console_layout import console
    from warplens.report.terminal.progress import steps

    check_page(html, as_json)
    if (output or in_place) and not apply:
        raise UsageError("--output and --in-place belong to --apply")
    if output and in_place:
        raise UsageError("--output and --in-place exclude each other: choose one")
    place = file if in_place else output or str(Path(file).with_suffix(".suggested.cu"))
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
            one = suggested(target, SuggestRequest(host, scratch, totals), progress)
            done.append(one.timed(gpu) if gpu else one)
        if not as_json and not html:
            if number:
                click.echo()
            if brief:
                click.echo(report.brief(done[-1].view))
            else:
                report.show(done[-1].view, console())
    if as_json:
        click.echo(suggestion_document.text([one.view for one in done], brief), nl=False)
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

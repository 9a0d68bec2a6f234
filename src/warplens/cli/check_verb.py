"""`warplens check`: budgets and baselines of kernels, for CI."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import click

from warplens.errors import UsageError


@click.command(short_help="Fail where kernels exceed budgets or a baseline.")
@click.argument("files", nargs=-1)
@click.option("--config", metavar="F", help="The settings [default: the nearest warplens.toml, or [tool.warplens] of "
              "pyproject.toml, from the folder of the first FILE upwards].")  # fmt: skip
@click.option("--kernel", "-k", "words", multiple=True, metavar="NAME|regex:EXPR", help="These kernels only.")
@click.option("--require", multiple=True, metavar="BUDGET",
              help="A budget beside those of the settings: 'gld_efficiency >= 95'.")  # fmt: skip
@click.option("--save", is_flag=True, help="Write the baseline: counts and a digest of the machine code.")
@click.option("--baseline", metavar="F", help="The baseline [default: warplens-baseline.toml beside the settings].")
@click.option("--across-versions", is_flag=True, help="Compare with counts that other versions of the tools made.")
@click.option("--arch", multiple=True, metavar="SM", help="Compile for this architecture; may be repeated.")
@click.option("--gpu", multiple=True, metavar="NAME", help="With the limits of this GPU; may be repeated.")
@click.option("--format", "form", default="text", show_default=True, metavar="NAME",
              help="Print text, json, markdown, sarif, junit or github (annotations).")  # fmt: skip
@click.option("--report", "reports", multiple=True, metavar="NAME=F",
              help="Write a report to a file as well: sarif=warplens.sarif; may be repeated.")  # fmt: skip
@click.option("--jobs", "-j", type=click.IntRange(1), metavar="N", help="Processes [default: all processors].")
def check(
    files: tuple[str, ...], config: str | None, words: tuple[str, ...], require: tuple[str, ...], save: bool,
    baseline: str | None, across_versions: bool, arch: tuple[str, ...], gpu: tuple[str, ...], form: str,
    reports: tuple[str, ...], jobs: int | None,
) -> None:  # fmt: skip
    """Check the kernels of FILES, or of the settings, against budgets and a baseline; no GPU is needed.

    A kernel whose machine code is the baseline's is not executed.

    \b
      warplens check --save
      warplens check
      warplens check copy.cu --require 'gld_efficiency >= 95'
      warplens check --format github --report sarif=warplens.sarif
    """
    from warplens.commands.check import CheckRequest
    from warplens.commands.check import check as checked
    from warplens.regression.check_settings import read_settings, settings_for
    from warplens.report.check import formats
    from warplens.report.terminal.progress import steps
    from warplens.run import write_text
    from warplens.system.atomic_write import check_place

    places = dict(_report(text, formats()) for text in reports)
    _known(form, formats())
    for place in places.values():
        check_place(place)
    start = Path(files[0]).absolute().parent if files else Path.cwd()
    settings = read_settings(Path(config).absolute()) if config else settings_for(start)
    settings = replace(
        settings, arch=arch or settings.arch, gpu=gpu or settings.gpu,
        baseline=str(Path(baseline).absolute()) if baseline else settings.baseline,
    )  # fmt: skip
    with steps("warplens check") as progress:
        view = checked(
            CheckRequest(settings, files, words, require, save, across_versions, jobs),
            lambda what, done, of: progress(what, done - 1, of),
        )
    click.echo(formats()[form](view), nl=False)
    for name, place in places.items():
        write_text(place, formats()[name](view))
    if view.exit_code:
        raise click.exceptions.Exit(view.exit_code)


def _report(text: str, known: Collection[str]) -> tuple[str, str]:
    name, separator, place = text.partition("=")
    if not separator or not place:
        raise UsageError(f"--report expects NAME=FILE, got {text!r}")
    _known(name, known)
    return name, place


def _known(name: str, known: Collection[str]) -> None:
    if name not in known:
        raise UsageError(f"no format {name!r}; possible are {', '.join(known)}")

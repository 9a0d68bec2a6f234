"""`warplens diff`: two versions of kernels beside each other."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warplens.cli.options import CODE, LAUNCH, options
from warplens.errors import UsageError

if TYPE_CHECKING:
    from warplens.commands.target import Flags


@click.command(short_help="Show what changed between two versions of a file.")
@click.argument("old")
@click.argument("new", required=False)
@options(LAUNCH[:7], CODE)
@click.option("--rev", nargs=2, metavar="A B", help="OLD is a file of git: as it was in A and in B.")
@click.option("--gpu", metavar="NAME", help="Predict the time of both on this GPU.")
@click.option("--static", is_flag=True, help="Launch nothing: the machine code alone.")
@click.option("--all", "everything", is_flag=True, help="All lines of machine code.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")
@click.option("--exit-code", "exit_code", is_flag=True, help="End with 1 if a kernel differs.")
def diff(
    old: str, new: str | None, flags: Flags, rev: tuple[str, str] | None, static: bool, everything: bool,
    as_json: bool,
    exit_code: bool,
) -> None:  # fmt: skip
    """Show what changed from OLD to NEW: machine code by basic block, then counts by source line, then predicted time.

    OLD and NEW are .cu files, PTX, cubins or programs; or files of git, REVISION:PATH.

    \b
      warplens diff old.cu new.cu
      warplens diff main:copy.cu copy.cu --gpu h200
      warplens diff --rev v1.0 HEAD copy.cu
    """
    from warplens.commands.diff import DiffRequest
    from warplens.commands.diff import diff as difference
    from warplens.report.diff import diff_document, diff_text

    if rev:
        if new is not None:
            raise UsageError("--rev takes one file: warplens diff --rev A B FILE")
        old, new = (f"{revision}:{old}" for revision in rev)
    if new is None:
        raise UsageError("diff takes OLD and NEW, or --rev A B and one file of git")
    words = (flags.kernel,) if isinstance(flags.kernel, str) else flags.kernel or ()
    request = DiffRequest(old, new, words, flags.arch, flags.gpu, flags.options, _launch(flags), static)
    with tempfile.TemporaryDirectory(prefix="warplens-diff-") as folder:
        view = difference(request, Path(folder))
    click.echo(diff_document.text(view) if as_json else diff_text.text(view, everything), nl=False)
    code = max((kernel.exit_code for kernel in view.kernels), default=0)
    if code or (exit_code and view.differs):
        raise click.exceptions.Exit(code or 1)


def _launch(flags: Flags) -> dict[str, Any]:
    """Flags of a launch as keys of a launch block."""
    given = {"grid": flags.grid, "block": flags.block, "shared": flags.shared, "cluster": flags.cluster}
    launch: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    if flags.args:
        launch["args"] = list(flags.args)
    if flags.settings:
        launch["set"] = {name: value for name, _, value in (text.partition("=") for text in flags.settings)}
    return launch

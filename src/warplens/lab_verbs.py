"""The verbs of the labs.  F10.

Only click is imported here; what a verb needs is imported when the verb runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from warplens.host import Host
from warplens.options import GPUS, HOST, options

if TYPE_CHECKING:
    from warplens.labs.run import Done
    from warplens.target import Flags


@click.command()
@click.argument("name", required=False)
@options(GPUS, HOST)
@click.option("--size", default="full", metavar="SIZE", show_default=True, help="small, full, or n=1048576,...")
@click.option("--rung", "rungs", multiple=True, metavar="RUNG", help="Only this one, by number or title.")
def lab(name: str | None, flags: Flags, host: Host, size: str, rungs: tuple[str, ...]) -> None:
    """Run the lab NAME: a ladder of kernels, each with its truth, counts, predicted and measured time.

    Without NAME the labs are listed.  A lab of your own is given by its folder: ./my_lab.

    \b
      warplens lab
      warplens lab coalescing
      warplens lab coalescing --size small --gpu a100,h200
    """
    from warplens.explain import gpus
    from warplens.labs.catalog import find
    from warplens.labs.run import Size, kept, runs, tabled
    from warplens.report.lab import show
    from warplens.report.layout import console

    if name is None:
        list_labs()
        return
    found, chosen = find(name), [key or "h200" for key in gpus(flags.gpu)]
    wanted, scale = found.chosen(rungs), Size.parse(size)
    records, unpredicted = [], {}
    for done in runs(found, wanted, scale, chosen, host):
        refuse_wrong(done)
        title = done.rung.entry.title
        unpredicted[title] = next(iter(done.outcomes.values())).unpredicted
        records.append(kept(found, done))
    show(tabled(found, records, wanted, scale, chosen, unpredicted), console())


def list_labs() -> None:
    from warplens.labs.catalog import find, names
    from warplens.report.lab import headline
    from warplens.report.layout import console

    labs = [find(name) for name in names()]
    headline([(lab.key, lab.file.title, len(lab.rungs)) for lab in labs], console())


def refuse_wrong(done: Done) -> None:
    """Ends with 1 for a rung that does not compute or count what it should."""
    if not done.wrong:
        return
    click.echo(f"{done.rung.entry.title} is wrong, so no time is given:", err=True)
    for text in done.wrong:
        click.echo(f"  {text}", err=True)
    raise click.exceptions.Exit(1)

"""What `warplens explain` prints or writes of kernels on one GPU, or on several.  F10."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from warplens.errors import UsageError, WarplensError

if TYPE_CHECKING:
    from warplens.explain import Wish
    from warplens.hazard import Hazard
    from warplens.run import Run
    from warplens.target import Target


def on_one(
    found: Sequence[Sequence[Target]], wish: Wish, as_json: bool, html: str | None, lines: int
) -> bool:  # fmt: skip
    """The whole report of each kernel.  False if a check found something."""
    from warplens.explain import run

    worse: list[Hazard] = []  # than a note; a run itself holds its arrays, which are not kept

    def told(target: Target) -> Run:
        done = run(target, wish)
        worse.extend(hazard for hazard in done.hazards if hazard.severity != "note")
        return done

    if as_json:
        click.echo(told(found[0][0]).json(), nl=False)
    elif html:
        from warplens.report import html as page
        from warplens.run import write_text

        write_text(html, page.page([told(target).subject for (target,) in found]))
        click.echo(f"written to {html}")
    else:
        from warplens.report import terminal
        from warplens.report.layout import console

        out, ended = console(), 0
        for place, (target,) in enumerate(found):
            if place:
                out.rule(style="dim")
            try:
                terminal.show(told(target).subject, out, lines)
            except WarplensError as error:  # of one kernel says nothing about the next
                if len(found) == 1:
                    raise
                ended = ended or complain(error, f"{target.title}: ")
        if ended:
            raise click.exceptions.Exit(ended)
    return not worse


def on_many(
    found: Sequence[Sequence[Target]], wish: Wish, as_json: bool, html: str | None, lines: int
) -> bool:  # fmt: skip
    """A row for each GPU; the page has the whole reports."""
    from warplens.explain import answers
    from warplens.report import gpu_rows
    from warplens.report.layout import console

    if wish.check:
        raise UsageError("--check is for one GPU: what it finds does not depend on the GPU")
    told = [(same[0].title, list(answers(same, wish))) for same in found]
    if as_json:
        click.echo(gpu_rows.document(*told[0]), nl=False)
    elif html:
        from warplens.report import html as page
        from warplens.run import write_text

        write_text(html, page.page([a.subject for _, rows in told for a in rows if a.subject], told))
        click.echo(f"written to {html}")
    else:
        out = console()
        for place, (title, rows) in enumerate(told):
            if place:
                out.rule(style="dim")
            gpu_rows.show(title, rows, out)
    return True


def tell_guesses(found: Sequence[Target]) -> None:
    """The launch blocks that were guessed, on stderr, each once."""
    for file, guessed in dict.fromkeys((target.file, target.guessed) for target in found if target.guessed):
        click.echo(f"guessed; write it into {file} with your sizes:\n\n{guessed}\n", err=True)


def complain(error: WarplensError, whose: str = "") -> int:
    """Tells it on stderr, behind what the kernel printed before it faulted; the exit code."""
    click.echo(getattr(error, "printed", ""), err=True, nl=False)
    click.echo(f"error: {whose}{error}", err=True)
    return error.exit_code

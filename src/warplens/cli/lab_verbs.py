"""The verbs of the labs.

Only click is imported here; what a verb needs is imported when the verb runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from warplens.cli.options import GPUS, HOST, options
from warplens.control_characters import visible
from warplens.core.run_options import RunOptions
from warplens.errors import HardwareError, UsageError
from warplens.system.atomic_write import check_place

if TYPE_CHECKING:
    from warplens.commands.target import Flags
    from warplens.hardware import Gpu
    from warplens.labs.gpu_measurement import Counted
    from warplens.labs.lab import Lab
    from warplens.labs.run_lab import FinishedRung, Size
    from warplens.report.lab.lab_table import LabTable
    from warplens.report.launch_view import LaunchView


@click.command(short_help="Run a lab: a ladder of kernels, explained.")
@click.argument("name", required=False)
@options(GPUS, HOST)
@click.option("--size", metavar="SIZE", help="full (default), small, or names of the lab: n=1048576,block=256.")
@click.option("--rung", "rungs", multiple=True, metavar="RUNG", help="Only this one, by number or title.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")
@click.option("--html", metavar="F", help="Write the lesson as one page, and beside it a folder with a report of each "
              "rung: F and F's name with _rungs.")  # fmt: skip
@click.option("--write", is_flag=True, help="Write results.csv, README.md and pictures of the lab, and on a GPU "
              "measured.csv.")  # fmt: skip
@click.option("--times", is_flag=True, help="With --write: only the measured times anew, on this machine's H200.")
@click.option("--check", is_flag=True, help="End with 1 if results.csv, README.md or pictures are not of today.")
def lab(
    name: str | None, flags: Flags, host: RunOptions, size: str | None, rungs: tuple[str, ...], as_json: bool,
    html: str | None, write: bool, times: bool, check: bool,
) -> None:  # fmt: skip
    """Run the lab NAME: a ladder of kernels, each with its truth, counts, predicted and measured time.

    Without NAME the labs are listed, and --write and --check are for all of them.  A lab of your own is given by its
    folder: ./my_lab.

    \b
      warplens lab
      warplens lab coalescing
      warplens lab coalescing --size small --gpu a100,h200
    """
    from warplens.labs.lab_catalog import find, names
    from warplens.labs.run_lab import Size

    if sum(map(bool, (write, check, as_json, html))) > 1:
        raise UsageError("--json, --html, --write and --check exclude each other: choose one")
    if times and not write:
        raise UsageError("--times is for --write: it leaves what was computed as it is and measures anew")
    if write or check:
        if rungs or flags.gpu not in (None, "h200"):
            raise UsageError("--write and --check are for all rungs on the h200: leave --rung and other GPUs out")
        keep_or_compare(name, size, host, write, times)
    elif name is not None:
        print_lab(find(name), Size.parse(size or "full"), rungs, flags, host, as_json, html)
    elif rungs or size or as_json or html:
        raise UsageError(f"of which lab? Give its name: {', '.join(names())}")
    else:
        list_labs()


def keep_or_compare(name: str | None, size: str | None, host: RunOptions, write: bool, times: bool) -> None:
    """Writes the files of one lab or of all, at one size or at both; or compares them with those of today."""
    from warplens.labs.lab_catalog import find, names
    from warplens.labs.run_lab import SIZES, Size

    sizes = [Size.parse(each) for each in ([size] if size else SIZES)]
    if any(each.text not in SIZES for each in sizes):
        raise UsageError("--write and --check keep the small and the full size: --size is one of these")
    labs = [find(each) for each in ([name] if name else names())]
    if write:
        rewrite(labs, sizes, host, times)
    else:
        find_stale(labs, sizes, host)


@click.group()
def new() -> None:
    """Write the files of a new lab, as a start."""


@new.command("lab")
@click.argument("name")
@click.option("--into", default=".", metavar="DIR", show_default=True, help="The folder to write it into.")
def new_lab(name: str, into: str) -> None:
    """Write the folder NAME with a lab of two rungs that runs.

    \b
      warplens new lab my_lab
      warplens lab ./my_lab
    """
    from pathlib import Path

    from warplens.labs.new_lab import create

    folder = create(name, Path(into))
    path = folder if folder.is_absolute() else f"./{folder}"
    click.echo(f"{path} is a lab: run `warplens lab {path}`, change it, and `warplens lab {path} --write`")


def print_lab(
    found: Lab, size: Size, titles: tuple[str, ...], flags: Flags, host: RunOptions, as_json: bool, html: str | None
) -> None:  # fmt: skip
    """The table of the rungs, in the terminal, as JSON or as a page."""
    from warplens.commands.explain import gpus
    from warplens.labs.gpu_measurement import present, times
    from warplens.labs.run_lab import kept, runs, table_of

    rungs, chosen = found.chosen(titles), [key or "h200" for key in gpus(flags.gpu)]
    records, unpredicted = [], {}
    if html:
        check_place(html)
    page = LabPages(found, html) if html else None
    for done in runs(found, rungs, size, chosen, host):
        refuse_wrong(done)
        first = done.outcomes[chosen[0]]
        unpredicted[done.rung.entry.title] = first.unpredicted
        records.append(kept(found, done))
        if page and first.subject:
            page.add(first.subject)
    gpu = present(chosen[0])
    fresh = {time.rung: time for time in times(rungs, size, gpu)} if gpu else {}
    table = table_of(found, records, rungs, size, chosen, unpredicted, fresh)
    if as_json:
        from warplens.report.json.lab_document import document

        click.echo(document(table), nl=False)
    elif page:
        page.write(table)
        click.echo(f"written to {html}, reports of {len(page.links)} rungs to {page.folder}")
    else:
        from warplens.report.lab.lab_table import show
        from warplens.report.terminal.console_layout import console

        show(table, console())


class LabPages:
    """A lab's page and the folder with the report of each rung, which are written one after the other."""

    def __init__(self, found: Lab, file: str) -> None:
        from pathlib import Path

        self.found, self.file = found, Path(file)
        self.folder = self.file.with_name(f"{self.file.stem}_rungs")
        self.links: dict[str, str] = {}
        self._subjects: list[LaunchView] = []
        try:
            self.folder.mkdir(exist_ok=True)
        except OSError as error:
            raise UsageError(f"cannot write {self.folder}: {error.strerror}") from None

    def add(self, subject: LaunchView) -> None:
        """Writes the report of a rung."""
        from warplens.report.html import launch_page as html
        from warplens.run import write_text

        title, back = subject.title, (self.found.file.title, f"../{self.file.name}")
        write_text(self.folder / f"{title}.html", html.page([subject], back=back))
        self.links[title] = f"{self.folder.name}/{title}.html"
        self._subjects.append(subject)

    def write(self, table: LabTable) -> None:
        """Writes the page."""
        from warplens.labs.lesson import lesson, pictures, sources
        from warplens.report.html.lab_page import Picture, ladder, page
        from warplens.run import write_text

        drawn = pictures(self.found)
        if "roofline" not in drawn and (path := ladder(self._subjects)):
            drawn["roofline"] = Picture("Roofline with the rungs as a path", path)
        write_text(self.file, page(table, lesson(self.found), drawn, sources(self.found), self.links))


def rewrite(labs: Sequence[Lab], sizes: Sequence[Size], host: RunOptions, only_times: bool) -> None:
    """HardwareError where only times are wanted and there is no GPU for them."""
    from warplens.labs.gpu_measurement import present
    from warplens.labs.stored_results import GPU

    gpu = present(GPU)
    if only_times and gpu is None:
        raise HardwareError(f"--times measures on an {GPU}, and this machine has none")
    said = "" if gpu else "; times are those recorded, as no H200 is here"
    for found in labs:
        ours = {} if only_times else recompute(found, sizes, host)
        if gpu:
            remeasure(found, sizes, ours, host, gpu)
        click.echo(f"{found.folder} is written anew{said}")


def recompute(found: Lab, sizes: Sequence[Size], host: RunOptions) -> Counted:
    """results.csv, README.md and pictures; the metrics of the small size by rung."""
    from warplens.labs.lab_pictures import Gallery, write_pictures
    from warplens.labs.stored_results import GPU, run_and_record, write

    rows, galleries, ours = [], [Gallery(found, size.text) for size in sizes], {}
    for size, gallery in zip(sizes, galleries, strict=True):
        for done, fresh in run_and_record(found, size, host):
            refuse_wrong(done)
            rows += fresh
            gallery.see(done)
            if size.names is None:
                ours[done.rung.entry.title] = done.outcomes[GPU].metrics
    write(found, rows, sizes)
    for gallery in galleries:
        write_pictures(found, gallery.drawn())
    return ours


def remeasure(found: Lab, sizes: Sequence[Size], ours: Counted, host: RunOptions, gpu: Gpu) -> None:
    """measured.csv, and what stands in README.md and pictures of it."""
    from warplens.labs.gpu_measurement import counted, times
    from warplens.labs.lab_pictures import Gallery, write_pictures
    from warplens.labs.result_files import write_measured
    from warplens.labs.stored_results import GPU, write_readme
    from warplens.report.terminal.progress import bar

    timed = [time for size in sizes for time in times(found.rungs, size, gpu, bar(f"{found.key}, {size.text}"))]
    write_measured(found.folder, counted(timed, found.rungs, ours, GPU, host))
    write_readme(found)
    write_pictures(found, Gallery(found, "full").drawn())


def find_stale(labs: Sequence[Lab], sizes: Sequence[Size], host: RunOptions) -> None:
    """Prints what is out of date; ends with 1 if there is any."""
    stale = []
    for found in labs:
        if parts := find_stale_parts(found, sizes, host):
            stale.append(found.key)
        for line in parts:
            click.echo(line)
    for key in stale:
        click.echo(f"{key} is out of date: run `warplens lab {key} --write`", err=True)
    if stale:
        raise click.exceptions.Exit(1)


def find_stale_parts(found: Lab, sizes: Sequence[Size], host: RunOptions) -> list[str]:
    from warplens.labs.lab_pictures import Gallery, stale_pictures
    from warplens.labs.stored_results import rows_kept, run_and_record, stale_readme, stale_rows

    stale: list[str] = []
    for size in sizes:
        gallery = Gallery(found, size.text)
        old = rows_kept(found, size.text)
        for done, fresh in run_and_record(found, size, host):
            refuse_wrong(done)
            stale += stale_rows(old.pop(done.rung.entry.title, []), fresh)
            gallery.see(done)
        stale += stale_pictures(found, gallery.drawn())
        stale += stale_rows([row for rows in old.values() for row in rows], [])
    return stale + stale_readme(found)


def list_labs() -> None:
    from warplens.labs.lab_catalog import find, names
    from warplens.report.lab.lab_table import headline
    from warplens.report.terminal.console_layout import console

    labs = [find(name) for name in names()]
    headline([(lab.key, lab.file.title, lab.file.lesson, len(lab.rungs)) for lab in labs], console())


def refuse_wrong(done: FinishedRung) -> None:
    """Ends with 1 for a rung that does not compute or count what it should."""
    if not done.wrong:
        return
    click.echo(f"{visible(done.rung.entry.title)} is wrong, so no time is given:", err=True)
    for text in done.wrong:
        click.echo(visible(f"  {text}"), err=True)
    raise click.exceptions.Exit(1)

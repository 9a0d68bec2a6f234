"""Stored results: writes results.csv and the generated parts of a lab's README, or lists stale ones."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Sequence

from warplens.core.run_options import USUAL, RunOptions
from warplens.errors import UsageError
from warplens.labs.lab import Lab
from warplens.labs.result_files import RESULTS, TIMES, ResultRecord, lines, read_measured, read_results, text
from warplens.labs.result_table import recorded, sheet
from warplens.labs.run_lab import FinishedRung, Size, kept, runs
from warplens.labs.rung import Rung
from warplens.launchspec.expression import Names
from warplens.report.lab import markdown_table
from warplens.system.atomic_write import write_whole

README = "README.md"
GPU = "h200"  # the GPU whose times are stored: the calibrated one
PART = re.compile(r"(<!-- begin: (?P<what>.+?) -->\n).*?(<!-- end -->)", re.DOTALL)


def run_and_record(
    lab: Lab, size: Size, host: RunOptions = USUAL, predict: Callable[[Rung], bool] = lambda _: True,
    rungs: Sequence[Rung] = (),
) -> Iterator[tuple[FinishedRung, list[str]]]:  # fmt: skip
    """Runs each rung, or the named ones, at one size; gives its rows of results.csv too."""
    for rung in rungs or lab.rungs:
        (done,) = runs(lab, [rung], size, [GPU], host, predict(rung))
        yield done, lines(size.text, rung.entry.title, kept(lab, done))


def rows_kept(lab: Lab, size: str, times: bool = True) -> dict[str, list[str]]:
    """The rows of results.csv of one size, by rung; without those of times unless `times`."""
    path = lab.folder / RESULTS
    found: dict[str, list[str]] = {}
    for row in path.read_text(encoding="utf-8").splitlines()[1:] if path.is_file() else ():
        of_size, rung, quantity = row.split(",")[:3]
        if of_size == size and (times or quantity not in TIMES):
            found.setdefault(rung, []).append(row)
    return found


def write(lab: Lab, fresh: Sequence[str], sizes: Sequence[Size]) -> None:
    """Writes the rows of these sizes, then the README."""
    others = [size for size in ("small", "full") if size not in [size.text for size in sizes]]
    kept_rows = [row for size in others for rows in rows_kept(lab, size).values() for row in rows]
    write_whole(lab.folder / RESULTS, text([*kept_rows, *fresh]).encode())
    write_readme(lab)


def write_readme(lab: Lab) -> None:
    """Writes the README's generated parts, from results.csv and measured.csv, if the lab has a README."""
    if (lab.folder / README).is_file():
        write_whole(lab.folder / README, regenerated(lab).encode())


def regenerated(lab: Lab) -> str:
    """README.md with its generated parts regenerated from results.csv and measured.csv."""
    page = (lab.folder / README).read_text(encoding="utf-8")
    return PART.sub(lambda part: f"{part[1]}{_part(lab, part['what'])}{part[3]}", page)


def _part(lab: Lab, what: str) -> str:
    kind, _, name = what.partition(" ")
    if kind == "table":
        return table(lab)
    pictures = {picture.get("file"): picture for picture in lab.file.pictures}
    if kind == "picture" and name in pictures:
        return f"![{pictures[name].get('title', name)}](pictures/{name}.svg)\n"
    raise UsageError(f"{lab.folder / README}: no '{what}' is known; possible are table and the lab's pictures")


def table(lab: Lab) -> str:
    """The lab's table in Markdown: of its full size, or of the small one if there is no other."""
    results = read_results(lab.folder)
    size = "small" if {of for of, _ in results} == {"small"} else "full"
    empty = ResultRecord({}, {})
    records = {rung.entry.title: results.get((size, rung.entry.title), empty) for rung in lab.rungs}
    measured = recorded(read_measured(lab.folder), size, GPU)
    names: Names | None = None if size == "small" else {}
    return markdown_table.table(sheet(lab, size, names, [GPU], lab.rungs, records, measured))


def stale_rows(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """A diff of rows of results.csv; [] if they are the same."""
    return list(difflib.unified_diff(old, new, RESULTS, "printed today", lineterm="", n=0))


def stale_readme(lab: Lab) -> list[str]:
    """A diff of README.md and its regenerated text; [] if equal, or without a README."""
    if not (lab.folder / README).is_file():
        return []
    old = (lab.folder / README).read_text(encoding="utf-8")
    return list(difflib.unified_diff(old.splitlines(), regenerated(lab).splitlines(), README, "today", lineterm=""))

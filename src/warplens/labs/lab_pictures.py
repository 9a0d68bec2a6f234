"""Lab pictures: [[pictures]] of a lab.toml to SVG, drawn from the rungs' runs.

    [[pictures]]
    file = "sectors"                 # pictures/sectors.svg
    draw = "lanes_to_sectors"
    rung = "2_stride_02"
    title = "Every second float"

docs/labs.md has the keys of each drawing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from warplens.emulator import BlockEntry, LaneAccess
from warplens.errors import UsageError
from warplens.labs.lab import Lab
from warplens.labs.result_files import read_measured, read_results
from warplens.labs.result_table import recorded
from warplens.labs.run_lab import SIZES, FinishedRung
from warplens.labs.rung import Rung
from warplens.machine import machine
from warplens.report.pictures.dram_timeline import dram_timeline
from warplens.report.pictures.lanes_to_banks import lanes_to_banks
from warplens.report.pictures.lanes_to_sectors import lanes_to_sectors
from warplens.report.pictures.machine_code import machine_code
from warplens.report.pictures.roofline_path import roofline_path
from warplens.report.pictures.time_against_size import Series, time_against_size
from warplens.report.pictures.warps_of_a_block import warps_of_a_block
from warplens.report.roofline import Roofline, rooflines
from warplens.run import Run
from warplens.system.atomic_write import write_whole

FOLDER = "pictures"
GPU = "h200"
KEYS = ("file", "draw", "title", "rung", "rungs", "block", "warp", "access", "banks", "repeat", "gpu", "size")
Table = Mapping[str, Any]


class Gallery:
    """Gallery: the pictures of a lab drawn at one size: "small" those of single warps, "full" those of times and
    machine code."""

    def __init__(self, lab: Lab, size: str) -> None:
        self.lab, self.size = lab, size
        self.tables = [_checked(lab, table) for table in lab.file.pictures]
        self._drawn: dict[str, str] = {}
        self._points: dict[str, Roofline] = {}

    def see(self, done: FinishedRung) -> None:
        """Adds a finished rung, in the order of the rungs."""
        title, outcome = done.rung.entry.title, next(iter(done.outcomes.values()))
        if outcome.run is None:
            return
        if self.size == "small":
            for table in self._of(OF_A_RUN):
                if table.get("rung") == title:
                    self._drawn[table["file"]] = OF_A_RUN[table["draw"]](outcome.run, table)
        elif outcome.run.prediction:
            found = rooflines(outcome.run.subject, outcome.run.prediction)
            self._points |= {title: found[0]} if found else {}

    def drawn(self) -> dict[str, str]:
        """SVG text by file; pictures of times read results.csv, which must be written before."""
        if self.size == "small":
            for table in self._of(OF_A_DEVICE):
                self._drawn[table["file"]] = OF_A_DEVICE[table["draw"]](table)
            return self._drawn
        for table in self._of(("machine_code",)):
            self._drawn[table["file"]] = code(self.lab, table)
        for table in self._of(("roofline_path", "time_against_size")):
            chosen = table.get("rungs") or [rung.entry.title for rung in self.lab.rungs]
            points = {rung: self._points[rung] for rung in chosen if rung in self._points}
            if table["draw"] == "time_against_size":
                self._drawn[table["file"]] = times(self.lab, table, chosen)
            elif points:
                self._drawn[table["file"]] = roofline_path(points, table.get("title", ""))
        return self._drawn

    def _of(self, kinds: Any) -> Iterator[Table]:
        return (table for table in self.tables if table["draw"] in kinds)


def path(lab: Lab, file: str) -> Path:
    return lab.folder / FOLDER / f"{file}.svg"


def write_pictures(lab: Lab, drawn: Mapping[str, str]) -> None:
    for file, text in drawn.items():
        path(lab, file).parent.mkdir(exist_ok=True)
        write_whole(path(lab, file), text.encode())


def stale_pictures(lab: Lab, drawn: Mapping[str, str]) -> list[str]:
    """A line for each picture that is missing or out of date."""
    kept = {file: path(lab, file).read_text("utf-8") if path(lab, file).is_file() else "" for file in drawn}
    return [f"{FOLDER}/{file}.svg is not what is drawn today" for file in drawn if kept[file] != drawn[file]]


def sectors(run: Run, table: Table) -> str:
    access, base = _access(run, table, "global")
    return lanes_to_sectors(access.reached, access.bytes, base, _title(table))


def banks(run: Run, table: Table) -> str:
    access, _ = _access(run, table, "shared")
    return lanes_to_banks(access.reached, access.bytes, _title(table))


def warps(run: Run, table: Table) -> str:
    """Divergence by warp: threads that exit or never access memory are off; warps whose lanes diverge are marked."""
    block = table.get("block", 0)
    began: dict[int, int] = {}
    parted, working = set(), set()
    for step in run.steps([block]):
        if isinstance(step, BlockEntry):
            began.setdefault(step.warp, step.lanes)
        elif step.lanes:
            working |= {32 * step.warp + lane for lane in step.reached}
        if step.lanes and step.lanes != began[step.warp]:
            parted.add(step.warp)
    off = set(range(run.launch.threads_per_block)) - working
    return warps_of_a_block(run.launch.block, parted, off, _title(table))


def timeline(table: Table) -> str:
    channels = machine(table.get("gpu", "textbook")).channels
    if channels is None:
        raise UsageError(f"picture {table['file']}: it is not told how the DRAM of {table['gpu']} is divided")
    return dram_timeline(list(table["banks"]) * table.get("repeat", 1), channels, _title(table))


def code(lab: Lab, table: Table) -> str:
    """Machine code of the named rungs, or all, compiled for the H200."""
    wanted = lab.chosen(table.get("rungs", ()))
    programs = {rung.entry.title: program for rung in wanted if (program := rung.program(GPU))}
    if not programs:
        _refuse(table, "none of its rungs has machine code")
    return machine_code(programs, _title(table) or "Machine code")


def times(lab: Lab, table: Table, chosen: list[str]) -> str:
    """Times: predicted from results.csv, measured from measured.csv; `size` is the lab's name that is the x axis.

    A rung has a point for the small and one for the full size; rungs that sweep that name are one line at full size.
    """
    found: dict[str, Series] = {}
    for rung in lab.rungs:
        title, swept = rung.entry.title, table["size"] in rung.entry.launch.sets
        if title not in chosen:
            continue
        name = title.rpartition("_")[0] if swept else title
        before, own = found.get(name, Series()), _times_of(lab, rung, table["size"], ("full",) if swept else SIZES)
        merged = Series([*before.predicted, *own.predicted], [*before.measured, *own.measured])
        found |= {name: merged} if merged.points else {}
    return time_against_size(found, table["size"], machine(GPU).title, _title(table) or "Time against size")


def _times_of(lab: Lab, rung: Rung, size: str, sizes: Sequence[str]) -> Series:
    results, measured, title = read_results(lab.folder), read_measured(lab.folder), rung.entry.title
    predicted, timed = [], []
    for text in sizes:
        at = float(lab.file.names(rung.entry, None if text == "small" else {})[size])
        kept, time = results.get((text, title)), recorded(measured, text, GPU).get(title)
        predicted += [(at, kept.predicted[GPU].time_us)] if kept and GPU in kept.predicted else []
        timed += [(at, time.time_us)] if time else []
    return Series(predicted, timed)


OF_A_RUN: Mapping[str, Callable[[Run, Table], str]] = {
    "lanes_to_sectors": sectors,
    "lanes_to_banks": banks,
    "warps_of_a_block": warps,
}
OF_A_DEVICE: Mapping[str, Callable[[Table], str]] = {"dram_timeline": timeline}
NEEDED = {"dram_timeline": "banks", "time_against_size": "size", "roofline_path": "file", "machine_code": "file"}


def _access(run: Run, table: Table, space: str) -> tuple[LaneAccess, int]:
    """The selected access, by its number among its warp's accesses to this space, and the start of its buffer."""
    wanted = table.get("block", 0), table.get("warp", 0), table.get("access", 0)
    steps = (step for step in run.steps([wanted[0]]) if isinstance(step, LaneAccess) and step.space == space)
    found = [step for step in steps if step.warp == wanted[1] and step.lanes]
    if wanted[2] >= len(found):
        _refuse(table, f"accesses to {space} memory of warp {wanted[1]} of block {wanted[0]}: {len(found)}, from 0")
    access = found[wanted[2]]
    first = min(access.reached.values())
    buffers = run.again.memory.allocations if run.again else []
    return access, next((b.address for b in buffers if b.address <= first < b.address + b.size), 0)


def _title(table: Table) -> str:
    return str(table.get("title", ""))


def _checked(lab: Lab, table: Table) -> Table:
    known = (*OF_A_RUN, *OF_A_DEVICE, "machine_code", "roofline_path", "time_against_size")
    if table.get("draw") not in known:
        _refuse(table, f"draw is {table.get('draw')!r}; possible are {', '.join(known)}")
    for key in table:
        if key not in KEYS:
            _refuse(table, f"there is no key '{key}'; known are {', '.join(KEYS)}")
    needed = NEEDED.get(table["draw"], "rung")
    if needed not in table or "file" not in table:
        _refuse(table, f"'{needed}' and 'file' have to be there")
    titles = [rung.entry.title for rung in lab.rungs]
    if unknown := {table["rung"]} - set(titles) if "rung" in table else set(table.get("rungs", ())) - set(titles):
        _refuse(table, f"there is no rung {min(unknown)}; the lab has {', '.join(titles)}")
    return table


def _refuse(table: Table, reason: str) -> NoReturn:
    raise UsageError(f"picture {table.get('file', '?')}: {reason}")

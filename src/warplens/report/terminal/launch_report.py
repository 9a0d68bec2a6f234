"""A launch as tables in the terminal: Nsight Compute's words and layout, 60 to 140 columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from warplens.counters.access_table import MemoryRow
from warplens.report import tables
from warplens.report.findings.finding_list import finding_list
from warplens.report.headline import headline
from warplens.report.launch_view import LaunchView, blocks_of
from warplens.report.terminal import hazard_table, prediction_report
from warplens.report.terminal.console_layout import GAP, facts, grid_of, number, short, table_width, titled
from warplens.report.wording import RESOURCES, category_name, count, decimal, percent

PRINTED_LINES = 40
SOURCE = 20  # characters that the source lines should have
BESIDE_CODE = 33  # characters that stand beside machine code and its count
NARROW = 80  # columns below which counts beside machine code are short


def show(subject: LaunchView, out: Console, count: int = 10) -> None:
    """The whole report; `count` source lines and instructions."""
    out.print(Text(headline(subject), style="bold"))
    out.print()
    out.print(header(subject))
    if subject.checks:
        out.print(checks(subject))
    if subject.trace.printed:
        out.print(titled("Printed by the Kernel", "", printed(subject.trace.printed)))
    if subject.advice:
        out.print(finding_list(subject.advice, subject.memory_provenance, subject.machine.title))
    for part in prediction_report.show(subject, out.width):
        out.print(part)
    for section in (least_time, occupancy, mix, sectors, wavefronts, divergence):
        if (shown := section(subject, out.width)) is not None:
            out.print(shown)
    out.print(lines(subject, out.width, count))
    out.print(instructions(subject, out.width, count))


def header(subject: LaunchView) -> Table:
    kernel, launch, size = subject.kernel, subject.launch, len(subject.program.instructions)
    together = kernel.cluster_blocks
    clusters = f" in clusters of {together}" * (together > 1)
    rows = {
        "Kernel": f"{subject.title} of {subject.file}, {kernel.arch}, {size} instructions",
        "GPU": subject.gpu,
        "Launch": f"{blocks_of(launch)}{clusters}{', cooperative' * launch.cooperative}; "
        f"{kernel.registers} registers per thread{spoken_shared(subject)}",
        "Made by": ", ".join(f"{name} {version}" for name, version in subject.tools.items()),
    }
    if subject.notes:
        rows["Note"] = "; ".join(subject.notes)
    return facts(rows)


def printed(text: str) -> Text:
    """The first lines: the JSON document and the page have all of it."""
    lines = text.rstrip("\n").split("\n")
    rest = len(lines) - PRINTED_LINES
    return Text("\n".join(lines[:PRINTED_LINES]) + (f"\n... {rest:,} more lines: --json" if rest > 0 else ""))


def spoken_shared(subject: LaunchView) -> str:
    static, dynamic = subject.kernel.shared_bytes, subject.launch.shared
    if not static + dynamic:
        return ""
    return f", {static:,} bytes of static and {dynamic:,} of dynamic shared memory per block"


SHADES = {"error": "bold red", "warning": "yellow", "note": "dim"}


def checks(subject: LaunchView) -> RenderableType:
    """What --check found, with the source lines."""
    body: list[RenderableType] = [Text(hazard_table.summary(subject.checks, subject.trace.hazards))]
    for row in hazard_table.rows(subject):
        body.append(Text.assemble((row.severity, SHADES[row.severity]), f": {row.sentence}"))
        table = Table(box=None, show_header=False, padding=(0, GAP, 0, 0), pad_edge=False)
        # Who and where are never cut: only the source line gives way.
        who = [f"{place.who}, {place.where}" if place.where else place.who for place in row.places]
        table.add_column(no_wrap=True, min_width=max(map(len, who), default=0))
        table.add_column(no_wrap=True, overflow="ellipsis")
        for words, place in zip(who, row.places, strict=True):
            table.add_row(words, Text(place.text))
        body.append(Padding(table, (0, 0, 0, 2)))
    return titled("Checks", subject.memory_provenance, Group(*body))


def least_time(subject: LaunchView, width: int) -> RenderableType | None:
    """What each unit must spend at its peak rate; nothing where the time is predicted, or the machine code is for
    another GPU."""
    floor = subject.floor
    if subject.prediction or floor is None or not floor.bounds:
        return None
    table = grid_of("Unit", "Microseconds", wide="At Its Peak Rate")
    for bound in floor.bounds:
        says = bound.says + f", if {bound.assumes}" * bool(bound.assumes)
        table.add_row(bound.name, Text(says), f"{bound.microseconds:,.2f}")
    return titled("Lower Bound per Unit", f"{floor.provenance}, not a prediction", table)


def occupancy(subject: LaunchView, width: int) -> RenderableType:
    here, most = subject.occupancy, subject.machine.limits.warps_per_multiprocessor
    limiters, blocks = ", ".join(RESOURCES[name] for name in here.limiters), count(here.blocks, "block")
    limits = ", ".join(f"{RESOURCES[name]} {count}" for name, count in here.limits.items())
    rows = {
        "Theoretical Occupancy": f"{decimal(here.percent)} % ({here.warps} of {most} warps, {blocks})",
        "Limited by": limiters,
        "Block Limits": limits,
        "Waves": f"{subject.waves:,.2f} on {subject.machine.multiprocessors} SMs",
    }
    return titled("Occupancy", "exact", facts(rows))


def mix(subject: LaunchView, width: int) -> RenderableType:
    table = grid_of("Category", "Warp Instructions", "Share", "Threads/Instr.")
    for row in tables.mix(subject):
        table.add_row(category_name(row.name), number(row.executed), percent(row.share), f"{row.threads:.1f}")
    return titled("Instruction Mix", subject.provenance, table)


def sectors(subject: LaunchView, width: int) -> RenderableType | None:
    heads = ("Requests", "Sectors", "Sectors/Req", "Ideal", "Excessive", "Efficiency")
    return memory("Global and Local Memory", tables.sectors(subject), heads, subject, width)


def wavefronts(subject: LaunchView, width: int) -> RenderableType | None:
    heads = ("Requests", "Wavefronts", "Wavefr./Req", "Ideal", "Conflicts", "Efficiency")
    return memory("Shared Memory: Bank Conflicts", tables.wavefronts(subject), heads, subject, width)


def memory(
    title: str, rows: Sequence[MemoryRow], heads: Sequence[str], subject: LaunchView, width: int
) -> RenderableType | None:
    """Where it is too wide, without the instructions, which mostly repeat the requests; else with short numbers, and at
    last without requests and ideal."""
    if not rows:
        return None
    whole = [memory_cells(row, number) for row in rows]
    shorter = [memory_cells(row, short) for row in rows]
    bare = (heads[1], "per Request", heads[4], "Effic.")
    choices = [
        (("Instructions", *heads), whole),
        (heads, [[name, *cells] for name, _, *cells in whole]),
        (heads, [[name, *cells] for name, _, *cells in shorter]),
        (bare, [[name, moved, each, *cells] for name, _, _, moved, each, _, *cells in shorter]),
    ]
    columns, cells = next((choice for choice in choices if table_width(*choice) <= width), choices[-1])
    table = grid_of("", *columns)
    for row, texts in zip(rows, cells, strict=True):
        table.add_row(*texts[:-2], Text(texts[-2], "red" if row.excess else ""), texts[-1])
    if not any(row.arbitrated for row in rows):
        return titled(title, subject.memory_provenance, table)
    remark = "* modelled: where lanes access the same word, hardware counters may read a few more."
    return titled(title, subject.memory_provenance, Group(table, Padding(Text(remark, "dim"), (0, 0, 0, 2))))


def memory_cells(row: MemoryRow, written: Callable[[int], str]) -> list[str]:
    """Name, instructions, and what the heads of sectors() and wavefronts() say."""
    counts = [written(count) for count in (row.executed, row.requests, row.units)]
    rest = [f"{row.per_request:,.2f}", written(row.ideal), written(row.excess), percent(row.efficiency)]
    return [row.name + ("*" if row.arbitrated else ""), *counts, *rest]


def divergence(subject: LaunchView, width: int) -> RenderableType:
    seen = tables.divergence(subject)
    efficiency = "n/a (no branch has a target)" if seen.efficiency is None else percent(seen.efficiency)
    rows = {
        "Branch Instructions": f"{seen.branches:,}",
        "Branch Targets": f"{seen.targets:,}, of which {seen.divergent:,} divergent",
        "Branch Efficiency": efficiency,
        "Active Threads per Warp": f"{seen.active_threads:.2f} of 32",
        "Predicated-On Threads": f"{seen.threads_on:.2f} of 32",
    }
    return titled("Divergence", subject.provenance, facts(rows))


def lines(subject: LaunchView, width: int, count: int) -> RenderableType:
    """Where no room is left for the source, with short numbers, and at last without the sectors."""
    rows = tables.lines(subject)[:count]
    if not rows:
        remark = Text("no line table: compile with -lineinfo", "dim")
        return titled("Hottest Source Lines", subject.memory_provenance, remark)
    files = {row.place.file for row in rows}
    heads = ("Executed", "Share", "Sectors", "Excessive", *(["Bank Confl."] if any(r.wavefronts for r in rows) else []))
    whole = [[place_of(row, files), *line_cells(row, number)][: 1 + len(heads)] for row in rows]
    shorter = [[place_of(row, files), *line_cells(row, short)][: 1 + len(heads)] for row in rows]
    choices = [
        (heads, whole),
        (heads, shorter),
        ((*heads[:2], *heads[3:]), [[*cells[:3], *cells[4:]] for cells in shorter]),
    ]
    room = width - GAP - SOURCE
    columns, cells = next((choice for choice in choices if table_width(*choice) <= room), choices[-1])
    table = grid_of("Line", *columns, wide="Source")
    for row, (place, *texts) in zip(rows, cells, strict=True):
        bad = {"Excessive": row.excess, "Bank Confl.": row.conflicts}
        shown = [Text(cell, "red" if bad.get(head) else "") for head, cell in zip(columns, texts, strict=True)]
        table.add_row(place, Text(row.text.strip()), *shown)
    return titled("Hottest Source Lines", subject.memory_provenance, table)


def place_of(row: tables.LineRow, files: Set[str]) -> str:
    """ "40", or "copy.cu:40" where there are lines of several files."""
    return f"{row.place.file.rsplit('/', 1)[-1]}:{row.place.line}" if len(files) > 1 else str(row.place.line)


def line_cells(row: tables.LineRow, written: Callable[[int], str]) -> list[str]:
    """What the heads of lines() say."""
    counts = [written(count) for count in (row.sectors, row.excess, row.conflicts)]
    return [written(row.executed), percent(row.share), *counts]


def instructions(subject: LaunchView, width: int, count: int) -> RenderableType:
    """Two rows each: the numbers beside the machine code, and what it does in words."""
    rows = [instruction(row, number if width >= NARROW else short) for row in tables.hottest(subject, count)]
    heads = ("Offset", "Instruction", "Line", "Executed", "Lanes", "per Request")
    codes, counts = ([len(cells[place]) for cells in (heads, *(cells for cells, _ in rows))] for place in (1, 3))
    room = min(width - BESIDE_CODE - max(counts), max(codes))
    body: list[RenderableType] = [aligned(heads, room, max(counts), "dim")]
    for cells, words in rows:
        body += [aligned(cells, room, max(counts)), Padding(Text(words, "dim"), (0, 0, 0, 8))]
    return titled("Hottest Instructions", subject.memory_provenance, Group(*body))


def instruction(row: tables.InstructionRow, written: Callable[[int], str]) -> tuple[tuple[str, ...], str]:
    what = row.instruction
    code = " ".join(filter(None, (row.guard, what.opcode, what.text)))
    line = str(what.source.line) if what.source else ""
    return (f"{what.offset:#06x}", code, line, written(row.executed), f"{row.lanes:.1f}", moved(row)), row.words


def moved(row: tables.InstructionRow) -> str:
    """ "8 sectors", "2 wavefr."; of a copy to shared memory both are told, shorter."""
    sectors, passes = row.sectors_per_request, row.wavefronts_per_request
    if sectors is not None and passes is not None:
        return f"{decimal(sectors)} s, {decimal(passes)} w"
    if sectors is not None:
        return decimal(sectors) + (" sector" if sectors == 1 else " sectors")
    return "" if passes is None else f"{decimal(passes)} wavefr."


def aligned(cells: Sequence[str], room: int, count: int, style: str = "") -> Text:
    """offset, code in so much room, then numbers to the right, the first in so many characters."""
    offset, code, line, executed, lanes, a_request = cells
    code = code if len(code) <= room else code[: room - 1] + "…"
    numbers = f"{line:>5} {executed:>{count}} {lanes:>5} {a_request:>11}"
    return Text(f"{offset:<8}{code:<{room}} {numbers}".rstrip(), style, no_wrap=True)

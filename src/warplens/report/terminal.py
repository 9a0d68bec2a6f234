"""A launch as tables in the terminal: Nsight Compute's words and layout, 80 to 100 columns.  F7."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from warplens.report import tables
from warplens.report.subject import Subject, dim
from warplens.report.verdict import RESOURCES, per, share, verdict

WIDEST = 100
NARROW = 96  # below it the columns that only repeat others are left out


def console(file: IO[str] | None = None) -> Console:
    """Colour only where a terminal shows it and NO_COLOR is not set; COLUMNS is respected up to WIDEST."""
    made = Console(file=file, highlight=False, soft_wrap=False, emoji=False, markup=False)
    made.width = min(made.width, WIDEST)
    return made


def show(subject: Subject, out: Console, count: int = 10) -> None:
    """The whole report; `count` source lines and instructions."""
    out.print(Text(verdict(subject), style="bold"))
    out.print()
    out.print(header(subject))
    for section in (occupancy, mix, sectors, wavefronts, divergence):
        if (shown := section(subject, out.width)) is not None:
            out.print(shown)
    out.print(lines(subject, out.width, count))
    out.print(instructions(subject, out.width, count))


def header(subject: Subject) -> Table:
    kernel, launch = subject.kernel, subject.launch
    rows = {
        "Kernel": f"{subject.title} of {subject.file}, {kernel.arch}, {len(subject.program.instructions)} instructions",
        "GPU": f"{subject.machine.title} ({chosen(subject.machine_from)})",
        "Launch": f"{dim(launch.grid)} blocks of {dim(launch.block)} threads; "
        f"{kernel.registers} registers a thread{spoken_shared(subject)}",
        "Made by": ", ".join(f"{name} {version}" for name, version in subject.tools.items()),
    }
    if subject.foreign:
        rows["Note"] = subject.foreign
    if subject.trace.sampled:
        rows["Sampled"] = f"{subject.trace.blocks_run:,} of {launch.blocks:,} blocks were run, counts are scaled"
    return facts(rows)


def chosen(by: str) -> str:
    words = {"default": "nobody named one: --gpu NAME", "this machine": "found in this machine"}
    return words.get(by, f"named by {by}" if by else "as given")


def spoken_shared(subject: Subject) -> str:
    static, dynamic = subject.kernel.shared_bytes, subject.launch.shared
    if not static + dynamic:
        return ""
    return f", {static:,} bytes of static and {dynamic:,} of dynamic shared memory a block"


def occupancy(subject: Subject, width: int) -> RenderableType:
    here, most = subject.occupancy, subject.machine.limits.warps_per_multiprocessor
    limiters = ", ".join(RESOURCES[name] for name in here.limiters)
    limits = ", ".join(f"{RESOURCES[name]} {count}" for name, count in here.limits.items())
    rows = {
        "Theoretical Occupancy": f"{per(here.percent)} % ({here.warps} of {most} warps, {here.blocks} blocks)",
        "Limited by": limiters,
        "Block Limits": limits.replace("blocks a multiprocessor", "places"),
        "Waves": f"{subject.waves:,.2f} on {subject.machine.multiprocessors} multiprocessors",
    }
    return titled("Occupancy", "exact", facts(rows))


def mix(subject: Subject, width: int) -> RenderableType:
    table = grid_of("Category", "Warp Instructions", "Share", "Threads/Instr.")
    for row in tables.mix(subject):
        table.add_row(row.name, number(row.executed), share(row.share), f"{row.threads:.1f}")
    return titled("Instruction Mix", subject.provenance, table)


def sectors(subject: Subject, width: int) -> RenderableType | None:
    rows = tables.sectors(subject)
    heads = ("Requests", "Sectors", "Sectors/Req", "Ideal", "Excessive", "Efficiency")
    return memory("Global and Local Memory", rows, heads, subject, width)


def wavefronts(subject: Subject, width: int) -> RenderableType | None:
    rows = tables.wavefronts(subject)
    heads = ("Requests", "Wavefronts", "Wavefr./Req", "Ideal", "Bank Conflicts", "Efficiency")
    return memory("Shared Memory", rows, heads, subject, width)


def memory(
    title: str, rows: Sequence[tables.MemoryRow], heads: Sequence[str], subject: Subject, width: int
) -> RenderableType | None:
    if not rows:
        return None
    wide = width >= NARROW
    table = grid_of("", *(["Instructions"] if wide else []), *heads)
    for row in rows:
        cells = [number(row.executed)] if wide else []
        cells += [number(row.requests), number(row.units), f"{row.per_request:,.2f}", number(row.ideal)]
        bad = "red" if row.excess else ""
        excess, efficiency = Text(number(row.excess), bad), share(row.efficiency)
        table.add_row(row.name + ("*" if row.arbitrated else ""), *cells, excess, efficiency)
    if not any(row.arbitrated for row in rows):
        return titled(title, subject.provenance, table)
    remark = "* modelled: where lanes meet on a word, a GPU's counters may read a few more."
    return titled(title, subject.provenance, Group(table, Padding(Text(remark, "dim"), (0, 0, 0, 2))))


def divergence(subject: Subject, width: int) -> RenderableType:
    seen = tables.divergence(subject)
    efficiency = "n/a (no branch has a target)" if seen.efficiency is None else share(seen.efficiency)
    rows = {
        "Branch Instructions": f"{seen.branches:,}",
        "Branch Targets": f"{seen.targets:,}, of which {seen.divergent:,} divergent",
        "Branch Efficiency": efficiency,
        "Active Threads per Warp": f"{seen.active_threads:.2f} of 32",
        "Predicated-On Threads": f"{seen.threads_on:.2f} of 32",
    }
    return titled("Divergence", subject.provenance, facts(rows))


def lines(subject: Subject, width: int, count: int) -> RenderableType:
    rows = tables.lines(subject)[:count]
    shared = any(row.wavefronts for row in rows)
    table = grid_of("Line", "Source", "Executed", "Share", "Sectors", "Excessive", text=2)
    if shared:
        table.add_column("Bank Confl.", justify="right", no_wrap=True)
    files = {row.place.file for row in rows}
    for row in rows:
        place = str(row.place.line) if len(files) == 1 else f"{row.place.file.rsplit('/', 1)[-1]}:{row.place.line}"
        bad = "red" if row.excess else ""
        cells = [number(row.executed), share(row.share), number(row.sectors), Text(number(row.excess), bad)]
        conflicts = [Text(number(row.conflicts), "red" if row.conflicts else "")] if shared else []
        table.add_row(place, Text(row.text.strip()), *cells, *conflicts)
    if not rows:
        return titled("Hottest Source Lines", subject.provenance, Text("  no line table: compile with -lineinfo"))
    return titled("Hottest Source Lines", subject.provenance, table)


def instructions(subject: Subject, width: int, count: int) -> RenderableType:
    table = grid_of("Offset", "Instruction", "Line", "Executed", "Lanes", "per Request", text=2)
    for row in tables.hottest(subject, count):
        what = row.instruction
        code = Text(" ".join(filter(None, (row.guard, what.opcode, what.text))))
        words = Text(row.words, "dim")
        for text in (code, words):
            text.truncate(max(width - 50, 20), overflow="ellipsis")
        line = str(what.source.line) if what.source else ""
        table.add_row(
            f"{what.offset:#06x}", Group(code, words), line, number(row.executed), f"{row.lanes:.1f}", moved(row)
        )  # fmt: skip
    return titled("Hottest Instructions", subject.provenance, table)


def moved(row: tables.InstructionRow) -> str:
    parts = []
    if row.sectors_per_request is not None:
        parts.append(f"{per(row.sectors_per_request)} sectors")
    if row.wavefronts_per_request is not None:
        parts.append(f"{per(row.wavefronts_per_request)} wavefr.")
    return "\n".join(parts)


def titled(title: str, provenance: str, body: RenderableType) -> RenderableType:
    """A section: its heading, where its numbers come from, its body."""
    heading = Text.assemble("\n", (title, "bold cyan"), (f"  {provenance}", "dim"))
    return Group(heading, body)


def grid_of(*columns: str, text: int = 1) -> Table:
    """A table without lines; the first `text` columns are words, the others numbers."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim", collapse_padding=True)
    for place, column in enumerate(columns):
        words = place < text
        table.add_column(
            column,
            justify="left" if words else "right",
            no_wrap=True,
            overflow="ellipsis",
            ratio=1 if words and place == text - 1 and text > 1 else None,
        )
    table.expand = text > 1
    return table


def facts(rows: dict[str, str]) -> Table:
    """Names and their values, one a row."""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    for name, value in rows.items():
        table.add_row(name, Text(value))
    return table


def number(amount: int) -> str:
    """Whole, with separators; from 10^10 on in thousand millions."""
    return f"{amount:,}" if amount < 10**10 else f"{amount / 10**9:,.1f} G"

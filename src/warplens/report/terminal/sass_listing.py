"""The machine code under its source lines, with counts and in words."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from rich.console import Console
from rich.text import Text

from warplens.core.counts import Trace
from warplens.core.cubin import Kernel, SourceLine
from warplens.core.program import Constant, Instruction, Program
from warplens.counters.idioms import Idiom, idioms
from warplens.counters.opcodes import access
from warplens.isa.dsl.description import NameOf, explain
from warplens.report.constant_names import constant_names
from warplens.report.json.document import guard, number, text

VERSION = 1
WORDS_TO = 80  # columns of the English
INDENT = 8


@dataclass(frozen=True)
class SassListing:
    """One kernel's machine code; `trace` is None where nothing was launched.

    title    of the kernel, as the user calls it
    sources  text of the source by the name that the line table has for it
    labels   names of the kernel's parameters where the source does not give them
    """

    title: str
    kernel: Kernel
    program: Program
    sources: Mapping[str, str]
    labels: tuple[str, ...] = ()
    trace: Trace | None = None


@dataclass(frozen=True, slots=True)
class ListingRow:
    """One instruction.

    lanes   active threads of a warp on average
    moved   sectors (global, local) or wavefronts (shared) a request, and which of the two; None for others
    words   what it does
    """

    instruction: Instruction
    words: str
    executed: int | None = None
    lanes: float | None = None
    moved: tuple[float, str] | None = None


def rows(listing: SassListing) -> list[ListingRow]:
    """Every instruction in code order, without the padding after the last one."""
    name_of = constant_names(listing.kernel, listing.sources, listing.labels)
    return [_row(i, name_of, listing.trace) for i in listing.program.body]


def _row(instruction: Instruction, name_of: NameOf, trace: Trace | None) -> ListingRow:
    words = explain(_plain(instruction), name_of)
    if trace is None:
        return ListingRow(instruction, words)
    at = instruction.index
    executed, requests = int(trace.executed[at]), int(trace.requests[at])
    lanes = int(trace.threads[at]) / executed if executed else None
    return ListingRow(instruction, words, executed, lanes, _moved(instruction, trace) if requests else None)


def _moved(instruction: Instruction, trace: Trace) -> tuple[float, str] | None:
    """A generic access is labelled by what it moved."""
    at = instruction.index
    sectors, wavefronts = int(trace.sectors[at]), int(trace.wavefronts[at])
    if access(instruction) is None or not (sectors or wavefronts):
        return None
    amount, unit = (sectors, "sectors") if sectors else (wavefronts, "wavefr.")
    return amount / int(trace.requests[at]), unit


def _plain(instruction: Instruction) -> Instruction:
    """c[0x0][RZ] is c[0x0][0x0]: a place with a name."""
    fixed = tuple(
        replace(o, index=None) if isinstance(o, Constant) and o.index and o.index.index < 0 else o
        for o in instruction.operands
    )
    return instruction if fixed == instruction.operands else replace(instruction, operands=fixed)


def found_idioms(listing: SassListing) -> tuple[Idiom, ...]:
    return idioms(listing.program, constant_names(listing.kernel, listing.sources, listing.labels))


# In the terminal


def show(listing: SassListing, out: Console) -> None:
    """The listing; instructions that follow each other under one source line share its heading."""
    program = listing.program
    out.print(Text(f"{listing.title}, {program.arch}, {len(program.instructions)} instructions", "bold"))
    for idiom in found_idioms(listing):
        words = f"{_at(idiom)} {idiom.name}: {idiom.sentence}"
        for part in textwrap.wrap(words, out.width, initial_indent="  ", subsequent_indent=" " * 4):
            out.print(Text(part, "dim", no_wrap=True))
    counted = listing.trace is not None
    heads = f"{'executed':>13} {'lanes':>5} {'per request':>12}" if counted else ""
    out.print(Text(_aligned("offset", "instruction", heads, out.width), "dim", no_wrap=True))
    for source, group in groupby(rows(listing), key=lambda row: row.instruction.source):
        out.print(Text("\n" + _heading(source, listing.sources), "cyan"), overflow="ellipsis", no_wrap=True)
        for row in group:
            for line in _lines(row, out.width):
                out.print(line)


def _at(idiom: Idiom) -> str:
    first, last = idiom.instructions[0] * 16, idiom.instructions[-1] * 16
    return f"{first:#06x}-{last:#06x}" if first != last else f"{first:#06x}"


def _heading(source: SourceLine | None, sources: Mapping[str, str]) -> str:
    if source is None:
        return "(no source line)"
    return f"{source.file}:{source.line}  {line_text(source, sources).strip()}".rstrip()


def line_text(source: SourceLine, sources: Mapping[str, str]) -> str:
    """The source line as it is written, "" where the text is not known."""
    lines = sources.get(source.file, "").split("\n")
    return lines[source.line - 1].rstrip("\r") if source.line <= len(lines) else ""


def _lines(row: ListingRow, width: int) -> Iterator[Text]:
    what = row.instruction
    code = f"{guard(what) or '':<5}{' '.join(filter(None, (what.opcode, what.text)))}"
    style = "" if row.executed is None or row.executed else "dim"
    yield Text(_aligned(f"{what.offset:#06x}", code, _counts(row), width), style, no_wrap=True)
    room = min(WORDS_TO, width) - INDENT - 5
    for part in textwrap.wrap(row.words, room):
        yield Text(" " * (INDENT + 5) + part, style or "dim", no_wrap=True)


def _counts(row: ListingRow) -> str:
    if row.executed is None:
        return ""
    lanes = "" if row.lanes is None else f"{row.lanes:.1f}"
    moved = "" if row.moved is None else f"{row.moved[0]:.3g} {row.moved[1]}"
    return f"{row.executed:>13,} {lanes:>5} {moved:>12}"


def _aligned(offset: str, code: str, numbers: str, width: int) -> str:
    """The code takes what the numbers leave."""
    room = width - INDENT - (len(numbers) + 1 if numbers else 0)
    code = code if len(code) <= room else code[: room - 1] + "…"
    return f"{offset:<{INDENT}}{code:<{room}} {numbers}".rstrip()


# As JSON


def document(listing: SassListing) -> str:
    """The listing as one JSON text; counts are null where nothing was launched."""
    return text({
        "version": VERSION,
        "kernel": listing.kernel.name,
        "arch": listing.program.arch,
        "instructions": [_instruction(row, listing.sources) for row in rows(listing)],
        "idioms": [_idiom(idiom) for idiom in found_idioms(listing)],
    })  # fmt: skip


def _instruction(row: ListingRow, sources: Mapping[str, str]) -> dict[str, Any]:
    what, source = row.instruction, row.instruction.source
    moved = dict([(row.moved[1], number(row.moved[0]))] if row.moved else [])
    return {
        "offset": what.offset,
        "guard": guard(what),
        "opcode": what.opcode,
        "operands": what.text,
        "words": row.words,
        "source": source and {"file": source.file, "line": source.line, "text": line_text(source, sources)},
        "executed": row.executed,
        "lanes": None if row.lanes is None else number(row.lanes),
        "sectors_per_request": moved.get("sectors"),
        "wavefronts_per_request": moved.get("wavefr."),
    }


def _idiom(idiom: Idiom) -> dict[str, Any]:
    return {
        "name": idiom.name,
        "sentence": idiom.sentence,
        "offsets": [16 * index for index in idiom.instructions],
        "lines": [{"file": line.file, "line": line.line} for line in idiom.lines],
    }

"""Source and SASS: rows of the two tables that stand side by side, with the columns by which they can be coloured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from warplens.core.cubin import SourceLine
from warplens.core.program import Control, Instruction
from warplens.counters.metrics.shared_memory import conflicts
from warplens.counters.vocabulary import ALL, EXECUTED, GLOBAL, LOCAL, SECTORS, SHARED, Counts
from warplens.isa.dsl.description import explain
from warplens.report.json.document import guard
from warplens.report.launch_view import LaunchView
from warplens.report.live_registers import live_registers

FOLDED_LINES = 8  # lines without machine code that are folded away together
KEPT_LINES = 400  # of these that are on the page at all: headers have thousands
LETTER, WIDEST = 7.3, 200  # pixels of a letter;  letters of a source line that have room
LIVE_ROWS = 600  # rows that a browser lays out at once; of longer tables only those in view (assets/page.js)
DEPENDENCES = 6  # instructions whose results one reads, that are listed


@dataclass(frozen=True, slots=True)
class Heat:
    """The amounts by which rows can be coloured.

    conflicts   shared wavefronts above the ideal;  stalls: share of all warp cycles, None without a prediction
    """

    executed: int = 0
    sectors: int = 0
    conflicts: int = 0
    stalls: float | None = None


@dataclass(frozen=True, slots=True)
class SourceRow:
    """A line of a file.  place: its number among the lines with machine code, -1 for others."""

    number: int
    text: str
    place: int
    heat: Heat


@dataclass(frozen=True, slots=True)
class SourceRun:
    """Consecutive lines.  folded: they have no machine code and are hidden at first;  left_out: lines that are not on
    the page"""

    rows: tuple[SourceRow, ...]
    folded: bool
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class SourceFile:
    name: str
    runs: tuple[SourceRun, ...]


@dataclass(frozen=True, slots=True)
class SassRow:
    """An instruction.

    control   its control code;  live: live registers
    sources   offsets of instructions whose results it reads, in hexadecimal;  more: how many are left out
    stall     the stall reason with most of its warp cycles, "" for none
    """

    instruction: Instruction
    place: int
    guard: str
    words: str
    heat: Heat
    lanes: float
    requests: int
    wavefronts: int
    control: str
    live: int
    sources: tuple[str, ...]
    more: int
    stall: str


@dataclass(frozen=True, slots=True)
class SassBlock:
    """A basic block.  depth: of the loop that it is in, 0 for none."""

    number: int
    depth: int
    executed: int
    rows: tuple[SassRow, ...]


@dataclass(frozen=True)
class CodeTable:
    """missing: what cannot be shown, and how to get it; "" where nothing is missing."""

    files: tuple[SourceFile, ...]
    blocks: tuple[SassBlock, ...]
    missing: str
    places: tuple[SourceLine, ...] = field(default=())

    @property
    def rows(self) -> Iterator[SassRow]:
        return (row for block in self.blocks for row in block.rows)

    @property
    def size(self) -> int:
        return sum(len(block.rows) for block in self.blocks)

    @property
    def source_size(self) -> int:
        return sum(len(run.rows) for file in self.files for run in file.runs)

    @property
    def conflicts(self) -> bool:
        """Whether any instruction accesses shared memory."""
        return any(row.wavefronts for row in self.rows)

    @property
    def stalls(self) -> bool:
        return any(row.heat.stalls is not None for row in self.rows)

    @property
    def text_width(self) -> int:
        """Of the column of the source, in pixels."""
        lines = (row.text for file in self.files for run in file.runs for row in run.rows)
        longest = max((len(text.expandtabs(8)) for text in lines), default=0)
        return 16 + round(LETTER * min(max(longest, 40), WIDEST))

    def number_of(self, place: SourceLine | None) -> int:
        """Of a line among those with machine code, -1 if it has none."""
        return self.places.index(place) if place in self.places else -1


def code_table(subject: LaunchView) -> CodeTable:
    blocks = tuple(_blocks(subject))
    return CodeTable(tuple(_files(subject)), blocks, _missing(subject), subject.lines)


def _missing(subject: LaunchView) -> str:
    if not subject.lines:
        return (
            "The machine code has no line table, so no source can stand beside it: compile with -lineinfo, "
            "or give the .cu file."
        )
    if absent := sorted({place.file for place in subject.lines} - set(subject.sources)):
        return f"The text of {', '.join(absent)} is not known: keep it where the line table says, or give the .cu file."
    return ""


def control_text(control: Control) -> str:
    """A control code as assemblers for SASS print it, "B0-----:R-:W1:Y:S04": scoreboards waited for, scoreboard of
    the reads, of the result, yield, stall cycles."""
    waits = "".join(str(k) if control.wait_mask >> k & 1 else "-" for k in range(6))
    read, write = ("-" if k is None else str(k) for k in (control.read_barrier, control.write_barrier))
    return f"B{waits}:R{read}:W{write}:{'Y' if control.yield_hint else '-'}:S{control.stall:02}"


def _stall_shares(subject: LaunchView) -> dict[int, float] | None:
    if subject.prediction is None:
        return None
    cycles = {index: sum(reasons.values()) for index, reasons in subject.prediction.stalls_at.items()}
    total = sum(cycles.values()) or 1.0
    return {index: amount / total for index, amount in cycles.items()}


def _heat(counts: Counts, stalls: Sequence[float] | None) -> list[Heat]:
    columns = (q.of(counts).tolist() for q in (EXECUTED[ALL], SECTORS[GLOBAL | LOCAL], conflicts(SHARED)))
    return [
        Heat(int(executed), int(moved), int(extra), None if stalls is None else stalls[place])
        for place, (executed, moved, extra) in enumerate(zip(*columns, strict=True))
    ]


def _blocks(subject: LaunchView) -> Iterator[SassBlock]:
    program, end = subject.program, len(subject.program.body)
    shares = _stall_shares(subject)
    single = Counts(program, subject.trace, range(len(program.instructions)))
    stalls = None if shares is None else [shares.get(index, 0.0) for index in range(len(program.instructions))]
    heat, live = _heat(single, stalls), live_registers(subject.flow)
    place_of = {place: number for number, place in enumerate(subject.lines)}
    depths = {first: loop.depth for loop in sorted(program.loops, key=lambda loop: loop.depth) for first in loop.blocks}
    for number, block in enumerate(program.blocks):
        instructions = program.instructions[block.first : min(block.last + 1, end)]
        rows = tuple(
            _row(subject, i, place_of[i.source] if i.source else -1, heat[i.index], live[i.index]) for i in instructions
        )
        if rows:
            yield SassBlock(number, depths.get(block.first, 0), rows[0].heat.executed, rows)


def _row(subject: LaunchView, instruction: Instruction, place: int, heat: Heat, live: int) -> SassRow:
    trace, at = subject.trace, instruction.index
    sources = sorted(subject.flow.sources(at))
    reasons = subject.prediction.stalls_at.get(at, {}) if subject.prediction else {}
    return SassRow(
        instruction=instruction,
        place=place,
        guard=guard(instruction) or "",
        words=explain(instruction, subject.name_of),
        heat=heat,
        lanes=int(trace.threads[at]) / heat.executed if heat.executed else 0.0,
        requests=int(trace.requests[at]),
        wavefronts=int(trace.wavefronts[at]),
        control=control_text(instruction.control),
        live=live,
        sources=tuple(f"{16 * source:04x}" for source in sources[:DEPENDENCES]),
        more=max(len(sources) - DEPENDENCES, 0),
        stall=max(sorted(reasons), key=lambda reason: reasons[reason], default=""),
    )


def _files(subject: LaunchView) -> Iterator[SourceFile]:
    """The files whose text is known and that have machine code."""
    shares = _stall_shares(subject)
    by_line = [0.0] * len(subject.lines)
    place_of = {place: number for number, place in enumerate(subject.lines)}
    for index, share in (shares or {}).items():
        if source := subject.program.instructions[index].source:
            by_line[place_of[source]] += share
    heat = _heat(subject.by_line, None if shares is None else by_line) if subject.lines else []
    for name, text in subject.sources.items():
        numbers = {place.line: number for place, number in place_of.items() if place.file == name}
        if numbers:
            lines = (content.rstrip("\r") for content in text.split("\n"))
            rows = [
                SourceRow(n, content, numbers.get(n, -1), heat[numbers[n]] if n in numbers else Heat())
                for n, content in enumerate(lines, 1)
            ]
            yield SourceFile(name, tuple(_runs(rows)))


def _runs(rows: list[SourceRow]) -> Iterator[SourceRun]:
    """Long parts without machine code are folded, very long ones are cut; a few lines around code stay."""
    margin = FOLDED_LINES // 2
    coded = [index for index, row in enumerate(rows) if row.place >= 0]
    shown = {index + offset for index in coded for offset in range(-margin, margin + 1)}
    start = 0
    for index in range(1, len(rows) + 1):
        if index < len(rows) and (index in shown) == (start in shown):
            continue
        part, folded = rows[start:index], start not in shown
        kept = part[:KEPT_LINES] if folded else part
        yield SourceRun(tuple(kept), folded, len(part) - len(kept))
        start = index

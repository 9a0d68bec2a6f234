"""Report tables: rows of numbers; launch_report.py and launch_page.py lay them out."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from warplens.core.cubin import SourceLine
from warplens.core.program import Instruction
from warplens.counters.access_table import MemoryRow, sector_rows, wavefront_rows
from warplens.counters.metrics.shared_memory import conflicts
from warplens.counters.opcodes import category
from warplens.counters.vocabulary import ALL, COPY, EXECUTED, GLOBAL, IDEAL, LOCAL, SECTORS, SHARED, THREADS, WAVEFRONTS
from warplens.isa.dsl.description import explain
from warplens.report.json.document import guard
from warplens.report.launch_view import LaunchView


@dataclass(frozen=True, slots=True)
class MixRow:
    """A category of instructions: warp instructions executed, their share, active threads of each."""

    name: str
    executed: int
    share: float
    threads: float


@dataclass(frozen=True, slots=True)
class Divergence:
    """branches: BRA, EXIT, BSYNC and their kin executed;  targets: those that go somewhere."""

    branches: int
    targets: int
    divergent: int
    active_threads: float
    threads_on: float

    @property
    def efficiency(self) -> float | None:
        """Share of the branch targets that all lanes of a warp agreed on; None if there were none."""
        return (self.targets - self.divergent) / self.targets if self.targets else None


@dataclass(frozen=True, slots=True)
class LineRow:
    """One source line: its text, warp instructions executed, sectors and shared wavefronts with their excess."""

    place: SourceLine
    text: str
    executed: int
    share: float
    sectors: int
    excess: int
    wavefronts: int
    conflicts: int


@dataclass(frozen=True, slots=True)
class InstructionRow:
    """One instruction: lanes are the active threads of a warp on average; units a request are sectors or wavefronts."""

    instruction: Instruction
    guard: str
    words: str
    executed: int
    share: float
    lanes: float
    sectors_per_request: float | None
    wavefronts_per_request: float | None


def mix(subject: LaunchView) -> list[MixRow]:
    """By category of counters/opcodes.py, most frequent first."""
    executed: Counter[str] = Counter()
    threads: Counter[str] = Counter()
    for instruction in subject.program.instructions:
        name = category(instruction)
        executed[name] += int(subject.trace.executed[instruction.index])
        threads[name] += int(subject.trace.threads[instruction.index])
    total = max(executed.total(), 1)
    rows = [MixRow(k, n, n / total, threads[k] / n) for k, n in executed.items() if n]
    return sorted(rows, key=lambda row: (-row.executed, row.name))


def sectors(subject: LaunchView) -> list[MemoryRow]:
    """Global and local memory, in sectors of 32 bytes; only kinds that were executed."""
    return sector_rows(subject.whole)


def wavefronts(subject: LaunchView) -> list[MemoryRow]:
    """Shared memory, in wavefronts; only kinds that were executed."""
    return wavefront_rows(subject.whole)


def divergence(subject: LaunchView) -> Divergence:
    executed = max(subject.total(EXECUTED[ALL]), 1)
    return Divergence(
        branches=int(subject["smsp__inst_executed_op_branch.sum"]),
        targets=int(subject["smsp__sass_branch_targets.sum"]),
        divergent=int(subject["smsp__sass_branch_targets_threads_divergent.sum"]),
        active_threads=subject.total(THREADS[ALL]) / executed,
        threads_on=subject.lanes,
    )


def lines(subject: LaunchView) -> list[LineRow]:
    """The lines that executed something, hottest first."""
    counts = subject.by_line
    memory = GLOBAL | LOCAL
    columns = [
        quantity.of(counts).tolist()
        for quantity in (
            EXECUTED[ALL],
            SECTORS[memory],
            IDEAL[memory & ~COPY] - SECTORS[memory & ~COPY],
            WAVEFRONTS[SHARED],
            conflicts(SHARED),
        )
    ]
    total = max(subject.total(EXECUTED[ALL]), 1)
    rows = [
        LineRow(place, subject.text_of(place), executed, executed / total, moved, -needless, passes, extra)
        for place, executed, moved, needless, passes, extra in zip(subject.lines, *columns, strict=True)
        if executed
    ]
    return sorted(rows, key=lambda row: (-row.executed, row.place.file, row.place.line))


def hottest(subject: LaunchView, count: int) -> list[InstructionRow]:
    """The instructions executed most often; among equals those that move most, then in code order."""
    trace = subject.trace

    def heat(instruction: Instruction) -> tuple[int, int, int]:
        at = instruction.index
        moved = int(trace.sectors[at]) + int(trace.wavefronts[at])
        return -int(trace.executed[at]), -moved, at

    ordered = sorted(subject.program.instructions, key=heat)[:count]
    return [instruction_row(subject, i) for i in ordered if trace.executed[i.index]]


def instruction_row(subject: LaunchView, instruction: Instruction) -> InstructionRow:
    trace, at = subject.trace, instruction.index
    executed, requests = int(trace.executed[at]), int(trace.requests[at])
    moved, passes = int(trace.sectors[at]), int(trace.wavefronts[at])
    return InstructionRow(
        instruction=instruction,
        guard=guard(instruction) or "",
        words=explain(instruction, subject.name_of),
        executed=executed,
        share=executed / max(int(trace.executed.sum()), 1),
        lanes=int(trace.threads[at]) / executed if executed else 0.0,
        sectors_per_request=moved / requests if moved else None,
        wavefronts_per_request=passes / requests if passes else None,
    )

"""Kernel counts: records filled with the counts of machine code and of launches, by source line too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from warplens.core.cubin import Kernel, SourceLine
from warplens.core.program import Program
from warplens.counters.idioms import idioms
from warplens.counters.metric_collection import by_line
from warplens.errors import UsageError
from warplens.regression.budget import SPILLS, sass_opcode
from warplens.regression.kernel_record import KernelRecord, LineCounts, Number
from warplens.regression.line_attribution import STEERED_BY
from warplens.report.launch_view import LaunchView

MOST_LINES = 40  # of a kernel that are kept: those with the most instructions
REGISTERS, STATIC_SHARED = "launch__registers_per_thread", "launch__shared_mem_per_block_static"


@dataclass(frozen=True)
class Places:
    """Names of source files as records have them: from a folder, headers of the tools by name.

    path, shown   the file itself as the compiler knows it, and as the record has it
    """

    path: str
    shown: str
    folder: str

    def __call__(self, place: SourceLine) -> SourceLine:
        return replace(place, file=self.file(place.file))

    def file(self, name: str) -> str:
        if name == self.path:
            return self.shown
        try:
            return Path(name).resolve().relative_to(Path(self.folder).resolve()).as_posix()
        except ValueError:
            return f"<{Path(name).name}>"


def with_counts(
    record: KernelRecord, view: LaunchView, names: Sequence[str], places: Places
) -> KernelRecord:  # fmt: skip
    """The record with these counts of a launch.  UsageError for a metric that the architecture has not."""
    metrics, counts = view.all_metrics, dict(record.counts)
    for name in names:
        if name not in counts:
            if name not in metrics:
                raise UsageError(f"{name} is not a metric of {view.kernel.arch}")
            counts[name] = metrics[name].value
    lines = {line.place: (line.text, dict(line.counts)) for line in record.lines}
    executed: dict[SourceLine, Number] = {}
    summed = sorted({STEERED_BY.get(name, name) for name in names})
    for place, values in by_line(view.program, view.trace).items():
        _, own = lines.setdefault(places(place), (view.text_of(place).strip(), {}))
        own |= {name: values[name].value for name in summed if name in values and values[name].value}
        executed[places(place)] = values["smsp__inst_executed.sum"].value
    order = sorted(lines, key=lambda place: (-executed.get(place, 0), place.file, place.line))[:MOST_LINES]
    kept = sorted((place for place in order if lines[place][1]), key=lambda place: (place.file, place.line))
    made = tuple(LineCounts(place, *lines[place]) for place in kept)
    ordered = {name: counts[name] for name in sorted(counts)}
    return replace(record, counts=ordered, lines=made, sampled=view.trace.sampled)


@dataclass(frozen=True)
class MachineCode:
    """A kernel's machine code, and the text of its sources by the name that the line table has for them."""

    kernel: Kernel
    program: Program
    sources: Mapping[str, str]


def with_static_counts(
    record: KernelRecord, code: MachineCode, names: Sequence[str], places: Places, least_registers: int
) -> KernelRecord:
    """The record with what the machine code alone has: registers, shared memory, spills, opcodes."""
    kernel, body = code.kernel, code.program.body
    counts: dict[str, Number] = {
        REGISTERS: max(kernel.registers, least_registers), STATIC_SHARED: kernel.shared_bytes,
    }  # fmt: skip
    spilled: set[int] = set()
    if any(i.base in ("STL", "LDL") for i in body):
        spilled = {n for idiom in idioms(code.program) if idiom.name == "register spill" for n in idiom.instructions}
    lines: dict[SourceLine, dict[str, Number]] = {}
    for name in names:
        opcode = sass_opcode(name)
        if opcode is None and name != SPILLS:
            continue
        base, *modifiers = (opcode or "").split(".")
        chosen = [
            i for i in body
            if (i.index in spilled if opcode is None else i.base == base and set(modifiers) <= set(i.modifiers))
        ]  # fmt: skip
        counts[name] = len(chosen)
        for instruction in chosen:
            if instruction.source:
                own = lines.setdefault(places(instruction.source), {})
                own[name] = own.get(name, 0) + 1
    texts = {places.file(name): text.split("\n") for name, text in code.sources.items()}
    made = tuple(
        LineCounts(place, _text(texts, place), lines[place])
        for place in sorted(lines, key=lambda p: (p.file, p.line))
    )  # fmt: skip
    return replace(record, counts={name: counts[name] for name in sorted(counts)}, lines=made)


def _text(texts: Mapping[str, list[str]], place: SourceLine) -> str:
    lines = texts.get(place.file, [])
    return lines[place.line - 1].strip() if 0 < place.line <= len(lines) else ""

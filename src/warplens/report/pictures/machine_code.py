"""The machine code of several kernels, an instruction a cell: what stands there how often, and which of it in loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from warplens.core.program import Program
from warplens.report.pictures._svg import Svg

MARGIN, TOP, NAMES = 16, 64, 108
CELL, HIGH, ROW = 6.5, 16, 40
KINDS = {
    "used": ("LDG", "LD", "LDS", "LDL"),
    "marked": ("STG", "ST", "STS", "STL"),
    "bar": ("FADD", "FMUL", "FFMA", "FADD2", "FFMA2", "DADD", "DMUL", "DFMA"),
    "hot": ("BRA", "EXIT", "CALL", "RET", "BRX"),
}
SAID = {"used": "load", "bar": "floating-point arithmetic", "marked": "store", "hot": "branch or end",
        "odd": "all else: addresses, counters, comparisons"}  # fmt: skip
KIND_OF = {base: kind for kind, bases in KINDS.items() for base in bases}


def machine_code(programs: Mapping[str, Program], title: str) -> str:
    """The picture as SVG text: a row for each program by its name, from the first instruction to the last; a line below
    each loop, whose cells it holds.
    """
    longest = max(len(program.body) for program in programs.values())
    width = max(620.0, 2 * MARGIN + NAMES + longest * CELL)
    svg = Svg(width, TOP + len(programs) * ROW + 30, title, describe(programs))
    for row, (name, program) in enumerate(programs.items()):
        above = TOP + row * ROW
        svg.write(MARGIN, above + HIGH - 4, name, "name")
        for place, instruction in enumerate(program.body):
            kind = KIND_OF.get(instruction.base, "odd")
            svg.rect(MARGIN + NAMES + place * CELL, above, CELL - 1, HIGH, kind, 1)
        for first, last in loops(program):
            left, right = (MARGIN + NAMES + place * CELL for place in (first, last + 1))
            below = above + HIGH + 4
            svg.path("hotway", (left, below - 2), (left, below), (right - 1, below), (right - 1, below - 2))
            svg.write((left + right) / 2, below + 11, f"loop: {last - first + 1}", "tiny", "middle")
    key(svg, TOP + len(programs) * ROW + 10)
    return svg.text()


def loops(program: Program) -> Sequence[tuple[int, int]]:
    """First and last instruction of each innermost loop, by index."""
    ends = {block.first: block.last for block in program.blocks}
    inner = [loop for loop in program.loops if not any(other.blocks < loop.blocks for other in program.loops)]
    return sorted((min(loop.blocks), max(ends[block] for block in loop.blocks)) for loop in inner)


def describe(programs: Mapping[str, Program]) -> str:
    longest, shortest = (choose(programs, key=lambda name: len(programs[name].body)) for choose in (max, min))
    if len(programs[shortest].body) == len(programs[longest].body):
        return f"{len(programs[longest].body)} instructions each"
    counts = f"{len(programs[shortest].body)} instructions in {shortest}, {len(programs[longest].body)} in {longest}"
    looped = sum(1 for program in programs.values() if program.loops)
    return f"{counts}; {looped} of {len(programs)} have a loop"


def key(svg: Svg, above: float) -> None:
    left = float(MARGIN)
    for kind, said in SAID.items():
        svg.rect(left, above, 8, 8, kind, 1)
        svg.write(left + 12, above + 8, said, "tiny")
        left += 24 + 4.8 * len(said)

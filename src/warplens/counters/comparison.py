"""Comparison of two launches: what differs, and which instructions make the difference.

Nothing here is a prediction.  Time is about cycles per instruction x instructions / occupancy; the second and the
third are exact, the first is left to a model of time.
"""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from warplens.core.counts import Trace
from warplens.core.cubin import SourceLine
from warplens.core.metric import Metric, Provenance
from warplens.core.program import Instruction, Program
from warplens.counters.idioms import Idiom
from warplens.counters.opcodes import category
from warplens.counters.vocabulary import launched_warps
from warplens.errors import UsageError

INSTRUCTIONS = "smsp__inst_executed.sum"
OCCUPANCY = "sm__maximum_warps_per_active_cycle_pct"
SECTORS = ("smsp__sass_sectors_mem_global.sum", "smsp__sass_sectors_mem_local.sum")

OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le, ">=": operator.ge, "==": operator.eq, "!=": operator.ne, "<": operator.lt, ">": operator.gt,
}  # fmt: skip
BUDGET = re.compile(r"\s*([\w.]+)\s*(<=|>=|==|!=|<|>)\s*(\d+(?:\.\d*)?|\.\d+)\s*")

Line = SourceLine | None
Pair = tuple[Line, Line]


@dataclass(frozen=True)
class Side:
    """One of the two launches; `text` gives a source line as it is written, "" where that is not known."""

    name: str
    program: Program
    trace: Trace
    metrics: Mapping[str, Metric]
    idioms: tuple[Idiom, ...]
    text: Callable[[SourceLine], str]


@dataclass(frozen=True, slots=True)
class MetricRow:
    """One metric of both."""

    name: str
    unit: str
    first: float | int
    second: float | int
    provenance: Provenance = "exact"

    @property
    def ratio(self) -> float | None:
        return ratio(self.first, self.second)


@dataclass(frozen=True, slots=True)
class Share:
    """Warp instructions of one sort, in the unit of the comparison (see Comparison.per_warp)."""

    name: str
    first: float
    second: float

    @property
    def difference(self) -> float:
        return self.second - self.first


@dataclass(frozen=True, slots=True)
class LineShare:
    """Warp instructions of a pair of source lines; None where the other kernel has no such line.

    idiom   what they do together, "" for the instructions of no idiom; None for all of the line
    """

    lines: Pair
    idiom: str | None
    first: float
    second: float

    @property
    def difference(self) -> float:
        return self.second - self.first


@dataclass(frozen=True)
class Comparison:
    """How `second` differs from `first`; ratios are second over first.

    per_warp   counts of instructions are those of an average warp; where the two launches have different numbers of
               warps, a warp's work is not comparable and they are totals
    rows       every metric that both have
    classes, idioms, lines, causes   the same instructions by opcode class, idiom, source line, and line and idiom;
               the largest difference first
    """

    first: str
    second: str
    per_warp: bool
    rows: tuple[MetricRow, ...]
    classes: tuple[Share, ...]
    idioms: tuple[Share, ...]
    lines: tuple[LineShare, ...]
    causes: tuple[LineShare, ...]

    def row(self, name: str) -> MetricRow:
        """The row of a metric; UsageError if the two do not share it."""
        found = next((row for row in self.rows if row.name == name), None)
        if found is None:
            raise UsageError(f"no metric {name} in both; `warplens compare --all` lists those that differ")
        return found

    @property
    def instructions(self) -> Share:
        """All instructions, in the unit of the shares."""
        return Share("all", sum(s.first for s in self.classes), sum(s.second for s in self.classes))


def ratio(first: float, second: float) -> float | None:
    """second / first; 1 for two zeros, None where nothing became something."""
    if first:
        return second / first
    return None if second else 1.0


def compare(first: Side, second: Side) -> Comparison:
    """Comparison of two launches."""
    warps = [launched_warps(side.trace.launch) for side in (first, second)]
    per_warp = warps[0] == warps[1]
    scale = warps[0] if per_warp else 1
    partner = _partners(first, second)
    purposes = {id(side): purpose(side) for side in (first, second)}

    def sums(key: Callable[[Side, Instruction], object]) -> list[tuple[object, float, float]]:
        totals = [_total(side, key) for side in (first, second)]
        keys = dict.fromkeys([*totals[0], *totals[1]])
        shares = [(k, totals[0][k] / scale, totals[1][k] / scale) for k in keys if totals[0][k] or totals[1][k]]
        return sorted(shares, key=lambda s: -abs(s[2] - s[1]))

    def pair(side: Side, instruction: Instruction) -> Pair:
        return partner[id(side)][instruction.source]

    def idiom(side: Side, instruction: Instruction) -> str:
        return purposes[id(side)][instruction.index]

    def cause(side: Side, instruction: Instruction) -> tuple[Pair, str]:
        return pair(side, instruction), idiom(side, instruction)

    return Comparison(
        first.name,
        second.name,
        per_warp,
        tuple(
            MetricRow(name, metric.unit, metric.value, second.metrics[name].value, weaker(metric, second.metrics[name]))
            for name, metric in first.metrics.items() if name in second.metrics
        ),
        tuple(Share(str(k), a, b) for k, a, b in sums(lambda side, i: category(i))),
        tuple(Share(str(k), a, b) for k, a, b in sums(idiom)),
        tuple(LineShare(k, None, a, b) for k, a, b in sums(pair) if isinstance(k, tuple)),
        tuple(LineShare(k[0], k[1], a, b) for k, a, b in sums(cause) if isinstance(k, tuple)),
    )  # fmt: skip


def weaker(first: Metric, second: Metric) -> Provenance:
    """The provenance of two compared numbers: exact only if both are."""
    return first.provenance if first.provenance != "exact" else second.provenance


def _total(side: Side, key: Callable[[Side, Instruction], object]) -> Counter[object]:
    totals: Counter[object] = Counter()
    for instruction in side.program.instructions:
        totals[key(side, instruction)] += int(side.trace.executed[instruction.index])
    return totals


def purpose(side: Side) -> list[str]:
    """For each instruction the name of the smallest idiom that it is part of, "" if there is none.

    Idioms that enclose a whole loop do not count: a loop that is unrolled is still the same loop.
    """
    names = [""] * len(side.program.instructions)
    inner = [idiom for idiom in side.idioms if not idiom.encloses]
    for idiom in sorted(inner, key=lambda i: -len(i.instructions)):
        for index in idiom.instructions:
            names[index] = idiom.name
    return names


def _partners(first: Side, second: Side) -> dict[int, dict[Line, Pair]]:
    """Which line of the other kernel each line belongs to, by the identity of the side."""
    pairs = pair_lines(_lines(first), _lines(second), first.text, second.text)
    return {
        id(first): {None: (None, None)} | {pair[0]: pair for pair in pairs if pair[0]},
        id(second): {None: (None, None)} | {pair[1]: pair for pair in pairs if pair[1]},
    }


def _lines(side: Side) -> list[SourceLine]:
    """The source lines that have instructions."""
    present = {i.source for i in side.program.instructions if i.source is not None}
    return sorted(present, key=lambda line: (line.file, line.line))


def pair_lines(
    first: Sequence[SourceLine], second: Sequence[SourceLine],
    text_of_first: Callable[[SourceLine], str], text_of_second: Callable[[SourceLine], str],
) -> list[Pair]:  # fmt: skip
    """Lines of two kernels that belong together.

    Lines of the same text (blanks aside) are matched in order; of the lines between two matches the k-th line
    belongs to the k-th, and the rest is unmatched.  Where the text is not known a line goes by its distance from
    its file's first.
    """
    keys = [_keys(first, text_of_first), _keys(second, text_of_second)]
    pairs: list[Pair] = []
    matcher = SequenceMatcher(None, keys[0], keys[1], autojunk=False)
    for _, start, end, other_start, other_end in matcher.get_opcodes():
        one, other = first[start:end], second[other_start:other_end]
        for k in range(max(len(one), len(other))):
            pairs.append((one[k] if k < len(one) else None, other[k] if k < len(other) else None))
    return pairs


def _keys(lines: Sequence[SourceLine], text_of: Callable[[SourceLine], str]) -> list[str]:
    start = {line.file: line.line for line in reversed(lines)}
    return ["".join(text_of(line).split()) or f"line {line.line - start[line.file]}" for line in lines]


@dataclass(frozen=True, slots=True)
class Budget:
    """A bound on a ratio; `broken_by`: whether the comparison breaks it."""

    text: str
    metric: str
    operator: str
    bound: float

    def broken_by(self, comparison: Comparison) -> bool:
        """The ratio of what came from nothing is above every bound."""
        found = comparison.row(self.metric).ratio
        return OPERATORS[self.operator](float("inf") if found is None else found, self.bound)


def budget(text: str) -> Budget:
    """ "smsp__inst_executed.sum > 1.05": fails if second / first is that.  UsageError if it is not of this form."""
    match = BUDGET.fullmatch(text)
    if match is None:
        raise UsageError(
            f"'{text}' is no budget; possible is a metric, one of {' '.join(OPERATORS)} and a ratio, such as "
            f"'{INSTRUCTIONS} > 1.05'"
        )
    return Budget(text.strip(), match[1], match[2], float(match[3]))

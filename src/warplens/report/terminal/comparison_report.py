"""Two launches side by side: a sentence, tables for the terminal, one JSON document."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from warplens.core.cubin import SourceLine
from warplens.counters.comparison import INSTRUCTIONS, OCCUPANCY, SECTORS, Comparison, LineShare, MetricRow, Share, Side
from warplens.counters.idioms import idioms
from warplens.model.result.factors import Decomposition
from warplens.report.constant_names import constant_names
from warplens.report.json.document import number as whole
from warplens.report.json.document import text as document_text
from warplens.report.launch_view import LaunchView, blocks_of
from warplens.report.terminal import decomposition_report
from warplens.report.terminal.console_layout import GAP, facts, grid_of, number, titled
from warplens.report.wording import category_name

VERSION = 1
HEAD = 14
CONFLICTS = "derived__memory_l1_wavefronts_shared_excessive"
WAVEFRONTS = "memory_l1_wavefronts_shared"
LANES = "smsp__thread_inst_executed_per_inst_executed.ratio"
NOTEWORTHY = 0.01  # distance from a ratio of 1 that is reported
MOST_OF_IT = 0.4  # of a difference: an idiom with so much of it is named as the cause

SHOWN = (
    INSTRUCTIONS,
    "smsp__average_inst_executed_per_warp.ratio",
    LANES,
    "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio",
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "smsp__sass_sectors_mem_global.sum",
    "derived__memory_l2_theoretical_sectors_global_excessive",
    "smsp__sass_sectors_mem_local.sum",
    WAVEFRONTS,
    CONFLICTS,
    "smsp__sass_branch_targets.sum",
    "smsp__sass_branch_targets_threads_divergent.sum",
    OCCUPANCY,
    "launch__registers_per_thread",
    "launch__shared_mem_per_block_static",
    "launch__shared_mem_per_block_dynamic",
    "launch__grid_size",
    "launch__block_size",
    "launch__waves_per_multiprocessor",
)
"""What the table has without --all, as far as one of the two has it."""

LEAST = 0.005  # instructions per warp, below which a cause is left out
NO_IDIOM = "other instructions"


def side(subject: LaunchView) -> Side:
    """A launch as the comparison wants it."""
    names = constant_names(subject.kernel, subject.sources, subject.labels)
    return Side(
        subject.title, subject.program, subject.trace, subject.all_metrics, idioms(subject.program, names),
        subject.text_of,
    )  # fmt: skip


# In words


def verdict(comparison: Comparison) -> str:
    """ "nccopy executes 2.38 times the instructions of ccopy (remainder by a variable) and moves 1.5 times the
    sectors"."""
    parts = [instructions(comparison)]
    parts += [part for describe in FURTHER_DIFFERENCES if (part := describe(comparison))]
    return f"{comparison.second} {', '.join(parts[:-1])}{' and ' if parts[1:] else ''}{parts[-1]}"


def instructions(comparison: Comparison) -> str:
    row = comparison.row(INSTRUCTIONS)
    if row.ratio is None or abs(row.ratio - 1) < NOTEWORTHY:
        return f"executes as many instructions as {comparison.first}"
    return f"executes {times(row.ratio)} the instructions of {comparison.first}{cause(comparison)}"


def cause(comparison: Comparison) -> str:
    """The idiom that most of the difference is, or else the class of instructions, in brackets."""
    difference = comparison.instructions.difference
    if best := largest(comparison.idioms, difference):
        missing = "" if difference > 0 else "less " if best.second else "no "
        return f" ({missing}{best.name})"
    if best := largest(comparison.classes, difference):
        return f" ({'more' if difference > 0 else 'fewer'} of class {category_name(best.name)})"
    return ""


def largest(shares: Sequence[Share], difference: float) -> Share | None:
    """The share that changed most, if that is MOST_OF_IT."""
    named = [s for s in shares if s.name and s.difference * difference > 0]
    best = max(named, key=lambda s: abs(s.difference), default=None)
    return best if best and abs(best.difference) >= MOST_OF_IT * abs(difference) else None


def sectors(comparison: Comparison) -> str:
    rows = [comparison.row(name) for name in SECTORS]
    return more("moves", "sectors", MetricRow("", "", sum(r.first for r in rows), sum(r.second for r in rows)))


def wavefronts(comparison: Comparison) -> str:
    return more("needs", "shared wavefronts", comparison.row(WAVEFRONTS))


def conflicts(comparison: Comparison) -> str:
    return more("has", "bank conflicts", comparison.row(CONFLICTS))


def lanes(comparison: Comparison) -> str:
    row = comparison.row(LANES)
    differs = row.ratio is not None and abs(row.ratio - 1) > 5 * NOTEWORTHY
    return f"has {row.second:.1f} instead of {row.first:.1f} of 32 threads active" if differs else ""


def occupancy(comparison: Comparison) -> str:
    row = comparison.row(OCCUPANCY)
    differs = row.ratio is not None and abs(row.ratio - 1) > NOTEWORTHY
    return f"reaches an occupancy of {row.second:.3g} % instead of {row.first:.3g} %" if differs else ""


FURTHER_DIFFERENCES: tuple[Callable[[Comparison], str], ...] = (sectors, wavefronts, conflicts, lanes, occupancy)


def more(verb: str, what: str, row: MetricRow) -> str:
    """ "moves 1.5 times the sectors"; "" where nothing changed."""
    if row.ratio is None:
        return f"{verb} {row.second:,} {what} where there were none"
    if not row.second and row.first:
        return f"{verb} no {what} instead of {row.first:,}"
    return f"{verb} {times(row.ratio)} the {what}" if abs(row.ratio - 1) > NOTEWORTHY else ""


def times(ratio: float) -> str:
    """ "2.38 times", "1,024 times"."""
    return f"{ratio:,.0f} times" if ratio >= 100 else f"{ratio:.3g} times"


def causes(comparison: Comparison) -> list[str]:
    """ "21 of 22 extra instructions per warp: remainder by a variable, copy.cu:40"; most of the difference first.

    Where some go and others come, no part is one "of" the difference: "+18 instructions per warp: ...".
    """
    total = comparison.instructions.difference
    named = [s for s in comparison.causes if abs(s.difference) >= max(NOTEWORTHY * abs(total), LEAST)]
    one_way = all(share.difference * total > 0 for share in named)
    unit = " per warp" if comparison.per_warp else ""
    kind = "extra" if total > 0 else "spared"
    whole = f" of {amount(abs(total))} {kind}" if one_way else ""
    return [
        f"{amount(abs(s.difference)) if one_way else counts(s)[2]}{whole} instructions{unit}: "
        f"{s.idiom or NO_IDIOM}, {place(s)}"
        for s in named
    ]


def place(share: LineShare) -> str:
    """The line of the kernel that executes more of it."""
    first, second = share.lines
    line = second or first if share.difference > 0 else first or second
    return f"{PurePath(line.file).name}:{line.line}" if line else "no source line"


def amount(count: float) -> str:
    """ "21", "21.5", "1,200,000"."""
    return f"{count:,.0f}" if abs(count - round(count)) < 0.05 or count >= 1000 else f"{count:,.1f}"


# In tables


def show(comparison: Comparison, first: LaunchView, second: LaunchView, out: Console, everything: bool = False) -> None:
    """The whole comparison; `everything`: all metrics that differ."""
    out.print(Text(verdict(comparison), "bold"))
    taken_apart = decomposition_report.of(first, second)
    if taken_apart:
        gpu = second.machine.title
        out.print(Text(decomposition_report.sentence(taken_apart, comparison.first, comparison.second, gpu), "bold"))
    out.print()
    out.print(header(first, second))
    provenance = first.provenance if first.provenance != "exact" else second.provenance
    for kind, rows in by_provenance(shown(comparison, everything)).items():
        out.print(titled("Metrics", kind, metrics(comparison, rows, out.width)))
    if taken_apart:
        out.print(decomposition_report.show(taken_apart, names(comparison), second))
    else:
        out.print(ratios(comparison, provenance))
    out.print(titled("Instructions by Class" + unit(comparison), provenance, shares(comparison, comparison.classes)))
    out.print(titled("Instructions by Idiom" + unit(comparison), provenance, shares(comparison, comparison.idioms)))
    out.print(titled("Instructions by Line" + unit(comparison), provenance, lines(comparison, first, second)))
    if found := causes(comparison):
        out.print(titled("Where They Come From", provenance, Group(*(Text("  " + line) for line in found))))


def header(first: LaunchView, second: LaunchView) -> RenderableType:
    titles = first.title, second.title
    if titles[0] == titles[1]:
        titles = f"{titles[0]} 1", f"{titles[1]} 2"
    rows = {title: started(subject) for title, subject in zip(titles, (first, second), strict=True)}
    return facts({**rows, "GPU": second.gpu} if second.prediction else rows)


def started(subject: LaunchView) -> str:
    launch = subject.launch
    return (
        f"{subject.file}, {subject.kernel.arch}, {blocks_of(launch)}, {subject.kernel.registers} registers per thread"
    )


def unit(comparison: Comparison) -> str:
    return " per Warp" if comparison.per_warp else ", Total"


def shown(comparison: Comparison, everything: bool) -> list[MetricRow]:
    """The metrics of the tables; `everything`: all that differ."""
    if everything:
        return [row for row in comparison.rows if row.first != row.second]
    known = {row.name: row for row in comparison.rows}
    return [known[n] for n in SHOWN if n in known and (known[n].first or known[n].second)]


def by_provenance(rows: Sequence[MetricRow]) -> dict[str, list[MetricRow]]:
    found: dict[str, list[MetricRow]] = {}
    for row in rows:
        found.setdefault(row.provenance, []).append(row)
    return found


def metrics(comparison: Comparison, rows: Sequence[MetricRow], width: int) -> RenderableType:
    """A name that does not fit beside the numbers has a line of its own: names are whole, to be copied."""
    numbers = [(*names(comparison), "Ratio"), *(_numbers(row) for row in rows)]
    widths = [max(map(len, column)) + GAP for column in zip(*numbers, strict=True)]
    room = min(width - sum(widths), max(len(row.name) for row in rows))
    lines = []
    for name, cells, style in zip(["", *(row.name for row in rows)], numbers, ["dim", *map(_style, rows)], strict=True):
        beside = Text("".join(f"{cell:>{size}}" for cell, size in zip(cells, widths, strict=True)), style)
        lines += [Text(name)] * (len(name) > room)
        lines.append(Text.assemble(f"{name if len(name) <= room else '':<{room}}", beside))
    return Group(*lines)


def _numbers(row: MetricRow) -> tuple[str, str, str]:
    return value(row.first), value(row.second), "new" if row.ratio is None else f"{row.ratio:,.4g}"


def _style(row: MetricRow) -> str:
    return "bold" if row.ratio is None or abs(row.ratio - 1) > NOTEWORTHY else "dim"


def names(comparison: Comparison) -> tuple[str, str]:
    first, second = short(comparison.first), short(comparison.second)
    return (first, second) if first != second else (f"{first} 1", f"{second} 2")


def short(name: str) -> str:
    """As the head of a column."""
    return name if len(name) <= HEAD else f"{name[: HEAD // 2 - 1]}…{name[-HEAD // 2 :]}"


def value(amount: float | int) -> str:
    return number(int(amount)) if float(amount).is_integer() else f"{amount:,.2f}"


def ratios(comparison: Comparison, provenance: str) -> RenderableType:
    """What is known of time without a prediction, in ratios."""
    rows = {
        "Instructions": spoken(comparison.row(INSTRUCTIONS).ratio),
        "Occupancy": f"{spoken(comparison.row(OCCUPANCY).ratio)}, theoretical",
        "Cycles per instruction": decomposition_report.NO_PREDICTION,
    }
    formula = Text("time ≈ cycles per instruction × instructions / occupancy; ratio of each factor:", "dim")
    return titled("Decomposition", provenance, Group(Padding(formula, (0, 0, 0, 0)), facts(rows)))


def spoken(ratio: float | None) -> str:
    return "baseline 0" if ratio is None else f"× {ratio:.4g}"


def shares(comparison: Comparison, rows: Sequence[Share]) -> RenderableType:
    table = grid_of("", *names(comparison), "Difference")
    for row in rows:
        table.add_row(category_name(row.name) or NO_IDIOM, *counts(row))
    table.add_row(Text("all", "bold"), *(Text(cell, "bold") for cell in counts(comparison.instructions)))
    return table


def counts(share: Share | LineShare) -> tuple[str, str, str]:
    difference = share.difference
    sign = "+" if difference > 0 else "−" if difference < 0 else ""
    return amount(share.first), amount(share.second), sign + amount(abs(difference))


def lines(comparison: Comparison, first: LaunchView, second: LaunchView) -> RenderableType:
    rows = [row for row in comparison.lines if row.difference] or list(comparison.lines)
    table = grid_of("Line", *names(comparison), "Difference", wide="Source")
    for row in rows[:12]:
        one, other = row.lines
        text = second.text_of(other) if other else first.text_of(one) if one else ""
        table.add_row(both(one, other), Text(text.strip()), *counts(row))
    return table


def both(one: SourceLine | None, other: SourceLine | None) -> str:
    """ "33", "33 → 40", "33 → –"."""
    if one is None and other is None:
        return "none"
    words = [str(line.line) if line else "–" for line in (one, other)]
    return words[0] if words[0] == words[1] else " → ".join(words)


# As JSON


def document(comparison: Comparison, first: str, second: str, taken_apart: Decomposition | None = None) -> str:
    """Both documents (as JSON text) and the comparison, as one JSON text; `taken_apart`: the factors of the times."""
    cycles = taken_apart.ratio(lambda f: f.cycles) if taken_apart else None
    return document_text({
        "version": VERSION,
        "first": json.loads(first),
        "second": json.loads(second),
        "comparison": {
            "verdict": verdict(comparison),
            "per_warp": comparison.per_warp,
            "metrics": {row.name: metric(row) for row in sorted(comparison.rows, key=lambda r: r.name)},
            "time": {
                "instructions": ratio(comparison.row(INSTRUCTIONS).ratio),
                "occupancy": ratio(comparison.row(OCCUPANCY).ratio),
                "cycles_per_instruction": cycles,
            },
            "decomposition": decomposition_report.document(taken_apart),
            "classes": [{"name": row.name, **pair(row)} for row in comparison.classes],
            "idioms": [{"name": row.name or None, **pair(row)} for row in comparison.idioms],
            "lines": [{**line_pair(row), **pair(row)} for row in comparison.lines],
            "causes": [{"idiom": row.idiom or None, **line_pair(row), **pair(row)} for row in comparison.causes],
        },
    })  # fmt: skip


def metric(row: MetricRow) -> dict[str, Any]:
    return {"unit": row.unit, "first": whole(row.first), "second": whole(row.second), "ratio": ratio(row.ratio)}


def ratio(found: float | None) -> float | int | None:
    return None if found is None else whole(found)


def pair(share: Share | LineShare) -> dict[str, Any]:
    return {"first": whole(share.first), "second": whole(share.second), "difference": whole(share.difference)}


def line_pair(share: LineShare) -> dict[str, Any]:
    one, other = ({"file": at.file, "line": at.line} if at else None for at in share.lines)
    return {"first_line": one, "second_line": other}

"""Line attribution: the source line that a budget's failure comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from warplens.core.cubin import SourceLine
from warplens.counters.comparison import pair_lines
from warplens.regression.budget import CountBudget
from warplens.regression.kernel_record import KernelRecord, LineCounts

LinePair = tuple[LineCounts | None, LineCounts | None]
_SECTORS = "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op"
STEERED_BY = {
    "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct": f"{_SECTORS}_ld.sum",
    "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct": f"{_SECTORS}_st.sum",
    "smsp__sass_average_data_bytes_per_wavefront_mem_shared.pct": "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared.sum",
    "smsp__sass_average_branch_targets_threads_uniform.pct": "smsp__sass_branch_targets_threads_divergent.sum",
}
"""A ratio has no sum over lines: the count that makes it better or worse."""


@dataclass(frozen=True, slots=True)
class Attribution:
    """Where it comes from mostly; before, after: the counts of `name` there, None for no such line in the baseline."""

    place: SourceLine
    text: str
    name: str = ""
    before: float | None = None
    after: float | None = None


def attribute(
    budget: CountBudget, now: KernelRecord, before: KernelRecord | None, start: SourceLine | None
) -> Attribution | None:
    """The line whose count moved most in the wrong direction, else most at all, else (or without a baseline) the one
    that counts most; where no line has the count (registers, occupancy), the line where the kernel begins."""
    best: tuple[bool, float, Attribution] | None = None
    for name in budget.names:
        steering = STEERED_BY.get(name, name)
        wrong = -1 if budget.upward and steering == name else 1
        known = before if before is not None and name in before.counts else None
        for line, other in paired_lines(now, known):
            new, old = (0 if side is None else side.counts.get(steering, 0) for side in (line, other))
            moved = wrong * (new - old) if known else new
            if moved and (best is None or (moved > 0, abs(moved)) > best[:2]):
                shown = line or other
                assert shown is not None
                at = Attribution(shown.place, shown.text, steering, old if known else None, new)
                best = moved > 0, abs(moved), at
    if best is not None:
        return best[2]
    if before is not None:  # nothing moved, but the budget was not kept before either
        return attribute(budget, now, None, start)
    if start is None:
        return None
    text = next((line.text for line in now.lines if line.place == start), "")
    return Attribution(start, text)


def paired_lines(now: KernelRecord, before: KernelRecord | None) -> Iterator[LinePair]:
    """Lines of today with those of the baseline that belong to them, by their text."""
    if before is None:
        yield from ((line, None) for line in now.lines)
        return
    sides = [{line.place: line for line in record.lines} for record in (before, now)]

    def text(side: dict[SourceLine, LineCounts]) -> Callable[[SourceLine], str]:
        return lambda place: side[place].text

    old, new = sides
    for one, other in pair_lines(list(old), list(new), text(old), text(new)):
        yield new.get(other) if other else None, old.get(one) if one else None

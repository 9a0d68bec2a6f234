"""Diff text: machine code block by block, then counts by source line, then the predicted time."""

from __future__ import annotations

from collections.abc import Iterator

from warplens.control_characters import visible
from warplens.core.cubin import SourceLine
from warplens.regression.code_diff import BlockDiff, CodeDiff
from warplens.report.regression_views.check_view import amount
from warplens.report.regression_views.diff_view import Difference, DiffView, KernelDiff, LineChange

CONTEXT = 2  # instructions around a change
MOST_OPCODES = 8
MOST_LINES = 10
MOST_CODE = 60  # lines of machine code of a kernel, without --all


def text(view: DiffView, everything: bool = False) -> str:
    """everything: all lines of machine code."""
    lines = [line for kernel in view.kernels for line in (*_kernel(kernel, everything), "")]
    tally = [(d, sum(k.difference is d for k in view.kernels)) for d in Difference]
    summary = ", ".join(f"{count} {difference}" for difference, count in tally if count)
    return visible("\n".join([f"{view.old} -> {view.new}", "", *lines, summary]) + "\n")


def _kernel(kernel: KernelDiff, everything: bool) -> Iterator[str]:
    yield f"{kernel.difference}  {kernel.name}{f' ({kernel.arch})' if kernel.arch else ''}"
    if kernel.note:
        yield f"  {kernel.note}"
    if kernel.code is not None:
        code = list(_code(kernel.code))
        yield from code if everything else code[:MOST_CODE]
        if len(code) > MOST_CODE and not everything:
            yield f"    {len(code) - MOST_CODE} lines more: --all"
    if kernel.counts:
        yield "  Counts"
        yield from (f"    {name}: {amount(old)} -> {amount(new)}{_ratio(old, new)}" for name, old, new in kernel.counts)
    lines = sorted(kernel.lines, key=_weight, reverse=True)
    if lines:
        yield "  Counts by source line"
        for change in lines[:MOST_LINES]:
            yield from _line(change)
        if len(lines) > MOST_LINES:
            yield f"    {len(lines) - MOST_LINES} lines more"
    if times := kernel.times:
        old, new = (time / 1000 for time in times)
        assert kernel.new is not None
        yield f"  Predicted time on {kernel.new.key.gpu}: {old:.4g} us -> {new:.4g} us{_ratio(old, new)}  modelled"


def _code(code: CodeDiff) -> Iterator[str]:
    old, new = code.instructions
    if not any(block.changed for block in code.blocks) and not code.opcodes:
        yield "  Machine code: the same instructions; registers, branches or scheduling differ"
        return
    changes = [f"{change.opcode} {change.old} -> {change.new}" for change in code.opcodes]
    more = f", {len(changes) - MOST_OPCODES} opcodes more" if len(changes) > MOST_OPCODES else ""
    yield f"  Machine code: {old} -> {new} instructions"
    if changes:
        yield f"    {', '.join(changes[:MOST_OPCODES])}{more}"
    for block in code.blocks:
        if block.changed:
            yield from _block(block)


def _block(block: BlockDiff) -> Iterator[str]:
    numbers = [f"block {number}" if number is not None else "none" for number in (block.old, block.new)]
    yield f"    @@ {' -> '.join(numbers)} @@"
    changed = [n for n, line in enumerate(block.lines) if line.sign != "="]
    shown = {k for n in changed for k in range(n - CONTEXT, n + CONTEXT + 1)}
    left_out = 0
    for number, line in enumerate(block.lines):
        if number not in shown:
            left_out += 1
            continue
        if left_out:
            yield f"      ... {left_out} the same"
            left_out = 0
        sign = " " if line.sign == "=" else line.sign
        yield f"    {sign} {line.text:58}{_place(line.source)}".rstrip()
    if left_out:
        yield f"      ... {left_out} the same"


def _place(source: SourceLine | None) -> str:
    return f" line {source.line}" if source else ""


def _weight(change: LineChange) -> float:
    return sum(abs(new - old) for old, new in map(change.values, change.names))


def _line(change: LineChange) -> Iterator[str]:
    places = [str(side.place.line) if side else "none" for side in (change.old, change.new)]
    shown = change.new or change.old
    assert shown is not None
    yield f"    line {places[0]} -> {places[1]}: {shown.text}"
    for name in change.names:
        old, new = change.values(name)
        yield f"      {name}: {amount(old)} -> {amount(new)}"


def _ratio(old: float, new: float) -> str:
    return f" (x {new / old:.3g})" if old and new else ""

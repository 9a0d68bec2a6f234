"""Plain text: the verdicts for a terminal or a log; unchanged kernels by name only where they are few."""

from __future__ import annotations

from collections.abc import Iterator

from warplens.control_characters import visible
from warplens.regression.verdict import KernelVerdict, Verdict
from warplens.report.regression_views.check_view import CheckView, amount, attributed, broken_text

NAME = "text"
MOST_UNCHANGED = 20  # that are listed
WIDTH = max(map(len, Verdict)) + 2


def text(view: CheckView) -> str:
    unchanged = view.tally.get(Verdict.UNCHANGED, 0)
    shown = [k for k in view.kernels if k.verdict is not Verdict.UNCHANGED or k.broken or unchanged <= MOST_UNCHANGED]
    lines = [line for kernel in shown for line in kernel_lines(view, kernel)]
    if len(shown) < len(view.kernels):
        lines.append(f"{Verdict.UNCHANGED:{WIDTH}}{len(view.kernels) - len(shown)} kernels more")
    lines += [f"{Verdict.ERROR:{WIDTH}}{problem}" for problem in view.problems]
    if view.saved:
        lines.append(f"saved to {view.baseline}")
    return visible("\n".join([*lines, view.summary]) + "\n")


def kernel_lines(view: CheckView, kernel: KernelVerdict) -> Iterator[str]:
    key = kernel.key
    name = f"{view.path(key.file)}: {key.name}" if key.name else view.path(key.file)
    target = ", ".join(filter(None, (key.arch, key.gpu)))
    yield f"{kernel.verdict:{WIDTH}}{name}{f' ({target})' if target else ''}"
    indent = " " * WIDTH
    if kernel.note:
        first, *rest = kernel.note.split("\n")
        yield f"{indent}{first}"
        yield from (f"{indent}{line}" for line in rest)
    for broken in kernel.broken:
        yield f"{indent}{broken_text(broken)}"
        if broken.at:
            place = view.at(kernel, broken)
            yield f"{indent}  {place.file}:{place.line}: {attributed(broken)}"
    named = {word for broken in kernel.broken for word in broken.budget.split()}
    for change in kernel.changes:
        if change.name not in named:
            unit = f" {change.unit}" if change.unit else ""
            yield f"{indent}{change.name}: {amount(change.before)} -> {amount(change.after)}{unit}"

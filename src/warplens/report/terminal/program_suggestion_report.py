"""Program suggestion report: what a whole program gains, then each kernel, then the difference of its files."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from warplens.report.prediction_view import spoken
from warplens.report.suggestion_view import ProgramKernelView, ProgramSuggestionView
from warplens.report.terminal import suggestion_report
from warplens.report.terminal.console_layout import grid_of
from warplens.report.wording import count, percent

MOST_SENTENCES = 15


def show(view: ProgramSuggestionView, out: Console) -> None:
    out.print(headline(view), style="bold")
    for sentence in sentences(view):
        out.print(sentence)
    out.print("\nKernels  modelled")
    table = grid_of("Kernel", "Launches", "Time", "Share", "Changed", "Less")
    for kernel in view.kernels:
        table.add_row(*cells(kernel, view.before_us))
    out.print(table)
    for kernel in view.kernels:
        if kernel.suggestion is not None:
            out.print()
            suggestion_report.show(kernel.suggestion, out, alone=False)
    if view.diff:
        out.print()
        for line in view.diff.split("\n"):
            out.print(Text(line, style=suggestion_report.COLOURS.get(line[:1], "")), soft_wrap=True)
    for footing in _footings(view):
        out.print(f"\n{footing}", style="dim")


def headline(view: ProgramSuggestionView) -> str:
    """ "./app.cu on NVIDIA H200 SXM: kernels 21.2 us, 16.8 us after 2 changes (20 % less)"."""
    start = f"{view.command} on {view.gpu}: kernels {spoken(view.before_us)} predicted"
    changes = sum(len(kernel.suggestion.changes) for kernel in view.kernels if kernel.suggestion)
    if not changes:
        return f"{start}; no change was found that makes one of them faster"
    less = percent(1 - view.after_us / view.before_us)
    return f"{start}, {spoken(view.after_us)} after {count(changes, 'change')} ({less} less)"


def sentences(view: ProgramSuggestionView) -> Iterator[str]:
    """Below the headline."""
    if view.output:
        yield f"Exit code {view.exit_code}; {view.output}."
    yield from view.findings
    for kernel in view.kernels:
        if kernel.reason:
            yield f"{kernel.kernel}: not changed: {kernel.reason}"


def cells(kernel: ProgramKernelView, whole_us: float) -> tuple[str, ...]:
    """Of the table of kernels."""
    changed = kernel.suggestion is not None and bool(kernel.suggestion.changes)
    return (
        kernel.kernel, f"{kernel.launches:,}", spoken(kernel.before_us), percent(kernel.before_us / whole_us),
        spoken(kernel.after_us) if changed else "", percent(1 - kernel.after_us / kernel.before_us) if changed else "",
    )  # fmt: skip


def brief(view: ProgramSuggestionView) -> str:
    """At most 15 plain sentences."""
    lines = [f"{headline(view)}.", *(one.rstrip(".") + "." for one in sentences(view))]
    for kernel in view.kernels:
        if kernel.suggestion is not None:
            lines += suggestion_report.brief(kernel.suggestion).split("\n")[:-1]
    footings = _footings(view)
    return "\n".join([*lines[: MOST_SENTENCES - len(footings)], *footings])


def _footings(view: ProgramSuggestionView) -> list[str]:
    """How sure the figures are, once."""
    return [suggestion_report.footing(kernel.suggestion) for kernel in view.kernels if kernel.suggestion][:1]

"""Suggestion report: findings, the changes that are proven, their diff, and what was tried in vain."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from warplens.report.findings.finding_list import finding_items, item
from warplens.report.prediction_view import spoken
from warplens.report.suggestion_view import ChangeView, MeasuredView, RejectedView, SuggestionView
from warplens.report.wording import count, percent

COLOURS = {"+": "green", "-": "red", "@": "cyan"}


def show(view: SuggestionView, out: Console, whole: bool = True, alone: bool = True) -> None:
    """whole: also the changes that were tried in vain;  alone: with what the report of a program has at its end."""
    out.print(headline(view), style="bold")
    if view.findings:
        out.print("\nFindings")
        for number, finding in enumerate(view.findings, 1):
            for row in finding_items(number, finding, view.gpu):
                out.print(row)
    if view.changes:
        out.print("\nChanges")
        for number, change in enumerate(view.changes, 1):
            _show_change(number, change, doubt(view, change), out)
        if view.launch:
            out.print(f"  The launch changes: {view.launch}")
        if view.measured:
            out.print(f"  {measured(view.measured)}")
        if alone:
            out.print()
            for line in view.diff.split("\n"):
                out.print(Text(line, style=COLOURS.get(line[:1], "")), soft_wrap=True)
    if whole and view.rejected:
        out.print("\nTried, not kept")
        for found in view.rejected:
            out.print(item("", f"{where(found)}{found.title}: {found.reason}"))
    if view.refused:
        out.print("\nNot tried")
        for found in view.refused:
            out.print(item("", f"{where(found)}{found.reason}"))
    if alone:
        out.print(f"\n{footing(view)}", style="dim")


def headline(view: SuggestionView) -> str:
    """ "transpose on NVIDIA H200: 23.7 us predicted, 11.8 us after 1 change (50 % less)"."""
    if view.before_us is None:
        return f"{view.title} on {view.gpu}: no prediction: {view.unpredicted}"
    start = f"{view.title} on {view.gpu}: {spoken(view.before_us)} predicted"
    if not view.changes or view.after_us is None:
        return f"{start}; no change was found that makes it faster by {percent(view.noise)} or more"
    less = percent(1 - view.after_us / view.before_us)
    return f"{start}, {spoken(view.after_us)} after {count(len(view.changes), 'change')} ({less} less)"


def measured(found: MeasuredView) -> str:
    """ "Measured on NVIDIA H200: 23.7 us -> 11.9 us (50 % less)"."""
    change = 1 - found.after_us / found.before_us
    words = f"{percent(change)} less" if change >= 0 else f"{percent(-change)} more"
    return f"Measured on {found.gpu}: {spoken(found.before_us)} -> {spoken(found.after_us)} ({words})"


def line_of(number: int, change: ChangeView) -> str:
    """ "line 20"; of a later change the line is one of the file that the changes before it have made."""
    above = "change 1" if number == 2 else f"changes 1 to {number - 1}"
    return f"line {change.line}" + f" after {above}" * (number > 1)


def where(found: RejectedView) -> str:
    return f"line {found.line}: " if found.line else ""


def footing(view: SuggestionView) -> str:
    return (
        "Times are predicted, outputs are of executed kernels. The ratio of two predicted times is off by up to "
        f"{percent(view.ratio_error)} in 9 of 10 pairs measured on an H200; gains under {percent(view.noise)} are not "
        "claimed."
    )


def doubt(view: SuggestionView, change: ChangeView) -> str:
    """What to hold of a gain that one predicted ratio in ten is off by; "" of a larger one."""
    return "" if change.gain >= view.ratio_error else "; small: measure it, one predicted ratio in ten is off by more"


def _show_change(number: int, change: ChangeView, doubt: str, out: Console) -> None:
    times = f"{spoken(change.before_us)} -> {spoken(change.after_us)} ({percent(change.gain)} less{doubt})"
    lines = [f"{change.title} ({line_of(number, change)}): {times}", f"Outputs: {change.outputs}."]
    lines += [f"{name} {before:,.0f} -> {after:,.0f}" for name, (before, after) in change.counts.items()]
    if change.promise:
        lines.append(f"From now on: {change.promise}.")
    for place, line in enumerate(lines):
        out.print(item(f"{number}." if place == 0 else "", line))


def brief(view: SuggestionView) -> str:
    """At most 15 plain sentences."""
    lines = [headline(view) + "."]
    for found in view.findings[:3]:
        lines += found.sentences(view.gpu)
    for number, change in enumerate(view.changes, 1):
        saved = f"{spoken(change.before_us)} to {spoken(change.after_us)}"
        saved += doubt(view, change)
        lines.append(_sentence(f"{change.title} in {line_of(number, change)}: {saved}, outputs {change.outputs}"))
    if view.launch:
        lines.append(f"The launch becomes {view.launch}.")
    if view.measured:
        lines.append(f"{measured(view.measured)}.")
    lines.append(footing(view))
    return "\n".join(lines[:15])


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."

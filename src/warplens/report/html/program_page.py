"""Program page: kernels and launch shapes of a whole program, its streams over time, and the report of each kernel."""

from __future__ import annotations

from collections.abc import Iterator

from warplens.report.finding_text import format_program_finding
from warplens.report.html import summary_page
from warplens.report.html.launch_page import Figure
from warplens.report.html.summary_page import PageTable, Summary, SummaryPart
from warplens.report.launch_view import dim
from warplens.report.pictures.streams_over_time import streams_over_time
from warplens.report.prediction_view import in_bytes, interval, spoken
from warplens.report.program_view import PURPOSE, LaunchGroup, ProgramView
from warplens.report.terminal import program_report as words
from warplens.report.wording import percent

PICTURES = "with accesses and warps: add --save-launch KERNEL:1 FILE, then warplens explain --from FILE --html PAGE"
REPORTS = 20  # launches whose whole reports are on the page, those of the longest kernels


def page(view: ProgramView) -> str:
    subjects = [group.first for group in words.ordered(view) if group.first]
    return summary_page.page([summary(view)], subjects[:REPORTS])


def summary(view: ProgramView) -> Summary:
    total = f", {spoken(view.kernel_us)} predicted" if view.groups else ""
    launches = f"{view.launches:,} launch{'es' * (view.launches != 1)}"
    sentences = [f"Ended early: {view.ended}"] if view.ended else []
    sentences += [*view.faults, PURPOSE]
    figures = []
    if view.groups:
        low, high = (sum(amounts) for amounts in zip(*((g.low_us, g.high_us) for g in view.groups), strict=True))
        note = f"interval {interval(low, high)}" if low else "all kernels together"
        figures.append(Figure("Kernels", spoken(view.kernel_us), "modelled", note))
        busy = view.timeline.busy() / 1000
        figures.append(Figure("GPU busy", spoken(busy), "modelled", "kernels, copies and fills"))
        shapes = f"of {len(view.groups):,} kernels and shapes" if len(view.groups) != 1 else "of one kernel and shape"
        figures.append(Figure("Launches", f"{view.launches:,}", "exact", shapes))
    headline = f"{view.command}: {launches} on the {view.machine.title}{total}"
    return Summary("Program", "run", headline, sentences, figures, list(_parts(view)))


def _parts(view: ProgramView) -> Iterator[SummaryPart]:
    if view.findings:
        items = [
            [f"{found.severity}: {found.kernel + ': ' if found.kernel else ''}{line}", *places]
            for found in view.findings for line, *places in [found.message.split("\n")]
        ]  # fmt: skip
        yield SummaryPart("findings", "Findings", items=items)
    if view.groups:
        heads = ("Kernel", "Grid", "Block", "Launches", "Time", "Share", "Each", "Interval", "Limit")
        rows = [_row(group, view.kernel_us) for group in words.ordered(view)]
        yield SummaryPart("kernels", "Kernels", "modelled", PICTURES, PageTable(heads, rows, texts=1))
    if len(view.timeline):
        svg = streams_over_time(view.timeline)
        yield SummaryPart("timeline", "Timeline of the GPU", "modelled", svg=svg)
    if view.transfers:
        copies = [
            (direction, f"{found.copies:,}", in_bytes(found.size), spoken(found.time_us))
            for direction, found in view.transfers.items()
        ]
        table = PageTable(("Direction", "Count", "Bytes", "Time"), copies)
        yield SummaryPart("copies", "Copies and Fills", "modelled", table=table)
    if advice := view.advice:
        yield SummaryPart("advice", "Between Host and GPU", items=[[format_program_finding(one)] for one in advice])
    notes = [[note] for note in (words.warm_launches(view), *view.notes) if note]
    if view.missing:
        notes.insert(0, [f"not provided, answered with error 801: {', '.join(view.missing)}"])
    if notes:
        yield SummaryPart("notes", "Notes", items=notes)


def _row(group: LaunchGroup, total_us: float) -> tuple[str, ...]:
    each = [amount / group.launches for amount in (group.time_us, group.low_us, group.high_us)]
    share = percent(group.time_us / total_us) if total_us else ""
    span = "" if group.unpredicted else interval(each[1], each[2])
    return (
        group.kernel, dim(group.launch.grid), dim(group.launch.block), f"{group.launches:,}",
        ("≥ " if group.unpredicted else "") + spoken(group.time_us), share, spoken(each[0]), span,
        group.limit,
    )  # fmt: skip

"""Program report: what a whole program did on the GPU, kernel by kernel, in a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from rich.console import Console
from rich.text import Text

from warplens.report.finding_text import format_program_finding
from warplens.report.headline import headline
from warplens.report.launch_view import dim
from warplens.report.prediction_view import in_bytes, interval, spoken
from warplens.report.program_view import PURPOSE, LaunchGroup, ProgramView
from warplens.report.terminal import launch_report, metric_table, timeline_chart
from warplens.report.terminal.console_layout import TableGrid, grid_of, short, titled
from warplens.report.wording import count, percent

Page = Literal["summary", "details", "raw"]
COUNTERS = (
    ("Warp inst", ("smsp__inst_executed.sum",)),
    ("Ld sectors", ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",)),
    ("St sectors", ("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",)),
    ("Conflicts", ("derived__memory_l1_wavefronts_shared_excessive",)),
)
"""Heads of columns, and the metrics behind them: of one launch, the first."""
DRAM = ("dram__bytes_read.sum", "dram__bytes_write.sum", "dram__bytes_op_read.sum", "dram__bytes_op_write.sum")
SEVERITIES = {"error": "red", "warning": "yellow", "note": "dim"}


def show(view: ProgramView, out: Console, page: Page = "summary", names: Sequence[str] | None = None) -> None:
    """The page, below what every page begins with.

    summary   each kernel and shape;  details: and of each the whole report of the first launch that was counted
    raw       all metrics of each counted launch;  names: of the metrics, for `raw`
    """
    _show_head(view, out)
    if page == "raw":
        _show_metrics(view, out, names)
        return
    if view.groups:
        _show_times(view, out)
        _show_counters(view, out)
    timeline_chart.show(view.timeline, view.processes, out)
    _show_transfers(view, out)
    for finding in view.advice:
        out.print(Text(format_program_finding(finding), "dim"))
    _show_rest(view, out)
    if page == "details":
        for group in ordered(view):
            if group.first:
                out.print()
                out.rule(style="dim")
                launch_report.show(group.first, out)


def _show_head(view: ProgramView, out: Console) -> None:
    out.print(Text(PURPOSE, "dim"))
    out.print()
    total = f", {spoken(view.kernel_us)} predicted" if view.groups else ""
    launches = f"{view.launches:,} launch{'es' * (view.launches != 1)}"
    out.print(Text(f"{view.command}: {launches} on the {view.machine.title}{total}", "bold"))
    if view.ended:
        out.print(Text(f"ended early: {view.ended}", "yellow"))
    show_faults(view, out)
    _show_findings(view, out)


def show_faults(view: ProgramView, out: Console) -> None:
    for fault in view.faults:
        out.print(Text(fault, "red"), soft_wrap=True)


def _show_findings(view: ProgramView, out: Console) -> None:
    if view.checks is None:
        return
    checks = f"--check {','.join(view.checks)}"
    if not view.findings:
        out.print(Text(f"{checks}: nothing found", "green"))
        return
    others = [finding for finding in view.findings if finding.check != "memory"]  # which are shown as faults
    besides = " besides the fault" if len(others) < len(view.findings) else ""
    out.print(Text(f"\n{checks}: {count(len(others), 'finding')}{besides}", "bold"))
    for finding in others:
        often = f" ({finding.times:,} times)" if finding.times > 1 else ""
        where = f"{finding.kernel}: " if finding.kernel else ""
        first, *places = finding.message.split("\n")
        text = "\n".join([f"{finding.severity}: {where}{first}{often}", *places])
        out.print(Text(text, SEVERITIES[finding.severity]), soft_wrap=True)


def ordered(view: ProgramView) -> list[LaunchGroup]:
    """Longest first."""
    return sorted(view.groups, key=lambda group: -group.time_us)


def _by_kernel(*numbers: str) -> TableGrid:
    """A table of kernels and shapes; the name gives way to the numbers."""
    table = TableGrid(0)
    table.add_column("Kernel", no_wrap=True, overflow="ellipsis")
    for head in ("Grid", "Block", *numbers):
        table.add_column(head, justify="right", no_wrap=True)
    return table


def _key(group: LaunchGroup) -> tuple[Text, str, str]:
    grid, block = (dim(size).replace(" × ", "×") for size in (group.launch.grid, group.launch.block))
    return Text(group.kernel), grid, block


def _show_times(view: ProgramView, out: Console) -> None:
    table = _by_kernel("Launches", "Time", "Share", "Each", "Interval")
    for group in ordered(view):
        each = [amount / group.launches for amount in (group.time_us, group.low_us, group.high_us)]
        least = "≥ " if group.unpredicted else ""
        table.add_row(
            *_key(group), f"{group.launches:,}", least + spoken(group.time_us),
            percent(group.time_us / view.kernel_us) if view.kernel_us else "", spoken(each[0]),
            "" if group.unpredicted else interval(each[1], each[2]),
        )  # fmt: skip
    out.print(titled("Kernels", "modelled", table))
    if view.uncounted:
        out.print(Text(_uncounted(view), "dim"))
    if line := warm_launches(view):
        out.print(Text(line, "dim"))
    for line in dict.fromkeys(_verdict(group) for group in ordered(view)):
        out.print(Text(line, "dim"))


def warm_launches(view: ProgramView) -> str:
    """How many launches do not begin with an empty L2, and what that changes; "" if it changes nothing."""
    warm, cold = (sum(getattr(group, name) for group in view.groups) for name in ("warm", "cold_us"))
    if not warm:
        return ""
    return (
        f"L2 holds data of earlier work when {warm:,} of {view.launches:,} launches begin; with an empty L2, as under "
        f"ncu --cache-control all, the kernels take {spoken(cold)} instead of {spoken(view.kernel_us)}"
    )


def _uncounted(view: ProgramView) -> str:
    """How many launches were executed without counters, and what their times are."""
    counted = f"{len(view.counted):,} of {view.launches:,} launches counted"
    return f"{counted}; {view.uncounted:,} executed without counters: times in proportion to their instructions"


def _verdict(group: LaunchGroup) -> str:
    """What its time is made of, and its heaviest finding."""
    if group.first is None:
        return f"{group.kernel}: {group.limit}"
    return f"{group.kernel}: {group.limit}; {headline(group.first).removeprefix(f'{group.first.title}: ')}"


def _show_counters(view: ProgramView, out: Console) -> None:
    counted = [group for group in ordered(view) if group.metrics]
    if not counted:
        return
    table = _by_kernel(*(head for head, _ in COUNTERS), "DRAM")
    for group in counted:
        found = [next((group.metrics[name] for name in names if name in group.metrics), None) for _, names in COUNTERS]
        moved = [group.metrics[name].value for name in DRAM if name in group.metrics]
        cells = ["" if metric is None else short(int(metric.value)) for metric in found]
        table.add_row(*_key(group), *cells, in_bytes(sum(moved)) if moved else "")
    out.print(titled("Counters of the First Launch", "exact; DRAM modelled", table))


def _show_metrics(view: ProgramView, out: Console, names: Sequence[str] | None) -> None:
    if not view.counted:
        out.print(Text("no launch was counted"))
    for launch in view.counted:
        where = f"{dim(launch.launch.grid)} × {dim(launch.launch.block)}, launch {launch.number:,} of the program"
        out.print(Text(f"\n{launch.kernel}, {where}", "bold"))
        out.print(metric_table.table_of(names, launch.metrics))


def _show_transfers(view: ProgramView, out: Console) -> None:
    if not view.transfers:
        return
    table = grid_of("Direction", "Count", "Bytes", "Time")
    for direction, transfer in view.transfers.items():
        table.add_row(direction, f"{transfer.copies:,}", in_bytes(transfer.size), spoken(transfer.time_us))
    out.print(titled("Copies and Fills", "modelled", table))


def _show_rest(view: ProgramView, out: Console) -> None:
    lines = [f"note: {note}" for note in view.notes]
    if view.missing:
        lines.insert(0, f"not provided, answered with error 801: {', '.join(view.missing)}")
    lines += [f"launch {saved.number} of {saved.kernel} is saved in {saved.file}" for saved in view.saved]
    if lines:
        out.print()
    for line in lines:
        out.print(Text(line, "dim"))

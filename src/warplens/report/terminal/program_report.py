"""Program report: what a whole program did on the GPU, kernel by kernel, in a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from warplens.report.launch_view import dim
from warplens.report.prediction_view import in_bytes, interval, spoken
from warplens.report.program_view import PURPOSE, LaunchGroup, ProgramView
from warplens.report.terminal.console_layout import grid_of, short, titled
from warplens.report.wording import percent

COUNTERS = (
    ("Warp inst", ("smsp__inst_executed.sum",)),
    ("Ld sectors", ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",)),
    ("St sectors", ("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",)),
    ("Conflicts", ("l1tex__data_bank_conflicts_pipe_lsu.sum",)),
)
"""Heads of columns, and the metrics behind them: of one launch, the first."""
DRAM = ("dram__bytes_read.sum", "dram__bytes_write.sum", "dram__bytes_op_read.sum", "dram__bytes_op_write.sum")


def show(view: ProgramView, out: Console) -> None:
    out.print(Text(PURPOSE, "dim"))
    launches = sum(group.launches for group in view.groups)
    total = f", {spoken(view.kernel_us)} predicted" if view.groups else ""
    out.print(
        Text(f"{view.command}: {launches:,} launch{'es' * (launches != 1)} on {view.machine.title}{total}", "bold")
    )
    if view.ended:
        out.print(Text(f"ended early: {view.ended}", "yellow"))
    show_faults(view, out)
    if view.groups:
        _show_times(view, out)
        _show_counters(view, out)
    _show_transfers(view, out)
    if view.missing:
        out.print(Text(f"\nnot provided, answered with error 801: {', '.join(view.missing)}"))
    for note in view.notes:
        out.print(Text(f"note: {note}", "dim"))


def show_faults(view: ProgramView, out: Console) -> None:
    for fault in view.faults:
        out.print(Text(fault, "red"), soft_wrap=True)


def ordered(view: ProgramView) -> list[LaunchGroup]:
    """Longest first."""
    return sorted(view.groups, key=lambda group: -group.time_us)


def _shape(group: LaunchGroup) -> str:
    shared = f" + {group.launch.shared:,} B" if group.launch.shared else ""
    return f"{dim(group.launch.grid)} x {dim(group.launch.block)}{shared}"


def _show_times(view: ProgramView, out: Console) -> None:
    table = grid_of("Kernel", "Launches", "Time", "Share", "Each", "Interval", wide="Grid x block")
    for group in ordered(view):
        each = [amount / group.launches for amount in (group.time_us, group.low_us, group.high_us)]
        least = "at least " if group.unpredicted else ""
        table.add_row(
            Text(group.kernel), Text(_shape(group)), f"{group.launches:,}", least + spoken(group.time_us),
            percent(group.time_us / view.kernel_us) if view.kernel_us else "", spoken(each[0]),
            "" if group.unpredicted else interval(each[1], each[2]),
        )  # fmt: skip
    out.print(titled("Kernels", "modelled", table))
    for group in ordered(view):
        out.print(Text(f"  {group.kernel}: {group.limit}", "dim"))


def _show_counters(view: ProgramView, out: Console) -> None:
    table = grid_of("Kernel", *(head for head, _ in COUNTERS), "DRAM", wide="Grid x block")
    for group in ordered(view):
        found = [next((group.metrics[name] for name in names if name in group.metrics), None) for _, names in COUNTERS]
        moved = [group.metrics[name].value for name in DRAM if name in group.metrics]
        cells = ["" if metric is None else short(int(metric.value)) for metric in found]
        table.add_row(Text(group.kernel), Text(_shape(group)), *cells, in_bytes(sum(moved)) if moved else "")
    out.print(titled("Counters of the first launch", "exact; DRAM modelled", table))


def _show_transfers(view: ProgramView, out: Console) -> None:
    if not view.transfers:
        return
    table = grid_of("Copies", "Count", "Bytes", "Time")
    for direction, transfer in view.transfers.items():
        table.add_row(direction, f"{transfer.copies:,}", in_bytes(transfer.size), spoken(transfer.time_us))
    out.print(titled("Copies", "modelled", table))

"""Occupancy without a run: limits, limiter and the three curves as small charts."""

from __future__ import annotations

from rich.console import Console, RenderableType
from rich.text import Text

from warplens.counters.occupancy import Curve, curves, occupancy
from warplens.machine import Machine
from warplens.report.block_resources import BlockResources
from warplens.report.terminal.console_layout import facts, titled
from warplens.report.wording import RESOURCES, decimal

ROWS = 6
COLUMNS = 64
EIGHTHS = " ▁▂▃▄▅▆▇█"


def show(title: str, machine: Machine, block: BlockResources, out: Console) -> None:
    """Limits, limiter and curves of a block on a GPU."""
    here, around = occupancy(machine, *block), curves(machine, *block)
    most = machine.limits.warps_per_multiprocessor
    limiters = " and ".join(RESOURCES[name] for name in here.limiters)
    if here.blocks:
        text = f"{decimal(here.percent)} % occupancy, limited by {limiters}"
    else:
        text = f"a block does not fit on the {machine.title}: too much of {limiters}"
    out.print(Text(f"{title}: {text}", style="bold"))
    out.print(titled("Block", "exact", facts(spoken(block, machine))))
    rows = {
        "Warps": f"{here.warps} of {most} per SM",
        "Blocks": f"{here.blocks} per SM",
        "Shared memory": f"{here.carveout_bytes:,} bytes per SM (carve-out)",
    }
    out.print(titled("Resident at once", "exact", facts(rows)))
    limits = {RESOURCES[name].capitalize(): str(count) for name, count in here.limits.items()}
    out.print(titled("Block limit per resource", "exact", facts(limits)))
    names = ("registers per thread", "threads per block", "bytes of shared memory per block")
    drawn = (around.registers, around.block_threads, around.shared_bytes)
    places = (block.registers, block.threads, block.shared_static + block.shared_dynamic)
    for name, curve, place in zip(names, drawn, places, strict=True):
        out.print(titled(f"Warps by {name}", "exact", chart(curve, place, most)))


def spoken(block: BlockResources, machine: Machine) -> dict[str, str]:
    return {
        "GPU": f"{machine.title} ({machine.arch})",
        "Threads": f"{block.threads:,}, {block.registers} registers each",
        "Shared memory": f"{block.shared_static:,} bytes static, {block.shared_dynamic:,} dynamic",
    }


def chart(curve: Curve, at: int, most: int) -> RenderableType:
    """Warps upwards from 0 to `most`; ▲ marks the launch."""
    step = max(1, -(-len(curve) // COLUMNS))
    points = curve[::step]
    repeat = max(1, COLUMNS // len(points))
    bars = [warps * ROWS * 8 // most for _, warps in points for _ in range(repeat)]
    lines = []
    for row in reversed(range(ROWS)):
        label = f"{most * (row + 1) // ROWS:>4} ┤" if row in (ROWS - 1, ROWS // 2 - 1) else "     │"
        lines.append(label + "".join(EIGHTHS[min(max(bar - 8 * row, 0), 8)] for bar in bars))
    lines.append("   0 └" + "─" * len(bars))
    place = min(range(len(points)), key=lambda i: abs(points[i][0] - at)) * repeat
    lines.append(axis(points[0][0], points[-1][0], at, place, len(bars)))
    return Text("\n".join(lines), no_wrap=True)


def axis(first: int, last: int, at: int, place: int, width: int) -> str:
    """The ends and the launch's place below the chart."""
    mark = f"▲ {at:,}"
    cells = list(" " * (width + len(mark)))  # the figure may hang over the edge
    for begin, text in ((0, f"{first:,}"), (width - len(f"{last:,}"), f"{last:,}")):
        if begin + len(text) < place or begin > place + len(mark):
            cells[begin : begin + len(text)] = text
    cells[place : place + len(mark)] = mark
    return "      " + "".join(cells).rstrip()

"""What the banks and the bus of one channel of DRAM do, transfer by transfer."""

from __future__ import annotations

from collections.abc import Sequence

from warplens.machine.dram_banks import BankAccess, timeline
from warplens.machine.dram_channels import Channels
from warplens.report.pictures._svg import Svg

LEFT, RIGHT, TOP, ROW, BAR = 74, 20, 66, 20, 13
WIDTH = 800


def dram_timeline(banks: Sequence[int], channels: Channels, title: str = "One channel of DRAM") -> str:
    """The picture as SVG text: these banks are asked in this order, all at once at 0."""
    accesses = timeline(banks, channels)
    end = max(access.end for access in accesses)
    rows = sorted(set(banks))
    svg = Svg(WIDTH, TOP + (len(rows) + 1) * ROW + 42, title, describe(accesses, end, len(rows), channels))
    scale = (WIDTH - LEFT - RIGHT) / end
    bus = TOP + len(rows) * ROW + 6
    for order, bank in enumerate(rows):
        above = TOP + order * ROW
        svg.write(LEFT - 8, above + 10.5, f"bank {bank}", "words", "end")
        svg.path("axis", (LEFT, above + ROW - 4), (WIDTH - RIGHT, above + ROW - 4))
        for access in accesses:
            if access.bank == bank:
                svg.rect(LEFT + access.start * scale, above, (access.transfer - access.start) * scale, BAR, "even", 1)
                svg.rect(LEFT + access.transfer * scale, above, scale, BAR, "hot", 0)
    svg.write(LEFT - 8, bus + 10.5, "bus", "words", "end")
    svg.rect(LEFT, bus, WIDTH - LEFT - RIGHT, BAR, "box", 1)
    for access in accesses:
        svg.rect(LEFT + access.transfer * scale, bus, scale, BAR, "hot", 0)
    for at in marks(end):
        svg.write(LEFT + at * scale, bus + BAR + 13, str(at), "tiny", "middle")
    svg.write(LEFT, bus + BAR + 28, "time in transfers; pale: a bank searches, orange: its burst is on the bus", "tiny")
    return svg.text()


def describe(accesses: Sequence[BankAccess], end: int, banks: int, channels: Channels) -> str:
    share = 100 * len(accesses) / end
    return (
        f"{len(accesses)} bursts from {banks} bank{'s' * (banks > 1)}, {channels.latency_per_transfer} : 1 of latency "
        f"and transfer: the bus carries data in {len(accesses)} of {end} transfers, {share:.3g} % of the time"
    )


def marks(end: int) -> range:
    """About eight round numbers from 0 to end."""
    step = next(s for power in range(9) for s in (10**power, 2 * 10**power, 5 * 10**power) if end / s <= 10)
    return range(0, end + 1, step)

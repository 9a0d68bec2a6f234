"""Counted launch: what rules read of a launch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from warplens.core.counts import Trace
from warplens.core.cubin import Kernel, SourceLine
from warplens.core.launch import Launch
from warplens.core.program import Program
from warplens.counters.access_table import sector_rows, wavefront_rows
from warplens.counters.occupancy import Occupancy
from warplens.counters.vocabulary import Counts, Quantity
from warplens.machine import Machine

ISSUE = 0.25


class CountedLaunch(Protocol):
    """One launch with its exact counts; report/launch_view.py has it.

    whole      all instructions in one group;  by_line: one group for each of `lines`
    lanes      threads predicated on, on average over the warp instructions executed: 0 to 32
    waves      full waves of blocks on the machine
    sources    text of the source by the name that the line table has for it
    """

    @property
    def kernel(self) -> Kernel: ...
    @property
    def program(self) -> Program: ...
    @property
    def launch(self) -> Launch: ...
    @property
    def trace(self) -> Trace: ...
    @property
    def machine(self) -> Machine: ...
    @property
    def occupancy(self) -> Occupancy: ...
    @property
    def waves(self) -> float: ...
    @property
    def sources(self) -> Mapping[str, str]: ...
    @property
    def lanes(self) -> float: ...
    @property
    def whole(self) -> Counts: ...
    @property
    def lines(self) -> tuple[SourceLine, ...]: ...
    @property
    def by_line(self) -> Counts: ...
    def __getitem__(self, name: str) -> float | int: ...
    def total(self, quantity: Quantity) -> int: ...
    def text_of(self, place: SourceLine) -> str: ...


def work(launch: CountedLaunch) -> float:
    """The work of a launch in SM cycles, which only ranks findings; it is counted, not timed.

    A warp instruction is a quarter (each of the four sub-partitions issues one per cycle), a shared-memory wavefront
    1 (the data stage passes one per cycle), a sector 1 (the SM's share of L2 bandwidth is some 32 bytes per cycle).
    """
    moved = sum(row.units for row in (*sector_rows(launch.whole), *wavefront_rows(launch.whole)))
    return max(ISSUE * int(launch["smsp__inst_executed.sum"]) + moved, 1.0)


def heaviest_line(launch: CountedLaunch, quantity: Quantity) -> SourceLine | None:
    """The source line with most of a quantity; None where there is none of it or lines are not known."""
    amounts: list[int] = quantity.of(launch.by_line).tolist()
    if not amounts or max(amounts) <= 0:
        return None
    return launch.lines[amounts.index(max(amounts))]

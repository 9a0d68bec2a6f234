"""Counted launch: what rules read of a launch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from warplens.core.counts import Trace
from warplens.core.cubin import Kernel, SourceLine
from warplens.core.launch import Launch
from warplens.core.program import Constant, Program
from warplens.counters.access_table import sector_rows, wavefront_rows
from warplens.counters.idioms import DefUse, Idiom
from warplens.counters.occupancy import Occupancy
from warplens.counters.vocabulary import Counts, Quantity
from warplens.machine import Machine

ISSUE = 0.25  # SM cycles a warp instruction: each of four sub-partitions issues one per cycle
BARRIER = 1.0  # a warp's wait at a barrier: a block passes one in some 30 cycles, of which other blocks fill a part


class CountedLaunch(Protocol):
    """One launch with its exact counts; report/launch_view.py has it.

    whole      all instructions in one group;  by_line: one group for each of `lines`
    lanes      threads predicated on, on average over the warp instructions executed: 0 to 32
    waves      full waves of blocks on the machine
    sources    text of the source by the name that the line table has for it
    name_of    what an entry of the constant banks is called: a parameter, blockDim ...
    input_bytes   of the arrays that the kernel left unchanged; of all where it changed all
    changed_bytes   of the arrays that the kernel changed
    flow       which instruction made a value and which use it;  idioms: what groups of instructions compute
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
    def name_of(self) -> Callable[[Constant], str | None]: ...
    @property
    def input_bytes(self) -> int: ...
    @property
    def changed_bytes(self) -> int: ...
    @property
    def flow(self) -> DefUse: ...
    @property
    def idioms(self) -> tuple[Idiom, ...]: ...
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


def executed(launch: CountedLaunch, indexes: Iterable[int]) -> int:
    """How often warps executed these instructions, together."""
    return sum(int(launch.trace.executed[index]) for index in set(indexes))


def line_with_most(launch: CountedLaunch, amounts: Mapping[int, float]) -> SourceLine | None:
    """The source line with most of what instructions, by index, have some of; None where lines are not known."""
    by_line: dict[SourceLine, float] = {}
    for index, amount in amounts.items():
        place = launch.program.instructions[index].source
        if place is not None and amount > 0:
            by_line[place] = by_line.get(place, 0.0) + amount
    return max(by_line, key=lambda place: by_line[place], default=None)


def missing_warps_weight(launch: CountedLaunch, warps: int) -> float:
    """Weight of so many warps that an SM could hold and does not: a quarter of their share of its slots, as fewer warps
    hide less latency, but none of the work is wasted."""
    return warps / launch.machine.limits.warps_per_multiprocessor / 4

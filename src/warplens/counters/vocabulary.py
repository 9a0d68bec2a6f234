"""Metric expressions: the operators and quantities in which metrics are written.

A Selection picks instructions, a Quantity is a count over a selection or arithmetic on such counts, a Formula
gives a quantity its name:

    exact("smsp__sass_inst_executed_op_global_ld.sum", "inst", REQUESTS[GLOBAL & LOAD])

A quantity is worked out for all groups of instructions at once: one group is the whole kernel, one a source
line gives the listing by line, one an instruction the listing of the machine code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplens.core.counts import Trace
from warplens.core.launch import Launch
from warplens.core.metric import Metric, Provenance
from warplens.core.program import Instruction, Program
from warplens.counters.instruction_sites import Site, sites_of

Totals = NDArray[Any]
NO_DATA_MEMORY = ("constant", "texture", "surface")


@dataclass(frozen=True)
class Selection:
    """A set of instructions: `GLOBAL & LOAD`, `~LDSM`."""

    test: Callable[[Site], bool]

    def __and__(self, other: Selection) -> Selection:
        return Selection(lambda site: self.test(site) and other.test(site))

    def __or__(self, other: Selection) -> Selection:
        return Selection(lambda site: self.test(site) or other.test(site))

    def __invert__(self) -> Selection:
        return Selection(lambda site: not self.test(site))


def opcode(*bases: str) -> Selection:
    """Instructions of these base opcodes, or of these with just these modifiers."""
    return Selection(lambda site: site.base in bases or site.opcode in bases)


def opcode_beginning(*starts: str) -> Selection:
    """Instructions whose opcode begins so, with any modifiers behind: "UBLKCP.S.G"."""
    return Selection(lambda site: f"{site.opcode}.".startswith(tuple(f"{start}." for start in starts)))


def space(name: str) -> Selection:
    """Instructions that reached this memory."""
    return Selection(lambda site: name in site.spaces)


def action(*names: str) -> Selection:
    """Memory instructions that do this."""
    return Selection(lambda site: site.access is not None and site.access.action in names)


def bits(width: int) -> Selection:
    """Data-memory instructions of this width a lane; constants do not count (measured on an H200), and neither, as is
    assumed, do textures and surfaces."""
    return Selection(
        lambda site: site.access is not None and site.access.bits == width and site.access.space not in NO_DATA_MEMORY
    )


class Counts:
    """A program with its trace, and its instructions sorted into groups 0 to n - 1 (-1: in no group)."""

    def __init__(self, program: Program, trace: Trace, groups: Sequence[int]) -> None:
        self.program = program
        self.trace = trace
        every = np.asarray(groups, dtype=np.intp)
        self.size = int(every.max(initial=-1)) + 1
        self.sites = sites_of(program, tuple(trace.reached))
        self.groups = np.concatenate([every, *(every[self.sites.generic] for _ in trace.reached)])
        self.columns: dict[str, NDArray[np.int64]] = {}  # of spread(): some fifteen, which 200 metrics read

    def spread(self, name: str) -> NDArray[np.int64]:
        """A column of the trace, an entry a site; read-only."""
        if name not in self.columns:
            column = self._spread(name)
            column.setflags(write=False)
            self.columns[name] = column
        return self.columns[name]

    def _spread(self, name: str) -> NDArray[np.int64]:
        values: NDArray[np.int64] = getattr(self.trace, name)
        nothing = np.zeros_like(values)
        parts = [getattr(reached, name, nothing) for reached in self.trace.reached.values()]
        if name == "bytes":  # an H200 counts all of a generic access's bytes as global, and as shared ones again
            everything = self.trace.generic_bytes
            parts = [everything if space == "shared" else nothing for space in self.trace.reached]
            values = np.where(everything, everything + sum(parts, nothing), values)
        return np.concatenate([values - sum(parts, nothing), *(part[self.sites.generic] for part in parts)])

    def provenances(self, quantity: Quantity) -> list[Provenance]:
        """Of each group."""
        whole, modelled = self.trace.provenance(quantity.of_addresses), self.trace.modelled(quantity.of_addresses)
        if whole != "modelled" or modelled is None:
            return [whole] * self.size
        chosen = self.sites.chosen(quantity.selection.test)
        groups = {int(self.groups[index]) for index in modelled if chosen[index]}
        return ["modelled" if group in groups else "exact" for group in range(self.size)]

    def total(self, values: NDArray[np.int64], selection: Selection) -> Totals:
        """Sum of `values` over the selected instructions of each group."""
        chosen = self.sites.chosen(selection.test) & (self.groups >= 0)
        sums = np.zeros(self.size, dtype=np.int64)
        np.add.at(sums, self.groups[chosen], values[chosen])
        return sums


@dataclass(frozen=True)
class Quantity:
    """Something that can be worked out for each group; sums and differences stay whole numbers.

    of_addresses: whether it follows from addresses too;  selection: the instructions that count.
    """

    of: Callable[[Counts], Totals]
    of_addresses: bool
    selection: Selection

    def __add__(self, other: Quantity) -> Quantity:
        return self._with(other, lambda counts: self.of(counts) + other.of(counts))

    def __sub__(self, other: Quantity) -> Quantity:
        return self._with(other, lambda counts: self.of(counts) - other.of(counts))

    def __rmul__(self, factor: int) -> Quantity:
        return replace(self, of=lambda counts: factor * self.of(counts))

    def __floordiv__(self, whole: int) -> Quantity:
        return replace(self, of=lambda counts: self.of(counts) // whole)

    def __truediv__(self, other: Quantity) -> Quantity:
        """The quotient, 0 where there is nothing to divide by: so Nsight Compute prints it."""
        return self._with(other, lambda counts: quotient(self.of(counts), other.of(counts)))

    def _with(self, other: Quantity, of: Callable[[Counts], Totals]) -> Quantity:
        return Quantity(of, self.of_addresses or other.of_addresses, self.selection | other.selection)


def quotient(above: Totals, below: Totals) -> Totals:
    result = np.zeros(len(above), dtype=np.float64)
    return np.divide(above, below, out=result, where=below != 0)


def launched_warps(launch: Launch) -> int:
    return launch.blocks * launch.warps_per_block


@dataclass(frozen=True)
class Column:
    """One array of the trace, to be summed over a selection; of_addresses: which follows from addresses."""

    name: str
    of_addresses: bool = False

    def __getitem__(self, selection: Selection) -> Quantity:
        return Quantity(
            lambda counts: counts.total(counts.spread(self.name), selection), self.of_addresses, selection
        )


@dataclass(frozen=True)
class WeightedColumn:
    """A column of which each instruction counts so many times as its weight says; of selected instructions alone."""

    column: Column
    weight: Callable[[Instruction], int]

    def __getitem__(self, selection: Selection) -> Quantity:
        def of(counts: Counts) -> Totals:
            factors = counts.sites.factors(self.weight, selection.test)
            return counts.total(counts.spread(self.column.name) * factors, selection)

        return Quantity(of, self.column.of_addresses, selection)


def weighted(column: Column, weight: Callable[[Instruction], int]) -> WeightedColumn:
    return WeightedColumn(column, weight)


ALL = Selection(lambda site: True)
NONE = ~ALL
WARPS = Quantity(lambda counts: np.full(counts.size, launched_warps(counts.trace.launch)), False, NONE)

EXECUTED = Column("executed")
THREADS = Column("threads")
THREADS_ON = Column("threads_on")
DIVERGENT = Column("divergent")
PARTED = Column("parted")
REPLAYS = Column("replays")
REPLAYED = Column("replayed")
REQUESTS = Column("requests")
SECTORS = Column("sectors", of_addresses=True)
TAGS = Column("tags", of_addresses=True)
WAVEFRONTS = Column("wavefronts", of_addresses=True)
IDEAL = Column("ideal", of_addresses=True)
COPY_IDEAL = Column("copy_ideal", of_addresses=True)
COPY_SECTORS = Column("copy_sectors", of_addresses=True)
BYTES = Column("bytes", of_addresses=True)

GLOBAL, LOCAL, SHARED = space("global"), space("local"), space("shared")
LOAD, STORE, ATOMIC, REDUCTION, COPY = (action(name) for name in ("load", "store", "atomic", "reduction", "copy"))

Chips = Callable[[int], bool]


def every(chip: int) -> bool:
    return True


def since(first: int) -> Chips:
    return lambda chip: chip >= first


def only(*chips: int) -> Chips:
    return lambda chip: chip in chips


@dataclass(frozen=True)
class Formula:
    """A metric: Nsight Compute's name, its unit, how to work it out, where it comes from, chips that have
    it."""

    name: str
    unit: str
    quantity: Quantity
    provenance: Provenance
    chips: Chips = every

    def metrics(self, counts: Counts) -> list[Metric]:
        """One a group; whole numbers as int."""
        values, provenances = self.quantity.of(counts).tolist(), counts.provenances(self.quantity)
        return [
            Metric(value, self.unit, self.provenance if found == "exact" else found)
            for value, found in zip(values, provenances, strict=True)
        ]


def exact(name: str, unit: str, quantity: Quantity, chips: Chips = every) -> Formula:
    """A metric that follows from the instruction stream and the addresses."""
    return Formula(name, unit, quantity, "exact", chips)


def modelled(name: str, unit: str, quantity: Quantity, chips: Chips = every) -> Formula:
    """A hardware counter that we answer with the exact pattern; a GPU may read a few more (arbitration)."""
    return Formula(name, unit, quantity, "modelled", chips)

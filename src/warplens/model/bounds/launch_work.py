"""Launch work: the input of the limits, counts of a launch and a GPU."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from warplens.core.counts import Trace
from warplens.core.program import Program
from warplens.counters.occupancy import Occupancy
from warplens.counters.vocabulary import Counts, Quantity
from warplens.machine import Machine


@dataclass(frozen=True)
class LaunchWork:
    """One launch.

    input_bytes   of the arrays that the kernel left unchanged; of all where it changed all
    """

    program: Program
    trace: Trace
    machine: Machine
    occupancy: Occupancy
    input_bytes: int

    @cached_property
    def _counts(self) -> Counts:
        return Counts(self.program, self.trace, [0] * len(self.program.instructions))

    def total(self, quantity: Quantity) -> int:
        """Of the whole grid."""
        return int(quantity.of(self._counts)[0]) if self._counts.size else 0

    @property
    def multiprocessors(self) -> int:
        """SMs that can have a block: a block is never split."""
        return min(self.machine.multiprocessors, self.trace.launch.blocks)

    def microseconds(self, cycles: float) -> float:
        """Cycles of an SM as time at the boost clock."""
        return cycles / self.machine.boost_megahertz

    def shared_out(self, amount: float, per_cycle: float) -> float:
        """Microseconds for `amount`, spread evenly over the SMs, each of which does `per_cycle`."""
        return self.microseconds(amount / per_cycle / self.multiprocessors)

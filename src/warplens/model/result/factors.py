"""Time factors: why one launch takes longer than another, as factors whose product is the time.

    time = (warp cycles per executed instruction x executed instructions / warps at once) x (elapsed / active)

Warps at once are achieved occupancy times the warp slots of a GPU; the product in brackets is the cycles in which SMs
have work, and elapsed / active is the overhead of launch, uneven blocks and the tail.  On one GPU all constants cancel
out of the ratio of two launches.  The cycles per instruction are split by where warps spend them: at instructions of
the main memory, or at others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from warplens.core.counts import Trace
from warplens.core.metric import Metric
from warplens.core.program import Instruction, Program
from warplens.counters.opcodes import category
from warplens.errors import UsageError
from warplens.machine import Machine
from warplens.model.instruction.sm_clock import with_sm_clock
from warplens.model.result.prediction import Prediction

CYCLES = "smsp__average_warps_active_per_inst_executed.ratio"
OCCUPANCY = "sm__warps_active.avg.pct_of_peak_sustained_active"
ACTIVE = "sm__cycles_active.avg"
MAIN_MEMORY = "main memory"
OTHERS = "other instructions"


@dataclass(frozen=True, slots=True)
class Class:
    """One class of warp instructions, with the average warp cycles of one instruction."""

    name: str
    instructions: int
    cycles: float

    @property
    def warp_cycles(self) -> float:
        return self.instructions * self.cycles


@dataclass(frozen=True, slots=True)
class Factors:
    """Factors of one launch's time.

    cycles        warp cycles per executed instruction;  occupancy: achieved, in %
    active_us     average time in which an SM has warps, so that time_us / active_us >= 1
    classes       main memory and others; together they have all instructions and all warp cycles
    """

    time_us: float
    cycles: float
    instructions: int
    occupancy: float
    active_us: float
    classes: tuple[Class, ...]

    @property
    def outside(self) -> float:
        """Elapsed over active time."""
        return self.time_us / self.active_us


@dataclass(frozen=True, slots=True)
class Decomposition:
    """Two launches on one GPU; ratios are second over first."""

    first: Factors
    second: Factors

    def ratio(self, of: Callable[[Factors], float]) -> float:
        return of(self.second) / of(self.first)

    @property
    def time(self) -> float:
        return self.ratio(lambda f: f.time_us)

    @property
    def product(self) -> float:
        """Ratio of the times computed from the factors."""
        core = self.ratio(lambda f: f.cycles) * self.ratio(lambda f: f.instructions) / self.ratio(lambda f: f.occupancy)
        return core * self.ratio(lambda f: f.outside)

    @property
    def multiplies_out(self) -> bool:
        """Whether product and time agree to a thousandth; if not, the model's own numbers contradict each other."""
        return abs(self.product / self.time - 1) < 0.001


def factors(program: Program, trace: Trace, machine: Machine, prediction: Prediction) -> Factors:
    """Factors of a launch.  UsageError if nothing was executed, or if the prediction lacks one of the three metrics."""
    executed = [int(count) for count in trace.executed]
    instructions = sum(executed)
    cycles, occupancy, active = (metric(prediction, name).value for name in (CYCLES, OCCUPANCY, ACTIVE))
    if not instructions or not occupancy or not active:
        raise UsageError("a launch that executes nothing has no cycles per instruction")
    clock = with_sm_clock(program, trace, machine).boost_megahertz
    return Factors(
        prediction.time_us, cycles, instructions, occupancy, active / clock,
        _classes(program, executed, prediction, cycles * instructions),
    )  # fmt: skip


def metric(prediction: Prediction, name: str) -> Metric:
    if name not in prediction.metrics:
        raise UsageError(f"the prediction has no {name}: times cannot be taken apart")
    return prediction.metrics[name]


def _classes(program: Program, executed: list[int], prediction: Prediction, warp_cycles: float) -> tuple[Class, ...]:
    """Cycles are distributed as the simulated blocks spent them; a class that was never executed has none."""
    count, spent = {MAIN_MEMORY: 0, OTHERS: 0}, {MAIN_MEMORY: 0.0, OTHERS: 0.0}
    for instruction in program.instructions:
        name = _class(instruction)
        count[name] += executed[instruction.index]
        spent[name] += sum(prediction.stalls_at.get(instruction.index, {}).values())
    whole = sum(spent.values()) or 1.0
    return tuple(
        Class(name, count[name], warp_cycles * spent[name] / whole / count[name] if count[name] else 0.0)
        for name in (MAIN_MEMORY, OTHERS)
    )


def _class(instruction: Instruction) -> str:
    return MAIN_MEMORY if category(instruction) == MAIN_MEMORY else OTHERS

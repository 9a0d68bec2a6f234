"""Metrics of a launch under their Nsight Compute names: for the kernel, by source line, by instruction.

The three are one calculation with the instructions grouped differently (see vocabulary.py); the formulas
are in metrics/, one line a metric.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from warplens.core.counts import Trace
from warplens.core.cubin import Kernel, SourceLine, chip_number
from warplens.core.metric import Metric, instanced
from warplens.core.program import Instruction, Program
from warplens.counters import metrics as families
from warplens.counters.launch_metrics import launch_metrics
from warplens.counters.occupancy import Curves, Occupancy
from warplens.counters.opcodes import category
from warplens.counters.vocabulary import Counts, Formula

Metrics = dict[str, Metric]


@cache
def formulas(arch: str) -> tuple[Formula, ...]:
    """The metrics that this architecture's chips have, family by family."""
    chip = chip_number(arch)
    return tuple(formula for formula in all_formulas() if formula.chips(chip))


@cache
def all_formulas() -> tuple[Formula, ...]:
    """The metrics of any architecture, family by family; two may have one name, on different chips."""
    names = sorted(module.name for module in iter_modules(families.__path__))
    modules = [import_module(f"{families.__name__}.{name}") for name in names]
    return tuple(formula for module in modules for formula in module.METRICS)


def metrics(
    program: Program,
    trace: Trace,
    kernel: Kernel,
    occupancy: Occupancy | None = None,
    waves: float | None = None,
    curves: Curves | None = None,
) -> Metrics:
    """All metrics of the launch; theoretical occupancy only if `occupancy`, `waves` and `curves` are given."""
    (counted,) = grouped(Counts(program, trace, [0] * len(program.instructions)))
    return counted | mixes(program, trace) | launch_metrics(kernel, trace.launch, occupancy, waves, curves)


def mixes(program: Program, trace: Trace) -> Metrics:
    """The instanced metrics of the instruction mix; categories are those of opcodes.py."""
    provenance = trace.provenance(of_addresses=False)
    return {
        "sass__inst_executed_per_opcode": instanced("inst", provenance, opcode_mix(program, trace).items()),
        "sass__inst_executed_per_opcode_category": instanced("inst", provenance, category_mix(program, trace).items()),
    }


def by_instruction(program: Program, trace: Trace) -> list[Metrics]:
    """The counted metrics of each instruction alone, in code order."""
    return grouped(Counts(program, trace, range(len(program.instructions))))


def by_line(program: Program, trace: Trace) -> dict[SourceLine, Metrics]:
    """The counted metrics of each source line that has machine code, in order of file and line."""
    present = {instruction.source for instruction in program.instructions if instruction.source is not None}
    lines = sorted(present, key=lambda place: (place.file, place.line))
    number: dict[SourceLine | None, int] = {place: index for index, place in enumerate(lines)}
    groups = [number.get(instruction.source, -1) for instruction in program.instructions]
    return dict(zip(lines, grouped(Counts(program, trace, groups)), strict=True))


def grouped(counts: Counts) -> list[Metrics]:
    """The counted metrics of each group."""
    columns = {formula.name: formula.metrics(counts) for formula in formulas(counts.program.arch)}
    return [{name: column[group] for name, column in columns.items()} for group in range(counts.size)]


def opcode_mix(program: Program, trace: Trace) -> dict[str, int]:
    """Warp instructions executed by base opcode, most frequent first: `sass__inst_executed_per_opcode`."""
    return mix(program, trace, lambda instruction: instruction.base)


def category_mix(program: Program, trace: Trace) -> dict[str, int]:
    """Warp instructions executed by category of opcodes.py, most frequent first."""
    return mix(program, trace, category)


def mix(program: Program, trace: Trace, key: Callable[[Instruction], str]) -> dict[str, int]:
    totals: Counter[str] = Counter()
    for instruction in program.instructions:
        totals[key(instruction)] += int(trace.executed[instruction.index])
    ordered = sorted(totals.items(), key=lambda item: (-item[1], item[0]))
    return {name: count for name, count in ordered if count}


def flops(values: Metrics) -> dict[str, int]:
    """Floating-point operations by letter of the metric (f single, d double, h half): add + mul + 2 x fma.

    Half instructions work on pairs, so theirs count twice.  FADD2 and its kin (sm_100 and newer) count as
    single ones.
    """
    return {letter: lanes * operations(values, letter) for letter, lanes in {"f": 1, "d": 1, "h": 2}.items()}


def operations(values: Metrics, letter: str) -> int:
    weights = {"add": 1, "mul": 1, "fma": 2}
    name = "smsp__sass_thread_inst_executed_op_{}{}_pred_on.sum"
    return sum(weight * int(values[name.format(letter, op)].value) for op, weight in weights.items())

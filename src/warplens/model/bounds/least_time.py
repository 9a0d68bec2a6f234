"""Least time of a launch: evaluates every limit in limits/, longest first.

No unit can do its work in less than work / peak rate, and no kernel can end before each of its units has.  The
bounds are not added up: units work concurrently.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from warplens.core.counts import Trace
from warplens.core.program import Program
from warplens.counters.occupancy import Occupancy, waves
from warplens.machine import Machine
from warplens.model.bounds import limits
from warplens.model.bounds.bound import Bound, LeastTime
from warplens.model.bounds.launch_work import LaunchWork

Limit = Callable[[LaunchWork], Bound | None]


@cache
def known() -> tuple[Limit, ...]:
    """`bound` of each file in limits/, which is the list of limits."""
    names = sorted(module.name for module in iter_modules(limits.__path__))
    return tuple(import_module(f"{limits.__name__}.{name}").bound for name in names)


def floor(program: Program, trace: Trace, machine: Machine, occupancy: Occupancy, input_bytes: int) -> LeastTime:
    """The least time on `machine`.

    input_bytes   of the arrays that the kernel left unchanged; of all where it changed all
    Raises UsageError if not even one block fits on the machine.
    """
    waves(machine, occupancy, trace.launch.blocks)
    work = LaunchWork(program, trace, machine, occupancy, input_bytes)
    found = [bound for limit in known() if (bound := limit(work)) is not None]
    ordered = sorted(found, key=lambda bound: (-bound.microseconds, bound.name))
    return LeastTime(machine.key, tuple(ordered), "sampled" if trace.sampled else "modelled")

"""Check set: which checks and recordings generated code contains, and whether it counts."""

from __future__ import annotations

from typing import Literal

from warplens.core.hazard import Check
from warplens.core.memory_opcodes import BULK
from warplens.core.program import Program

Still = Literal["global", "shared", "local"]
Unmoved = Literal["still global", "still shared", "still local"]
STILL: dict[Still, Unmoved] = {"global": "still global", "shared": "still shared", "local": "still local"}
Checks = frozenset[Check | Literal["record", "needed", "lanes", "uncounted", "footprint", "asynchronous"] | Unmoved]
NO_CHECKS: Checks = frozenset()
RECORD: Checks = frozenset({"record"})
LANES: Checks = frozenset({"lanes"})
UNCOUNTED: Checks = frozenset({"uncounted"})  # of all counters only the executions of basic blocks
FOOTPRINT: Checks = frozenset({"footprint"})  # the words of global memory that each worker reads and writes
NOTHING_MOVES: Checks = frozenset(STILL.values())
NEEDED: Checks = RECORD | {"needed"}  # with the program slice of slicing.py
OF_ACCESSES: Checks = NOTHING_MOVES | {"needed"}  # which concern only loads and stores
ASYNCHRONOUS = BULK | {"SYNCS", "USETMAXREG"}


def with_asynchronous(checks: Checks, program: Program) -> Checks:
    """The checks, and that of the program's asynchronous operations if it has any and those concern them."""
    if not checks & {"races", "barriers"}:
        return checks
    has = any(i.base in ASYNCHRONOUS or i.base.endswith("GMMA") for i in program.instructions)
    return checks | {"asynchronous"} if has else checks


def ordered(checks: Checks) -> bool:
    """Whether accesses to shared memory are checked for what puts them in order."""
    return bool(checks & {"races", "asynchronous"})

"""Check set: which checks and recordings generated code contains, and whether it counts."""

from __future__ import annotations

from typing import Literal

from warplens.core.hazard import Check

Still = Literal["global", "shared", "local"]
Unmoved = Literal["still global", "still shared", "still local"]
STILL: dict[Still, Unmoved] = {"global": "still global", "shared": "still shared", "local": "still local"}
Checks = frozenset[Check | Literal["record", "needed", "lanes", "uncounted"] | Unmoved]
NO_CHECKS: Checks = frozenset()
RECORD: Checks = frozenset({"record"})
LANES: Checks = frozenset({"lanes"})
UNCOUNTED: Checks = frozenset({"uncounted"})  # of all counters only the executions of basic blocks
NOTHING_MOVES: Checks = frozenset(STILL.values())
NEEDED: Checks = RECORD | {"needed"}  # with the program slice of slicing.py
OF_ACCESSES: Checks = NOTHING_MOVES | {"needed"}  # which concern only loads and stores

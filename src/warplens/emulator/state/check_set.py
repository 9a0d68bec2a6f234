"""Check set: which checks and recordings generated code contains."""

from __future__ import annotations

from typing import Literal

from warplens.core.hazard import Check

Still = Literal["global", "shared", "local"]
Unmoved = Literal["still global", "still shared", "still local"]
STILL: dict[Still, Unmoved] = {"global": "still global", "shared": "still shared", "local": "still local"}
Checks = frozenset[Check | Literal["record", "needed", "lanes"] | Unmoved]
NO_CHECKS: Checks = frozenset()
RECORD: Checks = frozenset({"record"})
LANES: Checks = frozenset({"lanes"})
NOTHING_MOVES: Checks = frozenset(STILL.values())
NEEDED: Checks = RECORD | {"needed"}  # with the program slice of slicing.py
OF_ACCESSES: Checks = NOTHING_MOVES | {"needed"}  # which concern only loads and stores

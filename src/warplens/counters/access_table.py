"""Memory access table: requests, sectors or wavefronts and their ideal, one row for each kind of access."""

from __future__ import annotations

from dataclasses import dataclass

from warplens.counters.metrics.shared_memory import ideal
from warplens.counters.vocabulary import (
    ATOMIC,
    BYTES,
    COPY,
    GLOBAL,
    IDEAL,
    LOAD,
    LOCAL,
    REDUCTION,
    REQUESTS,
    SECTORS,
    SHARED,
    STORE,
    WAVEFRONTS,
    Counts,
    Quantity,
    Selection,
    opcode,
)

MATRIX = opcode("LDSM", "STSM")
SECTOR_ROWS: dict[str, Selection] = {
    "Global Load": GLOBAL & LOAD,
    "Global Store": GLOBAL & STORE,
    "Global Atomic": GLOBAL & ATOMIC,
    "Global Reduction": GLOBAL & REDUCTION,
    "Global to Shared": GLOBAL & COPY,
    "Local Load": LOCAL & LOAD,
    "Local Store": LOCAL & STORE,
}
SHARED_ROWS: dict[str, Selection] = {
    "Shared Load": SHARED & LOAD & ~MATRIX,
    "Shared Load Matrix": SHARED & LOAD & MATRIX,
    "Shared Store": SHARED & STORE & ~MATRIX,
    "Shared Store Matrix": SHARED & STORE & MATRIX,
    "Shared Atomic": SHARED & ATOMIC,
    "Shared from Global": SHARED & COPY,
}
ARBITRATED = ("Global Atomic", "Global Reduction", "Shared Atomic", "Shared from Global")
"""Rows whose hardware counters may read a few more: atomics that meet on a word pass more than once."""


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """How one kind of access used memory.

    units       sectors (global, local) or wavefronts (shared) moved;  ideal: the least that these accesses need
    efficiency  bytes requested over bytes moved (sectors); ideal over actual (wavefronts); 0 to 1
    """

    name: str
    executed: int
    requests: int
    units: int
    ideal: int
    efficiency: float

    @property
    def excess(self) -> int:
        return self.units - self.ideal

    @property
    def per_request(self) -> float:
        return self.units / self.requests if self.requests else 0.0

    @property
    def ideal_per_request(self) -> float:
        return self.ideal / self.requests if self.requests else 0.0

    @property
    def arbitrated(self) -> bool:
        return self.name in ARBITRATED


def sector_rows(whole: Counts) -> list[MemoryRow]:
    """Global and local memory, in sectors of 32 bytes; only kinds that were executed."""
    rows = []
    for name, kind in SECTOR_ROWS.items():
        moved = total(whole, SECTORS[kind])
        best = moved if name == "Global to Shared" else total(whole, IDEAL[kind])
        used = total(whole, BYTES[kind]) / (32 * moved) if moved else 0.0
        rows.append(MemoryRow(name, _executed(whole, kind), total(whole, REQUESTS[kind]), moved, best, used))
    return [row for row in rows if row.executed]


def wavefront_rows(whole: Counts) -> list[MemoryRow]:
    """Shared memory, in wavefronts; only kinds that were executed."""
    rows = []
    for name, kind in SHARED_ROWS.items():
        passes, best = total(whole, WAVEFRONTS[kind]), total(whole, ideal(kind))
        used = best / passes if passes else 0.0
        rows.append(MemoryRow(name, _executed(whole, kind), total(whole, REQUESTS[kind]), passes, best, used))
    return [row for row in rows if row.executed]


def total(whole: Counts, quantity: Quantity) -> int:
    """Of all instructions, which are one group; 0 for an empty program."""
    return int(quantity.of(whole)[0]) if whole.size else 0


def _executed(whole: Counts, kind: Selection) -> int:
    """Without instructions that never do anything: the compiler pads asynchronous copies with `@!PT LDS RZ,[RZ]`."""
    executed = whole.spread("executed").copy()
    executed[[i.index for i in whole.program.instructions if i.guard and i.guard.index < 0 and i.guard.invert]] = 0
    return int(whole.total(executed, kind)[0]) if whole.size else 0

"""Bank conflicts: lanes of a warp access different words of one shared-memory bank, one wavefront each.

Padding a row by one word, or swizzling its columns, spreads the lanes over the 32 banks.  Nsight Compute:
SharedMemoryConflicts, from 10 % of the wavefronts on; it estimates their share, times the throughput of L1.
"""

from __future__ import annotations

from typing import NamedTuple

from warplens.counters.access_table import SHARED_ROWS, MemoryRow, wavefront_rows
from warplens.counters.metrics.shared_memory import ideal
from warplens.counters.vocabulary import WAVEFRONTS
from warplens.rules._counted_launch import CountedLaunch, heaviest_line, work
from warplens.rules._rule import Finding, rule


class BankConflictsEvidence(NamedTuple):
    """The kind of access with most excess wavefronts."""

    worst: MemoryRow


@rule(
    threshold=0.08,
    reads=(
        "memory_l1_wavefronts_shared",
        "memory_l1_wavefronts_shared_ideal",
        "derived__memory_l1_wavefronts_shared_excessive",
        "smsp__inst_executed.sum",
    ),
    fires="transpose/3_tiled",
    silent="transpose/4_padded",
)
def bank_conflicts(launch: CountedLaunch) -> Finding | None:
    rows = [row for row in wavefront_rows(launch.whole) if row.excess]
    if not rows:
        return None
    worst = max(rows, key=lambda row: row.excess)
    line = heaviest_line(launch, WAVEFRONTS[SHARED_ROWS[worst.name]] - ideal(SHARED_ROWS[worst.name]))
    return Finding("bank_conflicts", worst.excess / work(launch), BankConflictsEvidence(worst), line)

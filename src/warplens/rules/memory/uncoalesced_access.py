"""Uncoalesced access: warps move more 32-byte sectors of global memory than the bytes of their lanes fill.

Neighbouring lanes should access neighbouring addresses: 32 lanes of 4 bytes are 4 sectors, at a stride of 32 bytes
they are 32.  Nsight Compute: UncoalescedGlobalAccess, from the first excessive sector on; it estimates their share of
all sectors, times the share of the time in which L2 is active.
"""

from __future__ import annotations

from typing import NamedTuple

from warplens.counters.access_table import SECTOR_ROWS, MemoryRow, sector_rows
from warplens.counters.vocabulary import IDEAL, SECTORS
from warplens.rules._counted_launch import CountedLaunch, heaviest_line, work
from warplens.rules._rule import Finding, rule


class UncoalescedAccessEvidence(NamedTuple):
    """The kind of access with most excess sectors."""

    worst: MemoryRow


@rule(
    threshold=0.08,
    reads=(
        "memory_l2_theoretical_sectors_global",
        "memory_l2_theoretical_sectors_global_ideal",
        "derived__memory_l2_theoretical_sectors_global_excessive",
        "smsp__inst_executed.sum",
    ),
    fires="coalescing/2_nccopy",
    silent="coalescing/1_ccopy",
)
def uncoalesced_access(launch: CountedLaunch) -> Finding | None:
    rows = [row for row in sector_rows(launch.whole) if row.excess and row.name.startswith("Global")]
    if not rows:
        return None
    worst = max(rows, key=lambda row: row.excess)
    line = heaviest_line(launch, SECTORS[SECTOR_ROWS[worst.name]] - IDEAL[SECTOR_ROWS[worst.name]])
    return Finding("uncoalesced_access", worst.excess / work(launch), UncoalescedAccessEvidence(worst), line)

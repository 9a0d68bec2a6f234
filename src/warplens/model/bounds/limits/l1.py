"""L1 limit: the bytes of the sectors that loads read."""

from __future__ import annotations

from warplens.counters.vocabulary import GLOBAL, LOAD, LOCAL, SECTORS
from warplens.model.bounds.bound import Bound
from warplens.model.bounds.launch_work import LaunchWork

SECTOR_BYTES = 32


def bound(work: LaunchWork) -> Bound | None:
    sectors = work.total(SECTORS[(GLOBAL | LOCAL) & LOAD])
    if not sectors:
        return None
    rate = work.machine.limits.l1_bytes_per_cycle / SECTOR_BYTES
    return Bound("l1", work.shared_out(sectors, rate), f"{sectors:,} sectors to load through L1")

"""Stall log: what each warp of a simulated SM does when, for a timeline; without rows nothing is recorded."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from warplens.simc import compiled, unlikely

COLUMNS = 5  # defined: slot, stall reason or BLOCK_START, instruction, first cycle, cycle after the last
BLOCK_START = -1  # the row has the number of the block in the place of the instruction, and the warp in that of the end


class StallLog(NamedTuple):
    """rows: (entry, column);  used: how many entries there are"""

    rows: Any
    used: Any

    @property
    def entries(self) -> Any:
        return self.rows[: int(self.used[0])]

    @property
    def full(self) -> bool:
        return int(self.used[0]) == len(self.rows)


def stall_log(entries: int = 0) -> StallLog:
    return StallLog(np.zeros((entries, COLUMNS)), np.zeros(1, np.int64))


@compiled
def record_stall(slot, reason, i, start, end, log):  # type: ignore[no-untyped-def]
    """Record that a warp waits with a reason before an instruction, or issues it."""
    n = log.used[0]
    if unlikely(n < log.rows.shape[0]):  # predictions keep no log: a sixth of their simulation's time otherwise
        log.rows[n, 0], log.rows[n, 1], log.rows[n, 2] = slot, reason, i
        log.rows[n, 3], log.rows[n, 4] = start, end
        log.used[0] = n + 1

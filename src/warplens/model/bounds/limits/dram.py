"""DRAM limit: with cold caches every sector that a load reads comes from it once.

The number of *distinct* sectors is not counted: it is assumed to be all that loads request, at most as many as the
inputs have (the arrays that the kernel left unchanged, or all if it changed all).  That is too much for loads that
reach one part of the inputs again and again.  Stores may stay in L2 and are left out.
"""

from __future__ import annotations

from warplens.counters.vocabulary import COPY, GLOBAL, LOAD, SECTORS
from warplens.model.bounds.bound import Bound
from warplens.model.bounds.launch_work import LaunchWork
from warplens.model.bounds.limits.l1 import SECTOR_BYTES


def bound(work: LaunchWork) -> Bound | None:
    asked = work.total(SECTORS[GLOBAL & (LOAD | COPY)]) * SECTOR_BYTES
    read = min(asked, work.input_bytes)
    if not read:
        return None
    assumes = "loads reach all inputs" if read < asked else "no sector is loaded twice"
    microseconds = read / (work.machine.dram_gigabytes_per_second * 1000)
    return Bound("dram", microseconds, f"{read:,} bytes from DRAM", assumes)

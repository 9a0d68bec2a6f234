"""L2 atomics: cost of atomics to one line in L1, L2 and DRAM (the L2 units: grid/atomic_packets.py).

What it is   an atomic is done in L2; L1 invalidates the whole line, whichever sector was changed.
Formula      an atomic takes `latency`; where its line comes from DRAM, as long as a load of it.
Parameters   AtomicSettings, DramSettings, from calibration/derive.py.
Evidence     measurements/h200/l1_atomics.csv; `passes` of the calibration.
"""

from __future__ import annotations

from warplens.model import layout as p
from warplens.model.address_hash import hashed
from warplens.model.sm.dram_share import latency_deviation, read_pieces, store_sectors
from warplens.model.sm.l1_cache import invalidate
from warplens.model.sm.l1_store_queue import count_sectors
from warplens.model.sm.l2_port import source_of
from warplens.model.sm.l2_share import was_requested
from warplens.simc import compiled

WHOLE = 15  # defined: all sectors of a line


@compiled
def update_line(request, memory):  # type: ignore[no-untyped-def]
    """Change sectors of one line in L2 by atomics; returns their extra latency in cycles."""
    line, mask, counts, settings = request.line, request.mask, memory.counts, memory.settings
    if line >= p.LOCAL_BASE:
        return 0.0
    invalidate(line, WHOLE, memory.l1)
    counts.l2_changed_lines += 1
    counts.l2_atomic_packets += count_sectors(mask) + 1
    pairs, moved, far = int(mask & 3 > 0) + int(mask & 12 > 0), 0.0, False
    for half in (0, 2):
        if mask >> half & 3 and not was_requested(memory.asked, 4 * line + half):
            source = source_of(line, request.copy, request.wave, memory.supply)
            counts.l2_pieces += 1
            counts.l2_in_pieces += (mask >> half & 1) + (mask >> half + 1 & 1)
            moved += source.dram_share
            first = memory.supply.first[request.instruction, request.part]
            far = far or (source.from_dram and hashed(line + 29) < first)
    read_pieces(moved, request.lone and pairs == 1, request.at, memory)
    store_sectors(line, count_sectors(mask), request.at, memory)
    if far:
        waited = max(memory.servers.dram.free - request.at, 0.0)
        off = settings.dram.latency_spread * latency_deviation(line, False, settings.dram)
        return waited + settings.dram.latency - settings.atomics.latency + off
    return 0.0

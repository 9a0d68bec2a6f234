"""Shared memory: cycles and latency of a warp-wide access, from its bank conflicts.

What it is   32 banks of 4 bytes; a warp's access takes as many wavefronts as the emulator counted for it.
Formula      cycles = max(wavefronts, request_cycles); latency = latency + wavefront_cycles * (wavefronts - 1)
             + a cycle for each register of a lane behind the first.
Evidence     `chain shared` of measurements/h200/calibration.csv: 29.2, 30.2, 32.2 cycles for 1, 2, 4 registers.
"""

from __future__ import annotations

from typing import NamedTuple

from warplens.model.layout import Kind
from warplens.simc import compiled


class SharedSettings(NamedTuple):
    """request_cycles: of the load/store unit for one access;  latency, atomic_latency: cycles of a load, of an
    atomic; ideal_banks: 1 where bank conflicts are removed."""

    request_cycles: float
    latency: float
    atomic_latency: float
    ideal_banks: float


@compiled
def serve_shared(access, begin, free, waves, ideal, memory):  # type: ignore[no-untyped-def]
    """(when the access leaves the queue, when its result is available, when its registers are read).

    begin   when its sub-partition issues it;  free: when the load/store unit serves it
    waves   its wavefronts;  ideal: without bank conflicts
    """
    unit, settings = memory.settings.load_store, memory.settings.shared
    if settings.ideal_banks > 0:
        waves = min(waves, ideal)
    cost = max(waves, settings.request_cycles)
    if access.kind in (Kind.ATOMIC, Kind.REDUCTION):
        cost = max(cost, waves)
    memory.servers.load_store.free = free + cost
    memory.issue_free[access.sub_partition] = begin + max(unit.issue_cycles, unit.wavefront_cycles * waves)
    memory.counts.lsu_busy += cost
    memory.counts.wavefronts += max(waves, 1.0)  # one also where all lanes are off
    late = settings.atomic_latency if access.kind == Kind.ATOMIC else settings.latency
    # Each register of a lane takes a cycle more than the one before (`chain shared`: 29.2, 30.2, 32.2 cycles).
    late += unit.wavefront_cycles * (waves - 1) + max(access.bytes // 4 - 1, 0)
    return begin, begin + late, begin + unit.register_read_latency

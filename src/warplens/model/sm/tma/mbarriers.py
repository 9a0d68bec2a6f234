"""mbarriers: when a phase is over, and the warps that wait for it go on.

What it is   8 bytes of shared memory that count arrivals and bytes; try_wait holds a warp until a phase is over.
Formula      a phase is over when its last arrival has been issued and its last byte has come; a warp goes on
             WAIT_CYCLES later.  It waits for the next phase of a parity after the one that it waited for last, however
             many are over by then.
             In a cluster all blocks do the same at the same time: an arrival at another block's barrier, and bytes that
             go to others, count here as if they came from there.
Evidence     measurements/h200/bulk_copies.csv.
Known error  blocks of a cluster that do not do the same.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from warplens.emulator.state.trace_format import ACCESSED, MBARRIER
from warplens.isa.barrier import MOST, THREADS
from warplens.machine.parameter import measured
from warplens.model import layout as p
from warplens.model.layout import MbarrierUpdate, StallReason
from warplens.model.trace.stall_log import record_stall
from warplens.model.trace.trace_decoder import ENTER, instruction, length, reached, space
from warplens.simc import compiled

WAIT_CYCLES = measured(
    30.0, "cycles", "measurements/h200/bulk_copies.csv: try_wait of a phase that is over, in a loop of 256"
)
BEFORE = -1  # phase before the first: those of an mbarrier that is set up have the numbers 0, 1 ...


class Mbarriers(NamedTuple):
    """By (block slot, entry).

    places           offset in shared memory, -1: none
    threads, missing arrivals of a phase, and those missing;  expected: bytes that have not come
    phases           that are over;  over: when the last of them was;  latest: when the last event of this one is
    waited           by (warp slot, entry): phase that the warp has waited for last
    """

    places: Any
    threads: Any
    missing: Any
    expected: Any
    phases: Any
    over: Any
    latest: Any
    waited: Any


def no_mbarriers(blocks: int, slots: int) -> Mbarriers:
    shape = blocks, p.MBARRIERS
    threads, missing, expected, phases = (np.zeros(shape, np.int64) for _ in range(4))
    places, over, latest = np.full(shape, -1, np.int64), np.zeros(shape), np.zeros(shape)
    waited = np.full((slots, p.MBARRIERS), BEFORE, np.int64)
    return Mbarriers(places, threads, missing, expected, phases, over, latest, waited)


@compiled
def mbarrier_at(block, place, mbarriers):  # type: ignore[no-untyped-def]
    """Entry of the mbarrier at an offset of shared memory."""
    n = (place >> 3) % p.MBARRIERS
    for _ in range(p.MBARRIERS):
        if mbarriers.places[block, n] != place and mbarriers.places[block, n] >= 0:
            n = (n + 1) % p.MBARRIERS
    mbarriers.places[block, n] = place
    return n


@compiled
def update_mbarriers(slot, i, t, warps, blocks, work, stalls):  # type: ignore[no-untyped-def]
    """Do what the instruction of a warp does to mbarriers; returns when the first warp goes on that waited."""
    at, soonest, block = warps.position[slot], p.NEVER, slot // work.warps
    while at < warps.stop[slot] and work.words[at] < ENTER and instruction(work.words[at]) == i:
        if space(work.words[at]) == MBARRIER:
            n = mbarrier_at(block, np.int64(work.words[at + ACCESSED]), blocks.mbarriers)
            number, (_, lanes, _) = np.int64(work.words[at + ACCESSED + 1]), reached(work.words[at + 1])
            does, mbarriers = work.code.mbarrier[i], blocks.mbarriers
            if does == MbarrierUpdate.INIT:
                mbarriers.threads[block, n] = mbarriers.missing[block, n] = -(number >> THREADS) & MOST
                mbarriers.expected[block, n] = mbarriers.phases[block, n] = 0
                mbarriers.over[block, n] = mbarriers.latest[block, n] = 0.0
                for of_block in range(block * work.warps, (block + 1) * work.warps):
                    mbarriers.waited[of_block, n] = BEFORE
            elif does == MbarrierUpdate.ARRIVE:
                soonest = min(soonest, count(block, n, number * lanes, 0, t, warps, blocks, work, stalls))
            elif does == MbarrierUpdate.ARRIVE_EXPECTING:
                soonest = min(soonest, count(block, n, lanes, number * lanes, t, warps, blocks, work, stalls))
            elif does == MbarrierUpdate.EXPECT:
                soonest = min(soonest, count(block, n, 0, number * lanes, t, warps, blocks, work, stalls))
            elif does == MbarrierUpdate.COMPLETE:
                soonest = min(soonest, count(block, n, 0, -number * lanes, t, warps, blocks, work, stalls))
        at += length(work.words[at])
    return soonest


@compiled
def count(block, n, arrivals, bytes, t, warps, blocks, work, stalls):  # type: ignore[no-untyped-def]
    """Count arrivals, and bytes that are expected or, below 0, have come at t; returns as update_mbarriers()."""
    mbarriers = blocks.mbarriers
    mbarriers.latest[block, n] = max(mbarriers.latest[block, n], t)
    mbarriers.missing[block, n] -= arrivals
    mbarriers.expected[block, n] += bytes
    if mbarriers.missing[block, n] > 0 or mbarriers.expected[block, n] != 0:
        return p.NEVER
    mbarriers.over[block, n], mbarriers.latest[block, n] = mbarriers.latest[block, n], 0.0
    mbarriers.missing[block, n] = mbarriers.threads[block, n]
    mbarriers.phases[block, n] += 1
    soonest, freed = p.NEVER, mbarriers.over[block, n] + WAIT_CYCLES
    for slot in range(block * work.warps, (block + 1) * work.warps):
        if warps.waiting[slot] == p.BLOCK_BARRIERS + n and is_over(block, n, warps.phase[slot], mbarriers):
            warps.waiting[slot] = -1
            now = max(freed, warps.mark[slot])
            stalls[StallReason.LONG_SCOREBOARD, warps.now[slot]] += now - warps.mark[slot]
            record_stall(slot, StallReason.LONG_SCOREBOARD, warps.now[slot], warps.mark[slot], now, warps.log)
            warps.mark[slot] = warps.base[slot] = now
            sp = slot % blocks.wake.size
            blocks.wake[sp] = min(blocks.wake[sp], now)
            soonest = min(soonest, now)
    return soonest


@compiled
def is_over(block, n, phase, mbarriers):  # type: ignore[no-untyped-def]
    """Whether a phase is over; of a barrier that nobody has set up, every one."""
    return mbarriers.threads[block, n] == 0 or mbarriers.phases[block, n] > phase


@compiled
def wait_at_mbarrier(slot, i, t, warps, blocks, work):  # type: ignore[no-untyped-def]
    """(entry of the mbarrier for which a warp has to wait or -1, when it knows that the phase is over)."""
    at, block, waits, known = warps.position[slot], slot // work.warps, -1, t + WAIT_CYCLES
    while at < warps.stop[slot] and work.words[at] < ENTER and instruction(work.words[at]) == i:
        if space(work.words[at]) == MBARRIER:
            n = mbarrier_at(block, np.int64(work.words[at + ACCESSED]), blocks.mbarriers)
            parity = np.int64(work.words[at + ACCESSED + 1]) >> 31
            phase = blocks.mbarriers.waited[slot, n]
            phase += (phase + parity) & 1
            blocks.mbarriers.waited[slot, n] = warps.phase[slot] = phase
            waits = n
            if is_over(block, n, phase, blocks.mbarriers):
                waits, known = -1, max(t, blocks.mbarriers.over[block, n]) + WAIT_CYCLES
        at += length(work.words[at])
    return waits, known

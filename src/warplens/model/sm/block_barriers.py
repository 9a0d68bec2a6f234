"""Block barriers: when the warps of a block that wait at a barrier are released.

What it is   one unit an SM processes the arrivals of warps, one after the other; a block has 16 barriers.
             Warps of a warpgroup begin a product together (WARPGROUP.ARRIVE): each has a quarter of the rows, and all
             need the same columns from shared memory.
Formula      all warps of the barrier are released `latency` cycles after the last arrival has been processed, those of
             a warpgroup in the cycle after the last has come.
Parameters   BarrierSettings, from calibration/derive.py.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from warplens.emulator.state.trace_format import ACCESSED, BARRIER
from warplens.model import layout as p
from warplens.model.layout import StallReason
from warplens.model.trace.stall_log import record_stall
from warplens.model.trace.trace_decoder import ENTER, instruction, space
from warplens.simc import Record, compiled


class BarrierSettings(NamedTuple):
    """Cycles: latency: from the last arrival to the release;  arrival_cycles: between two arrivals."""

    latency: float
    arrival_cycles: float


class BlockBarrierState(Record):
    """free: until when the unit is busy with arrivals (cycles)."""

    free: float


@compiled
def barrier_of(slot, i, warps, work):  # type: ignore[no-untyped-def]
    """(number of the barrier that a warp arrives at, -1 for none; warps that it waits for, 0 for all)."""
    at = warps.position[slot]
    recorded = at < warps.stop[slot] and work.words[at] < ENTER and instruction(work.words[at]) == i
    if recorded and space(work.words[at]) == BARRIER:
        number, threads = np.int64(work.words[at + ACCESSED]), np.int64(work.words[at + ACCESSED + 1])
        return number % p.BLOCK_BARRIERS, (threads + 31) // 32
    return work.code.barrier[i], work.code.barrier_warps[i]


@compiled
def release_barriers(place, barrier, arrival, warps, blocks, work, stalls, settings):  # type: ignore[no-untyped-def]
    """Release complete barriers; returns when the first of their warps may issue.

    barrier   the one that a warp has arrived at last, as of barrier_of
    """
    soonest = p.NEVER
    for n in range(p.BLOCK_BARRIERS):
        need = blocks.living[place]
        if n == barrier[0] and barrier[1] > 0:
            need = barrier[1]
        if blocks.arrived[place, n] == 0 or blocks.arrived[place, n] < need:
            continue
        blocks.arrived[place, n] = 0
        for slot in range(place * work.warps, (place + 1) * work.warps):
            if warps.waiting[slot] != n:
                continue
            freed = arrival + settings.latency
            soonest = min(soonest, resume_warp(slot, freed, StallReason.BARRIER, warps, blocks, work, stalls))
    return soonest


@compiled
def resume_warp(slot, freed, reason, warps, blocks, work, stalls):  # type: ignore[no-untyped-def]
    """A warp has waited at a barrier, until `freed`; returns when it may issue."""
    warps.waiting[slot], following = -1, warps.now[slot]
    stalls[reason, following] += max(freed - warps.mark[slot], 0.0)
    record_stall(slot, reason, following, warps.mark[slot], freed, warps.log)
    warps.mark[slot] = warps.base[slot] = freed
    for k in range(p.SCOREBOARDS):
        if work.code.wait_mask[following] >> k & 1:
            warps.base[slot] = max(warps.base[slot], warps.board[slot, k])
    sp = slot % blocks.wake.size
    blocks.wake[sp] = min(blocks.wake[sp], warps.base[slot])
    return warps.base[slot]


@compiled
def meet_warpgroup(slot, t, warps, blocks, work, stalls):  # type: ignore[no-untyped-def]
    """A warp has come to a product of its warpgroup: it waits for the others, or as the last releases them; returns
    when the first of these may issue."""
    of_block, warps.started[slot] = slot % work.warps, warps.started[slot] + 1
    first = slot - of_block % p.WARPGROUP
    last = min(first + p.WARPGROUP, slot - of_block + work.warps)
    least = warps.started[slot]
    for other in range(first, last):
        if warps.now[other] >= 0:
            least = min(least, warps.started[other])
    if least < warps.started[slot]:
        warps.waiting[slot], warps.mark[slot], warps.base[slot] = p.WARPGROUP_BARRIER, t + 1, p.NEVER
    soonest = p.NEVER
    for other in range(first, last):
        if warps.waiting[other] == p.WARPGROUP_BARRIER and warps.started[other] <= least:
            soonest = min(soonest, resume_warp(other, t + 1, StallReason.GMMA, warps, blocks, work, stalls))
    return soonest


@compiled
def release_all(t, warps, blocks):  # type: ignore[no-untyped-def]
    """Deadlock: barriers that wait for diverged lanes of the same warp.  Release all; returns whether there were
    any."""
    any_waits = False
    for slot in range(warps.waiting.size):
        if warps.waiting[slot] >= 0:
            warps.waiting[slot] = -1
            warps.base[slot] = warps.mark[slot] = t + 1
            blocks.wake[slot % blocks.wake.size] = t + 1
            any_waits = True
    blocks.arrived[:, :] = 0
    return any_waits

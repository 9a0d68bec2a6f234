"""Block dispatch: SM residency of blocks, and warp slots of sub-partitions.

A warp frees its slot and its registers when it ends, even if others of its block continue; shared memory and the block
slot are kept until all have ended.  But the GPU dispatches again only when a block has ended: then the SM is assigned
as many blocks as the free warp slots of each sub-partition admit.  So where one warp of a block runs longer than the
others, up to 31 blocks of 4 warps were resident at once on an H200, of which 16 fit at the start; with random lengths
15.6 on average (15.8 by this rule from the same lengths, 14.5 if slots were freed by block:
measurements/h200/seats.csv).
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from warplens.model import layout as p
from warplens.model.layout import StallReason
from warplens.model.trace.stall_log import BLOCK_START, record_stall
from warplens.model.trace.trace_decoder import OF_WARP, basic_block
from warplens.simc import Record, compiled


class Next(IntEnum):
    """Index of Blocks.next: the next block, turn of a warp, block end to be noted, and noted end to be seen."""

    BLOCK = 0
    TURN = 1
    NOTED = 2
    SEEN = 3


class DispatchSettings(NamedTuple):
    """Cycles of the SM clock.

    first_block_cycles      from the launch until code and parameters are available to the first warps
    first_resident_cycle    when the first block becomes resident
    block_start_cycles      between two blocks of one SM, plus a cycle a warp;  warp_start_cycles: between its warps
    large_block_factor      next block starts at least so many times its warps' start cycles later
    block_end_cycles        from a block's end until its slot is reused;  settle_cycles: of these, of an empty warp slot
    block_report_cycles     between the reported block ends of all SMs
    ends_together           block ends of one SM that are reported at once
    """

    first_block_cycles: float
    first_resident_cycle: float
    block_start_cycles: float
    warp_start_cycles: float
    large_block_factor: float
    block_end_cycles: float
    settle_cycles: float
    block_report_cycles: float
    ends_together: float


class DispatchState(Record):
    """reports, starts: until when the GPU's block scheduler is busy with ends of blocks, and with starts (cycles)."""

    reports: float
    starts: float


@compiled
def stall_warp(slot, following, until, reason, warps, stalls):  # type: ignore[no-untyped-def]
    """Stall a warp for a reason before its next instruction."""
    if until > warps.mark[slot]:
        stalls[reason, following] += until - warps.mark[slot]
        record_stall(slot, reason, following, warps.mark[slot], until, warps.log)
        warps.mark[slot] = until


@compiled
def start_block(place, started, warps, blocks, work, stalls, settings):  # type: ignore[no-untyped-def]
    """Start the next block in a block slot."""
    number = blocks.next[Next.BLOCK]
    blocks.next[Next.BLOCK] += 1
    blocks.may_start[0] = started + max(
        settings.block_start_cycles + work.warps,
        settings.large_block_factor * work.warps * settings.warp_start_cycles,
    )
    blocks.held[place], blocks.wave[place] = number, number // blocks.resident
    blocks.began[number] = started
    for w in range(work.warps):
        at = w
        if work.warps % blocks.wake.size == 0:  # each block starts at another sub-partition
            at = w - w % blocks.wake.size + (w + number) % blocks.wake.size
        slot, n = place * work.warps + at, number * work.warps + w
        blocks.seats[slot % blocks.wake.size] -= 1
        warps.position[slot], warps.first[slot], warps.stop[slot] = work.starts[n], work.starts[n], work.ends[n]
        blocks.next[Next.TURN] += 1
        warps.order[slot] = blocks.next[Next.TURN]
        warps.board[slot, :], warps.started[slot] = 0, 0
        warps.products[slot], warps.grouped[slot], warps.copied[slot], warps.drained[slot], warps.waiting[slot] = (
            0,
            0,
            0.0,
            0.0,
            -1,
        )
        if work.starts[n] < work.ends[n]:
            first = basic_block(work.words[work.starts[n]])
            warps.position[slot] += OF_WARP
            warps.now[slot], warps.until[slot] = work.code.firsts[first], work.code.lasts[first]
            begins = started + w * settings.warp_start_cycles
            warps.mark[slot], warps.began[slot], warps.why[slot] = begins, begins, StallReason.NOT_SELECTED
            record_stall(slot, BLOCK_START, number, begins, w, warps.log)
            # All warps wait for code and parameters, cold in the caches at launch, which are available by then.
            stall_warp(
                slot, work.code.firsts[first], settings.first_block_cycles, StallReason.NO_INSTRUCTION, warps, stalls
            )
            warps.base[slot] = warps.mark[slot]
            blocks.living[place] += 1
            blocks.wake[slot % blocks.wake.size] = min(blocks.wake[slot % blocks.wake.size], started)


@compiled
def has_slots(place, warps, blocks):  # type: ignore[no-untyped-def]
    """Whether a block slot is free, and the sub-partitions have slots for all of its warps."""
    if blocks.living[place] > 0:
        return False
    for sp in range(blocks.wake.size):
        first = (sp - place * warps) % blocks.wake.size  # first warp of the block in that sub-partition
        if first < warps and blocks.seats[sp] < (warps - first - 1) // blocks.wake.size + 1:
            return False
    return True


@compiled
def record_block_end(place, t, left, blocks, servers, settings):  # type: ignore[no-untyped-def]
    """A block has ended, `left` are left: the GPU records it, and some cycles later checks which SM has free slots.

    All SMs report their blocks' ends to one unit, one after the other.  The first ones come in a burst, later ones
    between those of other SMs.
    """
    together = settings.ends_together * settings.block_report_cycles
    early = 0.0 if blocks.began.size - left <= blocks.resident else together
    servers.dispatch.reports = max(servers.dispatch.reports + settings.block_report_cycles, t + 1 - early)
    blocks.arrived[place, :] = 0
    noted = max(servers.dispatch.reports, t + 1) + settings.block_end_cycles - settings.settle_cycles
    blocks.noted[blocks.next[Next.NOTED]] = noted
    blocks.next[Next.NOTED] += 1


@compiled
def dispatch_blocks(t, warps, blocks, work, servers, stalls, settings):  # type: ignore[no-untyped-def]
    """Start the blocks that fit, if the end of one has been recorded by now; returns when the next end will be.

    The GPU starts no more blocks a cycle than it records ends.
    """
    if blocks.next[Next.SEEN] < blocks.next[Next.NOTED] and blocks.noted[blocks.next[Next.SEEN]] <= t:
        blocks.next[Next.SEEN] += 1
        for place in range(blocks.held.size):
            if blocks.next[Next.BLOCK] < blocks.began.size and has_slots(place, work.warps, blocks):
                soon, each = t + settings.settle_cycles, settings.block_report_cycles
                servers.dispatch.starts = max(servers.dispatch.starts, soon - settings.ends_together * each) + each
                started = max(np.ceil(max(servers.dispatch.starts, soon)), blocks.may_start[0])
                start_block(place, started, warps, blocks, work, stalls, settings)
    if blocks.next[Next.BLOCK] < blocks.began.size and blocks.next[Next.SEEN] < blocks.next[Next.NOTED]:
        return max(np.ceil(blocks.noted[blocks.next[Next.SEEN]]), t + 1)
    return p.NEVER

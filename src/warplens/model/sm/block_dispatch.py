"""How blocks get places on a multiprocessor, and their warps seats in its sub-partitions.

A warp leaves its seat and its registers when it ends, whether or not others of its block go on; shared memory and the
place of the block are kept until all have ended.  But only when a block has ended does the GPU look again: then the
multiprocessor is given as many blocks as the free seats of each sub-partition admit.  So where one warp of a block has
more to do than the others up to 31 blocks of 4 warps were seen at once on an H200, of which 16 have room from the
start; of random lengths 15.6 on the average (15.8 by this rule from the same lengths, 14.5 if seats came free by block:
measurements/h200/seats.csv).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from warplens.model import layout as p
from warplens.model.trace.trace_decoder import OF_WARP, basic_block
from warplens.simc import Record, compiled

UPCOMING, TURN, NOTED, SEEN = range(4)  # of Blocks.next
# source: block_places.csv
LARGE_BLOCK = 1.5  # times what its warps take one after the other until the next may start: 98 cycles of 32 warps
SETTLE = 100  # cycles for which a seat stays empty at the least: 92 to 130 on an H200; source: block_places.csv
# assumed: fitted by hand to `stays` of calibration.csv
TOGETHER = 4  # blocks of one multiprocessor whose ends are noted at once while those of the others are between


class DispatchSettings(NamedTuple):
    """Cycles of the SM clock.

    first_block_cycles      from the launch until code and parameters are there for the first warps
    first_resident_cycle    when the first block becomes resident
    block_start_cycles      between two blocks of one SM, besides a cycle a warp;  warp_start_cycles: between its warps
    block_end_cycles        from a block's end until its slot is given away
    block_report_cycles     between the ends that the GPU notes of all SMs
    """

    first_block_cycles: float
    first_resident_cycle: float
    block_start_cycles: float
    warp_start_cycles: float
    block_end_cycles: float
    block_report_cycles: float


class DispatchState(Record):
    """reports, starts: until when the GPU's block scheduler notes ends of blocks, and starts blocks (cycles)."""

    reports: float
    starts: float


@compiled
def wait(slot, following, until, reason, warps, stalls):  # type: ignore[no-untyped-def]
    """A warp waits for a reason before its next instruction."""
    if until > warps.mark[slot]:
        stalls[reason, following] += until - warps.mark[slot]
        warps.mark[slot] = until


@compiled
def start(place, started, warps, blocks, work, stalls, settings):  # type: ignore[no-untyped-def]
    """The next block takes a place."""
    number = blocks.next[UPCOMING]
    blocks.next[UPCOMING] += 1
    blocks.may_start[0] = started + max(
        settings.block_start_cycles + work.warps,
        LARGE_BLOCK * work.warps * settings.warp_start_cycles,
    )
    blocks.held[place], blocks.wave[place] = number, number // blocks.resident
    blocks.began[number] = started
    for w in range(work.warps):
        at = w
        if work.warps % blocks.wake.size == 0:  # each block begins with another sub-partition
            at = w - w % blocks.wake.size + (w + number) % blocks.wake.size
        slot, n = place * work.warps + at, number * work.warps + w
        blocks.seats[slot % blocks.wake.size] -= 1
        warps.position[slot], warps.stop[slot] = work.starts[n], work.ends[n]
        blocks.next[TURN] += 1
        warps.order[slot] = blocks.next[TURN]
        warps.board[slot, :] = 0
        warps.grouped[slot], warps.copied[slot], warps.drained[slot], warps.waiting[slot] = 0, 0.0, 0.0, -1
        if work.starts[n] < work.ends[n]:
            first = basic_block(work.words[work.starts[n]])
            warps.position[slot] += OF_WARP
            warps.now[slot], warps.until[slot] = work.firsts[first], work.lasts[first]
            begins = started + w * settings.warp_start_cycles
            warps.mark[slot], warps.began[slot], warps.why[slot] = begins, begins, p.NOT_SELECTED
            # What nobody has read yet, code and parameters, all warps wait for that are there by then.
            wait(slot, work.firsts[first], settings.first_block_cycles, p.NO_INSTRUCTION, warps, stalls)
            warps.base[slot] = warps.mark[slot]
            blocks.living[place] += 1
            blocks.wake[slot % blocks.wake.size] = min(blocks.wake[slot % blocks.wake.size], started)


@compiled
def seated(place, warps, blocks):  # type: ignore[no-untyped-def]
    """Whether a place is free, and the sub-partitions of its warps have seats for all of them."""
    if blocks.living[place] > 0:
        return False
    for sp in range(blocks.wake.size):
        first = (sp - place * warps) % blocks.wake.size  # warp of the block that comes there
        if first < warps and blocks.seats[sp] < (warps - first - 1) // blocks.wake.size + 1:
            return False
    return True


@compiled
def note_end(place, t, left, blocks, servers, settings):  # type: ignore[no-untyped-def]
    """A block has ended, `left` are left: the GPU takes note of that, and some cycles later looks who has room.

    All multiprocessors report their blocks' ends to one place, one after the other.  Those of the first ones come
    together, later ones when those of others do not."""
    early = 0.0 if blocks.began.size - left <= blocks.resident else TOGETHER * settings.block_report_cycles
    servers.dispatch.reports = max(servers.dispatch.reports + settings.block_report_cycles, t + 1 - early)
    blocks.arrived[place, :] = 0
    blocks.noted[blocks.next[NOTED]] = max(servers.dispatch.reports, t + 1) + settings.block_end_cycles - SETTLE
    blocks.next[NOTED] += 1


@compiled
def come(t, warps, blocks, work, servers, stalls, settings):  # type: ignore[no-untyped-def]
    """The blocks start for which there is room, if the end of one has been noted by now; when the next will have.

    The GPU starts no more of them a cycle than it notes ends."""
    if blocks.next[SEEN] < blocks.next[NOTED] and blocks.noted[blocks.next[SEEN]] <= t:
        blocks.next[SEEN] += 1
        for place in range(blocks.held.size):
            if blocks.next[UPCOMING] < blocks.began.size and seated(place, work.warps, blocks):
                soon, each = t + SETTLE, settings.block_report_cycles
                servers.dispatch.starts = max(servers.dispatch.starts, soon - TOGETHER * each) + each
                started = max(np.ceil(max(servers.dispatch.starts, soon)), blocks.may_start[0])
                start(place, started, warps, blocks, work, stalls, settings)
    if blocks.next[UPCOMING] < blocks.began.size and blocks.next[SEEN] < blocks.next[NOTED]:
        return max(np.ceil(blocks.noted[blocks.next[SEEN]]), t + 1)
    return p.NEVER

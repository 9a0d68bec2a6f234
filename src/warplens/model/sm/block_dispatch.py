"""How blocks get places on a multiprocessor, and their warps seats in its sub-partitions.  F5.

A warp leaves its seat and its registers when it ends, whether or not others of its block go on; shared memory and the
place of the block are kept until all have ended.  But only when a block has ended does the GPU look again: then the
multiprocessor is given as many blocks as the free seats of each sub-partition admit.  So where one warp of a block has
more to do than the others up to 31 blocks of 4 warps were seen at once on an H200, of which 16 have room from the
start; of random lengths 15.6 on the average (15.8 by this rule from the same lengths, 14.5 if seats came free by block:
measurements/h200/seats.csv).
"""

from __future__ import annotations

import numpy as np

from warplens.model import layout as p
from warplens.model.trace.trace_decoder import OF_WARP, basic_block
from warplens.simc import compiled

UPCOMING, TURN, NOTED, SEEN = range(4)  # of Blocks.next
# source: block_places.csv
LARGE_BLOCK = 1.5  # times what its warps take one after the other until the next may start: 98 cycles of 32 warps
SETTLE = 100  # cycles for which a seat stays empty at the least: 92 to 130 on an H200; source: block_places.csv
# assumed: fitted by hand to `stays` of calibration.csv
TOGETHER = 4  # blocks of one multiprocessor whose ends are noted at once while those of the others are between


@compiled
def wait(slot, following, until, reason, warps, stalls):  # type: ignore[no-untyped-def]
    """A warp waits for a reason before its next instruction."""
    if until > warps.mark[slot]:
        stalls[reason, following] += until - warps.mark[slot]
        warps.mark[slot] = until


@compiled
def start(place, started, warps, blocks, work, stalls, s):  # type: ignore[no-untyped-def]
    """The next block takes a place."""
    number = blocks.next[UPCOMING]
    blocks.next[UPCOMING] += 1
    blocks.may_start[0] = started + max(s[p.BLOCK_START] + work.warps, LARGE_BLOCK * work.warps * s[p.WARP_START])
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
            begins = started + w * s[p.WARP_START]
            warps.mark[slot], warps.began[slot], warps.why[slot] = begins, begins, p.NOT_SELECTED
            # What nobody has read yet, code and parameters, all warps wait for that are there by then.
            wait(slot, work.firsts[first], s[p.FIRST_BLOCK], p.NO_INSTRUCTION, warps, stalls)
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
def note_end(place, t, left, blocks, memory, s):  # type: ignore[no-untyped-def]
    """A block has ended, `left` are left: the GPU takes note of that, and some cycles later looks who has room.

    All multiprocessors report their blocks' ends to one place, one after the other.  Those of the first ones come
    together, later ones when those of others do not."""
    early = 0.0 if blocks.began.size - left <= blocks.resident else TOGETHER * s[p.BLOCK_REPORT]
    memory.servers[p.REPORTS] = max(memory.servers[p.REPORTS] + s[p.BLOCK_REPORT], t + 1 - early)
    blocks.arrived[place, :] = 0
    blocks.noted[blocks.next[NOTED]] = max(memory.servers[p.REPORTS], t + 1) + s[p.BLOCK_END] - SETTLE
    blocks.next[NOTED] += 1


@compiled
def come(t, warps, blocks, work, servers, stalls, s):  # type: ignore[no-untyped-def]
    """The blocks start for which there is room, if the end of one has been noted by now; when the next will have.

    The GPU starts no more of them a cycle than it notes ends."""
    if blocks.next[SEEN] < blocks.next[NOTED] and blocks.noted[blocks.next[SEEN]] <= t:
        blocks.next[SEEN] += 1
        for place in range(blocks.held.size):
            if blocks.next[UPCOMING] < blocks.began.size and seated(place, work.warps, blocks):
                soon, each = t + SETTLE, s[p.BLOCK_REPORT]
                servers[p.STARTS] = max(servers[p.STARTS], soon - TOGETHER * each) + each
                started = max(np.ceil(max(servers[p.STARTS], soon)), blocks.may_start[0])
                start(place, started, warps, blocks, work, stalls, s)
    if blocks.next[UPCOMING] < blocks.began.size and blocks.next[SEEN] < blocks.next[NOTED]:
        return max(np.ceil(blocks.noted[blocks.next[SEEN]]), t + 1)
    return p.NEVER

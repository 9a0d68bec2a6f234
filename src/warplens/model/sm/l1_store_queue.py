"""What leaves a multiprocessor for L2: stores, and what loads ask for.  F5.

What a warp stores leaves line by line, in pieces of 32 bytes: one for each sector, and one that says which bytes are
meant unless all of every sector are.  A multiprocessor sends a piece a cycle if it is alone; where all send, L2 takes
them at its rate, and so many lines a cycle at the most (`lines of a store` of the calibration).  What loads ask for
goes the same way, two lines in the time of a piece (`mixed` of measurements/h200/stores_loads.csv).

Lines wait in a queue and take along what is stored to them meanwhile, but for what a warp stores behind a load (`stores
in a row`).  So stores in a row leave together unless too many others come between: those of the other sub-partitions
do, if they have some waiting (`gapped` of stores_loads.csv).  A store that comes when its line is at the end of the
queue misses it: of one warp with 29 to 31 lines between, of four sub-partitions that store to 8 lines each and to the
same again every time; with 35 and more it hits, because the line has left (l1_leaving.csv).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from warplens.model import layout as p
from warplens.model.sm.l1_cache import touched
from warplens.model.sm.l2_share import keeps
from warplens.simc import compiled

FAR = 16  # defined: beside the bit of a valid sector: it comes from DRAM
SECTOR = 32.0  # bytes, and of a piece
# source: stores_loads.csv
HELD = 50  # cycles for which a line waits at the least: of eight stores to it, 48 cycles apart, all leave together
ASKED = 0.5  # pieces, of a line that a load asks for; assumed: fitted by hand to `mixed` of stores_loads.csv
ROUNDING = 0.5  # defined: bytes
AT_THE_END = 4  # places of the queue whose lines are leaving; source: l1_leaving.csv


class StoreQueue(NamedTuple):
    """What waits to leave.

    leaves   by line of L1: until when what has been stored to it waits;  at: how many lines had come before
    turn     of the sub-partition that stored to it last, by accesses;  waiting, covered: its sectors, their bytes
    freed    by place of the queue: when another line may come
    loaded   by warp: how many lines had come before its last load
    last     by sub-partition: lines that its last access stored to
    """

    leaves: Any
    at: Any
    turn: Any
    waiting: Any
    covered: Any
    freed: Any
    loaded: Any
    last: Any


def nothing_stored(entries: int, warps: int, queue: int, parts: int) -> StoreQueue:
    return StoreQueue(
        np.full(entries, -p.NEVER), np.zeros(entries), np.zeros(entries), np.zeros(entries, np.int64),
        np.zeros(entries), np.zeros(queue), np.zeros(warps), np.zeros(parts),
    )  # fmt: skip


@compiled
def bits(mask):  # type: ignore[no-untyped-def]
    """Sectors in the mask of a line."""
    return (mask & 1) + (mask >> 1 & 1) + (mask >> 2 & 1) + (mask >> 3 & 1)


@compiled
def to_dram(line, number, request, servers, s, supply):  # type: ignore[no-untyped-def]
    """What so many stored sectors of a line cost DRAM, sooner or later: to fill up parts of sectors, and to write."""
    lows, highs, _, _, _, stored, filled, _, _, _, _, _ = supply
    for n in range(lows.size):
        if lows[n] <= 4 * line + 3 and 4 * line < highs[n]:
            if stored[n] > 0:
                reads = SECTOR * filled[n] * number / s[p.DRAM_READ]
                writes = SECTOR * stored[n] * number / s[p.DRAM_WRITE]
                servers[p.DRAM] = max(servers[p.DRAM], request) + reads + writes
                servers[p.DRAM_IN] = max(servers[p.DRAM_IN], request) + reads + writes
                servers[p.READ_WORK] += reads
                servers[p.WRITE_WORK] += writes
            break


@compiled
def pieces(mask, covered):  # type: ignore[no-untyped-def]
    """In which the sectors of a line go to L2, of which so many bytes are stored."""
    return bits(mask) + int(covered < SECTOR * bits(mask) - ROUNDING)


@compiled
def sending(number, s):  # type: ignore[no-untyped-def]
    """Cycles of so many pieces of a line."""
    return max(SECTOR * number / s[p.L2_WRITE], s[p.LINE_WRITE]) if number > 0 else 0.0


@compiled
def ask_l2(at, servers, s):  # type: ignore[no-untyped-def]
    """A load asks for a line.  It does not wait for stores, but they wait for it."""
    servers[p.L2_IN] = max(servers[p.L2_IN], at) + ASKED * SECTOR / s[p.L2_WRITE]


@compiled
def lines_in(words, first, last):  # type: ignore[no-untyped-def]
    """Of the sectors words[first:last]; those of one line mostly stand together."""
    lines = 0
    for at in range(first, last):
        lines += int(at == first or int(words[at]) >> 2 != int(words[at - 1]) >> 2)
    return lines


@compiled
def others(sp, t, memory):  # type: ignore[no-untyped-def]
    """Lines that are stored to between two accesses of a sub-partition: the others are served in turn if they have
    something waiting (of 8 stores in a row to 4 lines most leave together, to 8 lines only where fewer than four
    sub-partitions store)."""
    depth, lines = memory.queue.shape[1], 0.0
    for other in range(memory.head.size):
        if other != sp and memory.queue[other, (memory.head[other] + depth - 1) % depth] > t:
            lines += memory.cache[7].last[other]
    return lines


@compiled
def put(line, mask, stored, between, request, wave, slot, memory, counts, s, supply):  # type: ignore[no-untyped-def]
    """Sectors of one line, of which so many bytes are stored: L1 writes through, what of it stays in L2 costs DRAM
    nothing.  Whether L2 still had the line, if it had it.

    between   lines that others store to between two accesses of the sub-partition, and that this one does
    """
    cache, servers, turn = memory.cache, memory.servers, memory.head[slot % memory.head.size]
    tags, stamps, valid, fill, _, _, _, lines, held, _ = cache
    servers[p.L1_CLOCK] += 1
    entry, there = touched(line, tags, stamps, servers[p.L1_CLOCK])
    if not there:
        valid[entry], lines.leaves[entry] = 0, -p.NEVER
    kept = keeps(line, int(mask & 3 > 0) + 2 * int(mask & 12 > 0), 1.0, 0.0, True, wave, held, servers, s)
    if line < p.LOCAL_BASE:
        to_dram(line, bits(mask), request, servers, s, supply)
    come = servers[p.STORED_LINES]
    behind = max(come - lines.at[entry], between[1] - 1 + between[0] * (turn - lines.turn[entry]))
    joins = lines.leaves[entry] > request and lines.at[entry] > lines.loaded[slot] and behind < s[p.STORE_LINES] - 1
    at_the_end = s[p.STORE_LINES] - AT_THE_END <= behind <= s[p.STORE_LINES]
    if there and not (at_the_end and lines.leaves[entry] > request):
        # Whichever sectors of it L1 has (measurements/h200/l1_stores.csv), but not what is just leaving.
        counts[p.L1_HITS] += bits(mask)
    if not joins:
        lines.waiting[entry], lines.covered[entry] = 0, 0.0
    sectors, sent = bits(lines.waiting[entry]), pieces(lines.waiting[entry], lines.covered[entry])
    lines.waiting[entry] |= mask
    lines.covered[entry] += stored
    lines.turn[entry] = turn
    more = bits(lines.waiting[entry]) - sectors
    send = pieces(lines.waiting[entry], lines.covered[entry])
    counts[p.L1_MERGED] += bits(mask) - more
    counts[p.L2_WRITES] += more
    counts[p.L2_SENT] += send - sent
    # What is stored is kept in L1 as well.
    for k in range(4):
        if mask >> k & 1:
            if not valid[entry] >> k & 1:
                valid[entry] |= 1 << k
                fill[4 * entry + k] = request
            elif fill[4 * entry + k] > request and line < p.LOCAL_BASE:
                # L2 waits until it has the sector itself before it changes a part of it, and all behind it wait.
                late = s[p.LATE_FAR] if valid[entry] & FAR << k else s[p.LATE_NEAR]
                servers[p.L2_OUT] = max(servers[p.L2_OUT], request) + late
    work, begins = sending(send, s) - sending(sent, s), max(servers[p.L2_IN], request)
    servers[p.L2_IN] = begins + work
    # L2 takes them behind the loads that it was asked for before, which it serves first (`burst copy`, `burst sum` of
    # the calibration: what is loaded at once and then stored takes as long as loading it and storing it).
    servers[p.STORED] = max(servers[p.STORED], max(request, servers[p.COME])) + work
    if not joins:
        # While the queue is full, accesses behind wait; and for what DRAM has to write of stores before.
        place = int(come) % lines.freed.size
        servers[p.LSU] = max(servers[p.LSU], lines.freed[place])
        lines.freed[place] = begins
        servers[p.STORED_LINES] += 1
        lines.at[entry], lines.leaves[entry] = servers[p.STORED_LINES], max(begins, request + HELD)
    servers[p.LSU] = max(servers[p.LSU], servers[p.DRAM_IN] - s[p.STORE_SLACK])
    return kept

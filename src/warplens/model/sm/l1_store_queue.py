"""L1 store queue: what an SM stores waits line by line, is merged, and drains to L2.

What it is   a queue of lines; L1 writes through.  What a warp stores leaves in pieces of 32 bytes: one for each sector,
             and one that says which bytes are meant unless all of every sector are.
Formula      an SM sends a piece a cycle if it is alone; where all send, L2 takes them at its rate (write_bytes), and so
             many lines a cycle at the most (line_write_cycles).  What loads ask for goes the same way, two lines in the
             time of a piece.
             Lines take along what is stored to them while they wait, but for what a warp stores behind a load.  So
             stores in a row leave together unless too many others come between: those of the other sub-partitions
             do, if they have some waiting.  A store that comes when its line is at the end of the queue misses it.
Parameters   StoreQueueSettings, from calibration/derive.py; HELD and AT_THE_END below.
Evidence     `lines of a store` and `stores in a row` of the calibration; `mixed` and `gapped` of
             measurements/h200/stores_loads.csv; l1_leaving.csv: of one warp with 29 to 31 lines between a store misses
             its line, of four sub-partitions that store to 8 lines each and to the same again every time; with 35 and
             more it hits, because the line has left.
Known error  tests/model/test_leaving.py: within 30 % of the readings.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from warplens.model import layout as p
from warplens.model.sm.dram_share import store_sectors
from warplens.model.sm.l1_cache import FAR, enter
from warplens.model.sm.l2_share import Asker, keeps
from warplens.simc import Record, compiled

SECTOR = 32.0  # bytes, and of a piece
# source: stores_loads.csv
HELD = 50  # cycles for which a line waits at the least: of eight stores to it, 48 cycles apart, all leave together
ROUNDING = 0.5  # defined: bytes
AT_THE_END = 4  # places of the queue whose lines are leaving; source: l1_leaving.csv


class StoreQueueSettings(NamedTuple):
    """lines              that wait at the most
    slack_cycles       by which the DRAM's work on stores may be late before the load/store unit waits
    late_near_cycles, late_far_cycles   of a store to a sector that is on its way to L1, from L2 and from DRAM
    """

    lines: float
    slack_cycles: float
    late_near_cycles: float
    late_far_cycles: float


class StoreQueueState(Record):
    """lines: that have been put into the queue so far;  taken: when L2 has taken the last store (cycles)."""

    lines: float
    taken: float


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
def pieces(mask, covered):  # type: ignore[no-untyped-def]
    """In which the sectors of a line go to L2, of which so many bytes are stored."""
    return bits(mask) + int(covered < SECTOR * bits(mask) - ROUNDING)


@compiled
def sending(number, l2):  # type: ignore[no-untyped-def]
    """Cycles of so many pieces of a line."""
    return max(SECTOR * number / l2.write_bytes, l2.line_write_cycles) if number > 0 else 0.0


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
            lines += memory.store_queue.last[other]
    return lines


@compiled
def put(request, stored, between, memory):  # type: ignore[no-untyped-def]
    """Sectors of one line, of which so many bytes are stored: L1 writes through, what of it stays in L2 costs DRAM
    nothing.  Whether L2 still had the line, if it had it.

    between   lines that others store to between two accesses of the sub-partition, and that this one does
    """
    line, mask, at, queue = request.line, request.mask, request.at, memory.store_queue
    servers, settings, turn = memory.servers, memory.settings, memory.head[request.slot % memory.head.size]
    entry, there = enter(line, memory)
    asker = Asker(1.0, 0.0, True, request.wave)
    halves = int(mask & 3 > 0) + 2 * int(mask & 12 > 0)
    kept = keeps(line, halves, asker, memory.l2_share, servers.l1.clock, settings.l2.partitions)
    if line < p.LOCAL_BASE:
        store_sectors(line, bits(mask), at, memory)
    come, most = servers.store_queue.lines, settings.store_queue.lines
    behind = max(come - queue.at[entry], between[1] - 1 + between[0] * (turn - queue.turn[entry]))
    joins = queue.leaves[entry] > at and queue.at[entry] > queue.loaded[request.slot] and behind < most - 1
    at_the_end = most - AT_THE_END <= behind <= most
    if there and not (at_the_end and queue.leaves[entry] > at):
        # Whichever sectors of it L1 has (measurements/h200/l1_stores.csv), but not what is just leaving.
        memory.counts.l1_hits += bits(mask)
    if not joins:
        queue.waiting[entry], queue.covered[entry] = 0, 0.0
    sent = pieces(queue.waiting[entry], queue.covered[entry])
    send = merge(request, entry, stored, sent, memory)
    queue.turn[entry] = turn
    keep_in_l1(request, entry, memory)
    leave(entry, at, send_cycles(send, sent, settings.l2), joins, memory)
    servers.load_store.free = max(servers.load_store.free, servers.dram.stores - settings.store_queue.slack_cycles)
    return kept


@compiled
def send_cycles(send, sent, l2):  # type: ignore[no-untyped-def]
    """Of the pieces of a line that has `send` of them now, and had `sent`."""
    return sending(send, l2) - sending(sent, l2)


@compiled
def merge(request, entry, stored, sent, memory):  # type: ignore[no-untyped-def]
    """The sectors of a store wait with those of their line, of which `sent` pieces have been counted; its pieces."""
    queue, counts, mask = memory.store_queue, memory.counts, request.mask
    sectors = bits(queue.waiting[entry])
    queue.waiting[entry] |= mask
    queue.covered[entry] += stored
    more = bits(queue.waiting[entry]) - sectors
    send = pieces(queue.waiting[entry], queue.covered[entry])
    counts.l1_merged += bits(mask) - more
    counts.l2_writes += more
    counts.l2_sent += send - sent
    return send


@compiled
def keep_in_l1(request, entry, memory):  # type: ignore[no-untyped-def]
    """What is stored is kept in L1 as well."""
    l1, l2, settings = memory.l1, memory.servers.l2, memory.settings.store_queue
    for k in range(4):
        if request.mask >> k & 1:
            if not l1.valid[entry] >> k & 1:
                l1.valid[entry] |= 1 << k
                l1.fill[4 * entry + k] = request.at
            elif l1.fill[4 * entry + k] > request.at and request.line < p.LOCAL_BASE:
                # L2 waits until it has the sector itself before it changes a part of it, and all behind it wait.
                late = settings.late_far_cycles if l1.valid[entry] & FAR << k else settings.late_near_cycles
                l2.replies = max(l2.replies, request.at) + late


@compiled
def leave(entry, at, work, joins, memory):  # type: ignore[no-untyped-def]
    """A line goes to L2, which takes it for `work` cycles; `joins`: with what waits of it, in the same place."""
    servers, queue = memory.servers, memory.store_queue
    begins = max(servers.l2.requests, at)
    servers.l2.requests = begins + work
    # L2 takes them behind the loads that it was asked for before, which it serves first (`burst copy`, `burst sum` of
    # the calibration: what is loaded at once and then stored takes as long as loading it and storing it).
    servers.store_queue.taken = max(servers.store_queue.taken, max(at, servers.l2.last_from_dram)) + work
    if not joins:
        # While the queue is full, accesses behind wait; and for what DRAM has to write of stores before.
        place = int(servers.store_queue.lines) % queue.freed.size
        servers.load_store.free = max(servers.load_store.free, queue.freed[place])
        queue.freed[place] = begins
        servers.store_queue.lines += 1
        queue.at[entry], queue.leaves[entry] = servers.store_queue.lines, max(begins, at + HELD)

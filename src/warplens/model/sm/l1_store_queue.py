"""L1 store queue: stores of an SM wait line by line, are merged, and drain to L2.

What it is   a queue of lines; L1 writes through.  A warp's stores leave in packets of 32 bytes: one for each sector,
             and one byte mask unless every sector is complete.
Formula      an SM sends a packet a cycle if no other does; where all send, L2 accepts them at its rate (write_bytes),
             and so many lines a cycle at most (line_write_cycles).  Load requests use the same path, two lines in the
             time of a packet.
             Queued lines merge later stores to them, except those that a warp issues after a load.  So consecutive
             stores leave together unless too many others come between: those of the other sub-partitions do, if they
             have some waiting.  A store whose line is at the end of the queue misses it.
Parameters   StoreQueueSettings.
Evidence     `lines of a store` and `stores in a row` of the calibration; `mixed` and `gapped` of
             measurements/h200/stores_loads.csv; l1_leaving.csv: of one warp with 29 to 31 lines between a store misses
             its line, of four sub-partitions that store to 8 lines each and to the same again every time; with 35 and
             more it hits, because the line has left.
Known error  tests/model/test_leaving.py: within 30 % of the readings.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from warplens.machine.parameter import assumed
from warplens.model import layout as p
from warplens.model.sm.dram_share import store_sectors
from warplens.model.sm.l1_cache import FAR, allocate
from warplens.model.sm.l2_share import Requester, holds_line
from warplens.simc import Record, compiled

SECTOR = 32.0  # defined: bytes, of a sector and of a packet
ROUNDING = assumed(0.5, "bytes", "a tolerance")


class StoreQueueSettings(NamedTuple):
    """lines              queue capacity;  draining_lines: of these, at its end
    hold_cycles        for which a line waits at least
    slack_cycles       by which the DRAM's work on stores may be late before the load/store unit waits
    late_near_cycles, late_far_cycles   of a store to a sector in flight to L1, from L2 and from DRAM"""

    lines: float
    draining_lines: float
    hold_cycles: float
    slack_cycles: float
    late_near_cycles: float
    late_far_cycles: float


class StoreQueueState(Record):
    """lines: queued so far;  taken: when L2 has accepted the last store (cycles)."""

    lines: float
    taken: float


class StoreQueue(NamedTuple):
    """Lines that wait to drain.

    leaves   by line of L1: when its stores drain;  at: lines queued before it
    turn     accesses of the sub-partition that stored to it last;  waiting, covered: its sectors, their bytes
    freed    by queue entry: when it is free
    loaded   by warp: lines queued before its last load
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


class StoredLines(NamedTuple):
    """Lines that an access stores to, and that other sub-partitions store to before its next one."""

    others: float
    own: int


def empty_store_queue(entries: int, warps: int, queue: int, parts: int) -> StoreQueue:
    return StoreQueue(
        np.full(entries, -p.NEVER), np.zeros(entries), np.zeros(entries), np.zeros(entries, np.int64),
        np.zeros(entries), np.zeros(queue), np.zeros(warps), np.zeros(parts),
    )  # fmt: skip


@compiled
def count_sectors(mask):  # type: ignore[no-untyped-def]
    """Number of sectors in the mask of a line."""
    return (mask & 1) + (mask >> 1 & 1) + (mask >> 2 & 1) + (mask >> 3 & 1)


@compiled
def count_packets(mask, covered):  # type: ignore[no-untyped-def]
    """Packets to L2 for the sectors of a line, of which so many bytes are stored."""
    return count_sectors(mask) + int(covered < SECTOR * count_sectors(mask) - ROUNDING)


@compiled
def packet_cycles(number, l2):  # type: ignore[no-untyped-def]
    """Cycles for so many packets of a line."""
    return max(SECTOR * number / l2.write_bytes, l2.line_write_cycles) if number > 0 else 0.0


@compiled
def count_lines(words, first, last):  # type: ignore[no-untyped-def]
    """Lines of the sectors words[first:last]; those of one line are mostly consecutive."""
    lines = 0
    for at in range(first, last):
        lines += int(at == first or int(words[at]) >> 2 != int(words[at - 1]) >> 2)
    return lines


@compiled
def competing_lines(sp, t, memory):  # type: ignore[no-untyped-def]
    """Lines stored to between two accesses of a sub-partition: sub-partitions with waiting stores are served round
    robin (of 8 stores in a row to 4 lines most leave together, to 8 lines only where fewer than four sub-partitions
    store)."""
    depth, lines = memory.queue.shape[1], 0.0
    for other in range(memory.head.size):
        if other != sp and memory.queue[other, (memory.head[other] + depth - 1) % depth] > t:
            lines += memory.store_queue.last[other]
    return lines


@compiled
def enqueue_store(request, stored, between, memory):  # type: ignore[no-untyped-def]
    """Queue sectors of one line, of which so many bytes are stored: L1 writes through, and what stays in L2 costs DRAM
    nothing.  Returns whether L2 still held the line, if it ever did.

    between   StoredLines between two accesses of the sub-partition
    """
    line, mask, at, queue = request.line, request.mask, request.at, memory.store_queue
    servers, settings, turn = memory.servers, memory.settings, memory.head[request.slot % memory.head.size]
    entry, there = allocate(line, memory)
    asker = Requester(1.0, 0.0, True, request.wave)
    halves = int(mask & 3 > 0) + 2 * int(mask & 12 > 0)
    kept = holds_line(line, halves, asker, memory.l2_share, servers.l1.clock, settings.l2.partitions)
    if line < p.LOCAL_BASE:
        store_sectors(line, count_sectors(mask), at, memory)
    come, most = servers.store_queue.lines, settings.store_queue.lines
    behind = max(come - queue.at[entry], between.own - 1 + between.others * (turn - queue.turn[entry]))
    joins = queue.leaves[entry] > at and queue.at[entry] > queue.loaded[request.slot] and behind < most - 1
    at_the_end = most - settings.store_queue.draining_lines <= behind <= most
    if there and not (at_the_end and queue.leaves[entry] > at):
        # Any sectors that L1 has (measurements/h200/l1_stores.csv), except those that are draining.
        memory.counts.l1_hits += count_sectors(mask)
    if not joins:
        queue.waiting[entry], queue.covered[entry] = 0, 0.0
    sent = count_packets(queue.waiting[entry], queue.covered[entry])
    send = merge_store(request, entry, stored, sent, memory)
    queue.turn[entry] = turn
    update_l1(request, entry, memory)
    drain(entry, at, send_cycles(send, sent, settings.l2), joins, memory)
    servers.load_store.free = max(servers.load_store.free, servers.dram.stores - settings.store_queue.slack_cycles)
    return kept


@compiled
def send_cycles(send, sent, l2):  # type: ignore[no-untyped-def]
    """Cycles for the packets of a line that has `send` of them now, and had `sent`."""
    return packet_cycles(send, l2) - packet_cycles(sent, l2)


@compiled
def merge_store(request, entry, stored, sent, memory):  # type: ignore[no-untyped-def]
    """Merge a store's sectors into its queued line, of which `sent` packets have been counted; returns its packets."""
    queue, counts, mask = memory.store_queue, memory.counts, request.mask
    sectors = count_sectors(queue.waiting[entry])
    queue.waiting[entry] |= mask
    queue.covered[entry] += stored
    more = count_sectors(queue.waiting[entry]) - sectors
    send = count_packets(queue.waiting[entry], queue.covered[entry])
    counts.l1_merged += count_sectors(mask) - more
    counts.l2_writes += more
    counts.l2_sent += send - sent
    counts.l2_changed_lines += int(sent == 0)
    return send


@compiled
def update_l1(request, entry, memory):  # type: ignore[no-untyped-def]
    """Update the stored sectors in L1 as well."""
    l1, l2, settings = memory.l1, memory.servers.l2, memory.settings.store_queue
    for k in range(4):
        if request.mask >> k & 1:
            if not l1.valid[entry] >> k & 1:
                l1.valid[entry] |= 1 << k
                l1.fill[4 * entry + k] = request.at
            elif l1.fill[4 * entry + k] > request.at and request.line < p.LOCAL_BASE:
                # L2 waits for the sector before it changes a part of it, and all requests after it wait.
                late = settings.late_far_cycles if l1.valid[entry] & FAR << k else settings.late_near_cycles
                l2.replies = max(l2.replies, request.at) + late


@compiled
def drain(entry, at, work, joins, memory):  # type: ignore[no-untyped-def]
    """Drain a line to L2, which takes `work` cycles; `joins`: merged into the queue entry of its waiting stores."""
    servers, queue = memory.servers, memory.store_queue
    begins = max(servers.l2.requests, at)
    servers.l2.requests = begins + work
    # L2 serves earlier loads first, then the stores (`burst copy`, `burst sum` of the calibration:
    # a burst of loads followed by stores takes as long as the loads plus the stores).
    servers.store_queue.taken = max(servers.store_queue.taken, max(at, servers.l2.last_from_dram)) + work
    if not joins:
        # A full queue, and overdue DRAM work on stores, block later accesses.
        place = int(servers.store_queue.lines) % queue.freed.size
        servers.load_store.free = max(servers.load_store.free, queue.freed[place])
        queue.freed[place] = begins
        servers.store_queue.lines += 1
        queue.at[entry] = servers.store_queue.lines
        queue.leaves[entry] = max(begins, at + memory.settings.store_queue.hold_cycles)

"""Bulk copies: when the boxes and rows come that TMA fetches, and when those that it stores are on their way.

What it is   one unit an SM that walks through a box and sends a request for each line of 128 bytes to L2, past L1.
Formula      a copy begins when the unit is free, which takes LINE_CYCLES a line; a line comes as that of a load does
             (l1_cache.request_sectors), but the SM receives PORT_BYTES a cycle.
             Of a multicast the SM's port gets what all blocks of the cluster ask for, L2 gives each part once.
             Of a store the unit sends STORE_BYTES a cycle, and its group is read STORE_LATENCY cycles after the last;
             what an SM sends may be STORE_LAG cycles ahead of its share of L2.
Evidence     measurements/h200/bulk_copies.csv; copy_waits.csv: a store of 32 KB is read after 1,143 cycles by one SM
             and 1,156 by all, if 3,000 pass between two, and after 1,790 if none do.
Known error  that the stores of a box wait for shared memory.
"""

from __future__ import annotations

import numpy as np

from warplens.emulator.state.trace_format import ACCESSED, GLOBAL, MBARRIER
from warplens.machine.parameter import measured
from warplens.model import layout as p
from warplens.model.grid.first_touch import part_of_trace
from warplens.model.layout import Kind
from warplens.model.sm.dram_share import store_sectors
from warplens.model.sm.l1_cache import request_sectors
from warplens.model.sm.l1_store_queue import count_sectors
from warplens.model.sm.l2_port import LineRequest
from warplens.model.sm.tma.mbarriers import count, mbarrier_at
from warplens.model.trace.trace_decoder import ENTER, instruction, length, space
from warplens.simc import Record, compiled

LINE_CYCLES = measured(
    1.18, "cycles", "measurements/h200/bulk_copies.csv: boxes of 32 KB less those of 1 KB, each by itself, of one block"
)
PORT_BYTES = measured(
    108.0, "bytes per cycle", "measurements/h200/bulk_copies.csv: boxes of 32 KB, four in flight, of one block"
)

# `read` of copy_waits.csv:
STORE_BYTES = measured(32.0, "bytes per cycle", "measurements/h200/copy_waits.csv: 32 KB less 1 KB, one block")
STORE_LATENCY = measured(
    100.0, "cycles", "measurements/h200/copy_waits.csv: 1 KB, 151 cycles, less 32 that it is sent and what is issued"
)
STORE_LAG = measured(
    880.0, "cycles",
    "measurements/h200/copy_waits.csv: 32 KB of all SMs with pauses, which the share of L2 would take that longer",
)  # fmt: skip


class BulkCopyState(Record):
    """free: until when the unit is busy (cycles)."""

    free: float


@compiled
def blocks_of(slot, i, warps, work):  # type: ignore[no-untyped-def]
    """How many blocks get what a warp's copy fetches."""
    at, blocks = warps.position[slot], 1
    while at < warps.stop[slot] and work.words[at] < ENTER and instruction(work.words[at]) == i:
        if space(work.words[at]) == MBARRIER:
            blocks = int(work.words[at + ACCESSED + 2])
        at += length(work.words[at])
    return blocks


@compiled
def serve_bulk_copy(slot, i, t, warps, blocks, work, memory, stalls):  # type: ignore[no-untyped-def]
    """Serve a copy; returns when the first warp goes on that waits for its bytes."""
    at, soonest, block = warps.position[slot], p.NEVER, slot // work.warps
    unit, fetches = memory.servers.bulk, work.code.kind[i] == Kind.BULK_LOAD
    each, come = blocks_of(slot, i, warps, work), t
    unit.free = max(unit.free, t + 1.0)
    part, copy = part_of_trace(at, warps.first[slot], warps.stop[slot]), at
    while at < warps.stop[slot] and work.words[at] < ENTER and instruction(work.words[at]) == i:
        if space(work.words[at]) == GLOBAL:
            position, last = at + ACCESSED, at + length(work.words[at])
            while position < last:
                line, mask = int(work.words[position]) >> 2, 0
                while position < last and int(work.words[position]) >> 2 == line:
                    mask |= 1 << (int(work.words[position]) & 3)
                    position += 1
                request = LineRequest(i, slot, blocks.wave[block], part, line, mask, False, unit.free, copy)
                unit.free += LINE_CYCLES if fetches else 32.0 * count_sectors(mask) / STORE_BYTES
                if fetches:
                    come = max(come, fetch_line(request, each, memory))
                else:
                    come = max(come, send_line(request, memory))
        elif space(work.words[at]) == MBARRIER:
            n = mbarrier_at(block, np.int64(work.words[at + ACCESSED]), blocks.mbarriers)
            bytes = -np.int64(work.words[at + ACCESSED + 1]) * each
            soonest = min(soonest, count(block, n, 0, bytes, come, warps, blocks, work, stalls))
        at += length(work.words[at])
    warps.position[slot] = at
    if not fetches:
        warps.copied[slot] = max(warps.copied[slot], come + STORE_LATENCY)
    return soonest


@compiled
def fetch_line(request, each, memory):  # type: ignore[no-untyped-def]
    """When the sectors of a line are in shared memory, in that of `each` blocks."""
    sectors = count_sectors(request.mask)
    l2, size = memory.servers.l2, 32.0 * sectors
    l2.port = max(l2.port, request.at) + (each - 1) * size / PORT_BYTES
    come, _ = request_sectors(request, sectors, 0, PORT_BYTES, memory)
    return come


@compiled
def send_line(request, memory):  # type: ignore[no-untyped-def]
    """When the stored sectors of a line are on their way."""
    sectors, l2, settings = count_sectors(request.mask), memory.servers.l2, memory.settings.l2
    l2.requests = max(l2.requests, request.at) + max(32.0 * sectors / settings.write_bytes, settings.line_write_cycles)
    memory.counts.l2_writes += sectors
    memory.counts.l2_changed_lines += 1
    memory.counts.last_store = max(memory.counts.last_store, l2.requests)
    store_sectors(request.line, sectors, request.at, memory)
    return max(request.at + 32.0 * sectors / STORE_BYTES, l2.requests - STORE_LAG)

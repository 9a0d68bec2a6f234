"""Load/store unit: serves one warp-wide access after the other, in shared memory, L1 or L2.

What it is   one unit an SM serves the accesses of the four sub-partitions; L1 sees the real addresses.
Formula      one access a sub-partition every issue_cycles; the unit takes max(wavefronts * 128 B / bytes_per_cycle,
             global_request_cycles), miss_request_cycles at least where sectors go to L2, and no longer than
             tag_lag_cycles less than the slowest bank of tags.
Parameters   LoadStoreSettings.
Evidence     `lines of a load`, `L1 hits`, `chain` of measurements/h200/calibration.csv; runs.csv.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from warplens.emulator.state.trace_format import ACCESSED, LOCAL, SHARED
from warplens.model import layout as p
from warplens.model.grid.atomic_packets import AtomicShape, send_atomic
from warplens.model.layout import Kind
from warplens.model.sm.l1_cache import bank_of, invalidate, load_line
from warplens.model.sm.l1_store_queue import StoredLines, competing_lines, count_lines, count_sectors, enqueue_store
from warplens.model.sm.l2_atomics import update_line
from warplens.model.sm.l2_partial_sectors import (
    StoredSectors,
    charge_dram,
    record_store,
    sector_bytes,
    stored_bytes,
    stores_whole_sectors,
)
from warplens.model.sm.l2_port import LineRequest
from warplens.model.sm.shared_memory import serve_shared
from warplens.model.trace.trace_decoder import passes, reached, space
from warplens.model.trace.trace_decoder import sectors as sectors_of
from warplens.simc import Record, compiled

LOCAL_LINES = 1 << 16  # of a warp's local memory; defined: capacity


class LoadStoreSettings(NamedTuple):
    """Cycles of the SM clock.

    queue                    queue entries of a sub-partition
    requests_in_flight       loads that wait for a line, also for one that another has requested; at most
    issue_cycles             of a sub-partition for one access;  wavefront_cycles: of it for one wavefront
    global_request_cycles, miss_request_cycles   minimum of the unit for one access, and for one that misses L1
    register_read_latency    until an access has read its registers
    tag_lag_cycles           that one tag bank may lag before the next access waits
    ideal_access             1 where accesses are assumed to be fully coalesced
    """

    queue: float
    requests_in_flight: float
    issue_cycles: float
    wavefront_cycles: float
    global_request_cycles: float
    miss_request_cycles: float
    register_read_latency: float
    tag_lag_cycles: float
    ideal_access: float


class LoadStoreState(Record):
    """free: until when the unit is busy (cycles);  waited: loads that had to wait for a line so far."""

    free: float
    waited: float


class Access(NamedTuple):
    """A warp-wide access that is issued at cycle `at`.

    instruction, kind   its number, and what it does (layout.py);  bytes: of a lane;  past_l1: a load that bypasses L1
    entry               position of its entry in the words of the trace
    slot, sub_partition of its warp;  wave: of its block;  part: of the warp's trace (grid/first_touch.py)
    copy                number of an asynchronous copy's group, else -1
    """

    instruction: int
    kind: int
    bytes: int
    past_l1: bool
    at: float
    entry: int
    slot: int
    sub_partition: int
    wave: int
    part: int
    copy: int


class ServedLines(NamedTuple):
    """looked_up, done    when all tags have been looked up, and when all lines are available
    late               extra latency of the slowest atomic
    lines, crowded     lines with atomics, and of them those with more than one sector
    """

    looked_up: float
    done: float
    late: float
    lines: int
    crowded: int


@compiled
def serve_access(access, words, memory):  # type: ignore[no-untyped-def]
    """(when it leaves the queue, when its result is available, when its registers are read)."""
    servers, settings, sp = memory.servers, memory.settings.load_store, access.sub_partition
    head, second = words[access.entry], words[access.entry + 1]
    sectors = sectors_of(head)
    wavefronts, lanes, _ = reached(second)
    waves = float(wavefronts)
    ideal = max(1.0, np.ceil(lanes * max(access.bytes, 4) / 128.0))
    # One access a sub-partition every few cycles; the unit itself serves all four without gaps.
    begin = max(access.at + 1.0, memory.issue_free[sp])
    memory.issue_free[sp] = begin + settings.issue_cycles
    begin = max(begin, servers.load_store.free)
    free = max(servers.load_store.free, access.at + 1.0)
    if space(head) == SHARED:
        return serve_shared(access, begin, free, waves, ideal, memory)
    if sectors == 0:
        servers.load_store.free = free + 1
        memory.counts.wavefronts += 1
        return begin, begin + memory.settings.l1.latency, begin + settings.register_read_latency
    if settings.ideal_access > 0:
        sectors = min(sectors, int(np.ceil(lanes * access.bytes / 32.0)))
        waves = min(waves, ideal)
    moved = memory.counts.l2_reads + memory.counts.l2_writes
    served = serve_lines(access, words, sectors, lanes, free, memory)
    done = served.done
    if access.kind == Kind.LOAD:
        memory.store_queue.loaded[access.slot] = servers.store_queue.lines
        if done > served.looked_up + memory.settings.l1.latency:
            done = wait_for_line(free, done, memory)
        # Each lane's bytes are returned separately, also where all lanes read the same (`L1 hits, 16 B of one place`).
        waves = max(waves, ideal)
    if access.kind in (Kind.ATOMIC, Kind.REDUCTION):
        waves = 1.0  # each word is sent to L2 once
    memory.issue_free[sp] = begin + max(settings.issue_cycles, settings.wavefront_cycles * waves)
    cost = max(waves * 128.0 / memory.settings.l1.bytes_per_cycle, settings.global_request_cycles)
    memory.counts.wavefronts += waves
    if memory.counts.l2_reads + memory.counts.l2_writes > moved:
        cost = max(cost, settings.miss_request_cycles)
    if access.kind in (Kind.ATOMIC, Kind.REDUCTION):
        all_passes, word_passes = passes(second)
        shape = AtomicShape(lanes, access.bytes, sectors, served.lines, served.crowded, all_passes, word_passes)
        cost, done = send_atomic(access.kind == Kind.ATOMIC, shape, free, served.late, memory)
    occupy_unit(free, cost, served.looked_up, memory)
    if access.kind not in (Kind.STORE, Kind.REDUCTION):
        done += settings.wavefront_cycles * (waves - 1) + (begin - free)
    return begin, done, begin + settings.register_read_latency


@compiled
def occupy_unit(free, cost, looked_up, memory):  # type: ignore[no-untyped-def]
    """Occupy the unit for `cost` cycles; all tags of the access have been looked up at `looked_up`."""
    servers, counts = memory.servers, memory.counts
    lag = memory.settings.load_store.tag_lag_cycles
    servers.load_store.free = max(max(servers.load_store.free, free + cost), looked_up + 1 - lag)
    counts.lsu_busy += cost
    last = max(servers.store_queue.taken, max(servers.atomics.free, servers.dram.free))
    counts.last_store = max(counts.last_store, last)


@compiled
def wait_for_line(free, done, memory):  # type: ignore[no-untyped-def]
    """When the result of a load is available that waits for a line until `done`.  One for which no slot is free blocks
    the unit: whether it misses L1 or asks for a line that another load has requested makes no difference
    (measurements/h200/requests_in_flight.csv)."""
    state, flight = memory.servers.load_store, memory.requests_in_flight
    place = int(state.waited) % flight.size
    late = max(flight[place] - free, 0.0)
    state.waited += 1
    state.free = max(state.free, free + late)
    flight[place] = max(done, free + late)
    return flight[place]


@compiled
def serve_lines(access, words, sectors, lanes, free, memory):  # type: ignore[no-untyped-def]
    """ServedLines of an access to global or local memory, in order of appearance; sectors of one line are mostly
    consecutive.

    Units common to all sub-partitions see accesses in issue order, including those that wait for their own unit.
    """
    servers, kind = memory.servers, access.kind
    looked_up, done = free, free + memory.settings.l1.latency
    late, lines, crowded, before = 0.0, 0, 0, -1
    position = begin = access.entry + ACCESSED
    last = begin + sectors
    shift = p.LOCAL_BASE + access.slot * LOCAL_LINES if space(words[access.entry]) == LOCAL else 0
    between = StoredLines(competing_lines(access.sub_partition, access.at, memory), count_lines(words, begin, last))
    if kind == Kind.STORE:
        memory.store_queue.last[access.sub_partition] = between.own
    each = sector_bytes(words, begin, last if kind == Kind.STORE else begin, lanes * access.bytes)
    while position < last:
        line = (int(words[position]) >> 2) + shift
        mask, of_line = 0, position
        while position < last and (int(words[position]) >> 2) + shift == line:
            mask |= 1 << (int(words[position]) & 3)
            position += 1
        bank = bank_of(line, memory.settings.l1)
        at = max(servers.tag_banks[bank], free)
        servers.tag_banks[bank] = at + 1
        looked_up = max(looked_up, at)
        lone = line != before + 1 and (position == last or (np.int64(words[position]) >> 2) + shift != line + 1)
        before = line
        request = LineRequest(
            access.instruction, access.slot, access.wave, access.part, line, mask, lone, at, access.copy
        )
        if kind in (Kind.LOAD, Kind.ASYNC_COPY):
            if access.past_l1:
                invalidate(line, mask, memory.l1)
            done = max(done, load_line(request, memory))
        elif kind == Kind.STORE:
            store_line(request, StoredSectors(words, of_line, position, begin, last, each), between, memory)
        elif kind in (Kind.ATOMIC, Kind.REDUCTION):
            more = update_line(request, memory)
            late, lines, crowded = max(late, more), lines + 1, crowded + int(count_sectors(mask) > 1)
    return ServedLines(looked_up, done, late, lines, crowded)


@compiled
def store_line(request, stored, between, memory):  # type: ignore[no-untyped-def]
    """One line of a store, in L1, L2 and DRAM; `between`: as for l1_store_queue.enqueue_store."""
    kept = enqueue_store(request, stored_bytes(stored), between, memory)
    if request.line < p.LOCAL_BASE and stores_whole_sectors(request.line, memory.supply):
        clock = memory.servers.l1.clock
        gone = record_store(request.line, stored, kept, memory.asked, memory.l2_partial, clock)
        charge_dram(gone, request.at, memory)

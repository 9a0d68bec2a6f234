"""SM simulation: one SM, cycle by cycle, in compiled code.

The trace of each warp is known beforehand (emulator/trace/warp_trace.py), and its issue times follow from the control
bits of the instruction: a stall count, scoreboards to wait for, scoreboards that it sets (Huerta et al., MICRO 2025,
arXiv 2503.20481).  The loop below calls one file a hardware unit, in the order in which a request meets them:
block_dispatch, scheduler, pipes, load_store_unit, shared_memory, constant_cache, l1_cache, l1_store_queue, l2_port,
l2_share, l2_atomics, l2_partial_sectors, dram.  The effects of other SMs on L2 and DRAM are one input record
(grid/memory_supply.py).
"""

from __future__ import annotations

from concurrent.futures import CancelledError
from functools import partial
from threading import Event
from typing import NamedTuple

import numpy as np

from warplens.emulator.state.trace_format import SHARED
from warplens.model import layout as p
from warplens.model.grid.first_touch import part_of_trace
from warplens.model.grid.memory_supply import SupplyArrays
from warplens.model.instruction.instruction_table import InstructionTable
from warplens.model.instruction.sm_resources import SmResources
from warplens.model.layout import LOAD_STORE_KINDS, Kind, Pipe, StallReason
from warplens.model.sm.activity import History
from warplens.model.sm.block_barriers import barrier_of, meet_warpgroup, release_all, release_barriers
from warplens.model.sm.block_dispatch import Next, dispatch_blocks, record_block_end, start_block
from warplens.model.sm.constant_cache import empty_constant_cache, look_up_constants, serve_special_register
from warplens.model.sm.instruction_cache import no_code_lines
from warplens.model.sm.l1_cache import L1Lines, l1_sets
from warplens.model.sm.l1_store_queue import empty_store_queue
from warplens.model.sm.l2_partial_sectors import partial_sector_table
from warplens.model.sm.l2_share import ALL_PLACES, l2_share_table
from warplens.model.sm.load_store_unit import Access, serve_access
from warplens.model.sm.pipes import ProductActivity, idle_pipes, no_products, occupy_pipes
from warplens.model.sm.scheduler import advance_warp, select_warp
from warplens.model.sm.shared_memory import no_swaps, return_cycles, shared_share, try_swap
from warplens.model.sm.sm_settings import Settings
from warplens.model.sm.sm_state import Array, Blocks, Counters, Memory, Results, SmWork, Warps, idle_servers
from warplens.model.sm.tma.mbarriers import no_mbarriers, update_mbarriers, wait_at_mbarrier
from warplens.model.sm.tma.tma_unit import serve_bulk_copy
from warplens.model.trace.stall_log import StallLog, record_stall
from warplens.model.trace.trace_decoder import ENTER, instruction, length, space
from warplens.model.trace.warp_streams import WarpStreams
from warplens.simc import compiled

ROUNDS = 1 << 20  # defined: cycles in which a warp may issue, until Python handles signals; less than a second


@compiled
def occupy_queue_entry(sp, leave, memory):  # type: ignore[no-untyped-def]
    """Occupy an entry in the memory-instruction queue of a sub-partition until the instruction leaves it."""
    memory.queue[sp, memory.head[sp] % memory.queue.shape[1]] = leave
    memory.head[sp] += 1


@compiled
def serve_memory_instruction(slot, i, t, warps, blocks, work, memory):  # type: ignore[no-untyped-def]
    """Execute a memory instruction: (when its result is available, when its registers are read, whether the wait is
    long)."""
    sp, kind, at = slot % blocks.wake.size, work.code.kind[i], warps.position[slot]
    unit, settings = memory.servers.load_store, memory.settings.load_store
    done, read, leave, long = t + work.code.latency[i], t + settings.register_read_latency, t + 1, False
    memory.store_queue.last[sp] = 0
    if kind == Kind.SHUFFLE:
        leave = max(t + 1.0, memory.issue_free[sp])
        memory.issue_free[sp] = leave + max(settings.issue_cycles, return_cycles(sp, t, 4, memory.products))
        leave = max(leave, unit.free)
        unit.free = max(unit.free, t + 1.0) + 1 / shared_share(sp, t, memory.products)
        done = leave + work.code.latency[i]
    wave, size, past_l1 = blocks.wave[slot // work.warps], work.code.lane_bytes[i], work.code.bypasses_l1[i] > 0
    part = part_of_trace(at, warps.first[slot], warps.stop[slot])
    copy = warps.grouped[slot] if kind == Kind.ASYNC_COPY else -1
    while at < warps.stop[slot] and work.words[at] < ENTER and instruction(work.words[at]) == i:
        out, come, got = serve_access(
            Access(i, kind, size, past_l1, t, at, slot, sp, wave, part, copy), work.words, memory
        )
        leave, done, read = max(leave, out), max(done, come), max(read, got)
        long = long or space(work.words[at]) != SHARED
        at += length(work.words[at])
    if not long and kind == Kind.LOAD:
        memory.swaps.seen[slot] = leave
    if work.code.swaps[i] > 0 and at > warps.position[slot]:
        try_swap(warps.position[slot], slot, slot // work.warps, leave, work.words, memory.swaps)
    warps.position[slot] = at
    occupy_queue_entry(sp, leave, memory)
    if kind in (Kind.STORE, Kind.REDUCTION) and long:
        warps.drained[slot] = memory.servers.l2.requests if kind == Kind.STORE else unit.free
    if kind == Kind.ASYNC_COPY:
        warps.copied[slot] = max(warps.copied[slot], done)
    return done, read, long


def _empty_request_table(words: int) -> Array:
    """Empty table for l2_share.was_requested; a trace word requests two entries at most."""
    return np.zeros(min(1 << (3 * words).bit_length(), ALL_PLACES), np.uint32)


class CacheLines(NamedTuple):
    """Lines of L1, of the SM's share of L2, of its partially written sectors, and of its dirty sectors."""

    l1: int
    l2: int
    partial: int
    dirty: int


class SimulatedKernel(NamedTuple):
    """Inputs that are the same for all SMs of a launch."""

    code: InstructionTable
    resources: SmResources
    settings: Settings
    supply: SupplyArrays
    lines: CacheLines


def simulate(
    kernel: SimulatedKernel, streams: WarpStreams, asked_by_others: Array, asked_now: Array, log: StallLog, stop: Event
) -> tuple[Counters, History, Results]:
    """Runs the blocks of `streams` in order, as many at a time as fit.

    asked_by_others, asked_now   first requests of lines: times of other SMs, and output for this one's times
    log   output: what each warp does when, as far as it has room
    stop   CancelledError soon after it is set
    """
    code, settings = kernel.code, kernel.settings
    number, slots = streams.starts.size // streams.warps, kernel.resources.places * streams.warps
    work = SmWork(*streams.arrays, code)
    words = int((streams.ends - streams.starts).sum())
    products = no_products(kernel.resources.sub_partitions)
    memory = _memory(kernel, slots, words, asked_by_others, asked_now, products)
    blocks = _blocks(kernel.resources, number, slots, settings)
    results = Results(np.zeros((len(StallReason), code.kind.size)), np.zeros(number), np.zeros(len(Pipe)))
    pipes = idle_pipes(kernel.resources.sub_partitions, products, settings.pipes)
    warps, t, left = _warps(slots, log), 0.0, number
    while left > 0:
        if stop.is_set():
            raise CancelledError
        t, left = _run(warps, blocks, work, memory, pipes, results, t, left)
    history = History(blocks.began, results.ended, blocks.resided, memory.servers.dispatch.reports)
    return memory.counts, history, results


def _memory(
    kernel: SimulatedKernel, slots: int, words: int, asked_by_others: Array, asked_now: Array, products: ProductActivity
) -> Memory:
    settings, lines, parts = kernel.settings, kernel.lines, kernel.resources.sub_partitions
    entries = l1_sets(lines.l1) * p.WAYS
    return Memory(
        l1=L1Lines(
            np.full(entries, -1, np.int64), np.zeros(entries), np.zeros(entries, np.int64), np.zeros(4 * entries)
        ),
        store_queue=empty_store_queue(entries, slots, int(settings.store_queue.lines), parts),
        code=no_code_lines(kernel.code.kind.size),
        constants=empty_constant_cache(settings.constants),
        l2_share=l2_share_table(lines.l2, words),
        l2_partial=partial_sector_table(lines.partial, settings.l2.partial_ways, lines.dirty, words),
        asked=_empty_request_table(words),
        asked_by_others=asked_by_others,
        asked_now=asked_now,
        requests_in_flight=np.zeros(int(settings.load_store.requests_in_flight)),
        sectors_in_flight=np.zeros(int(settings.l1.sectors_in_flight)),
        updates=np.zeros(int(settings.atomics.sectors_in_flight)),
        issue_free=np.zeros(parts),
        queue=np.zeros((parts, int(settings.load_store.queue))),
        head=np.zeros(parts, np.int64),
        products=products,
        swaps=no_swaps(slots),
        servers=idle_servers(),
        counts=Counters(),
        settings=settings,
        supply=kernel.supply,
    )


def _warps(slots: int, log: StallLog) -> Warps:
    whole = partial(np.zeros, dtype=np.int64)
    return Warps(
        position=whole(slots), first=whole(slots), stop=whole(slots), now=np.full(slots, -1, np.int64),
        until=whole(slots),
        base=np.full(slots, p.NEVER), mark=np.zeros(slots), why=whole(slots), order=whole(slots),
        waiting=np.full(slots, -1, np.int64), began=np.zeros(slots), board=np.zeros((slots, p.SCOREBOARDS)),
        because=whole((slots, p.SCOREBOARDS)), groups=np.zeros((slots, p.GROUPS)), grouped=whole(slots),
        copied=np.zeros(slots), phase=whole(slots), product_groups=np.zeros((slots, p.GROUPS)), products=whole(slots),
        started=whole(slots), drained=np.zeros(slots), log=log,
    )  # fmt: skip


def _blocks(resources: SmResources, number: int, slots: int, settings: Settings) -> Blocks:
    places, parts, whole = resources.places, resources.sub_partitions, partial(np.zeros, dtype=np.int64)
    return Blocks(
        resident=resources.resident, seats=np.full(parts, resources.seats), held=np.full(places, -1, np.int64),
        wave=whole(places), living=whole(places), arrived=whole((places, p.BLOCK_BARRIERS)), wake=np.zeros(parts),
        last=np.full(parts, -1), next=whole(len(Next)), may_start=np.full(1, settings.dispatch.first_resident_cycle),
        began=np.zeros(number), resided=np.zeros(number), noted=np.zeros(number),
        mbarriers=no_mbarriers(places, slots),
    )  # fmt: skip


@compiled
def _run(warps, blocks, work, memory, pipes, results, t, left):  # type: ignore[no-untyped-def]
    """From cycle t, with `left` blocks to end, for ROUNDS at most: the cycle then, and how many are left (none also
    where those that are left wait for each other)."""
    servers, counts, settings, (stalls, ended, busy) = memory.servers, memory.counts, memory.settings, results
    if t == 0.0:
        for place in range(min(blocks.resident, ended.size)):
            start_block(place, blocks.may_start[0], warps, blocks, work, stalls, settings.dispatch)
    rounds = 0
    while left > 0 and rounds < ROUNDS:
        rounds += 1
        soonest = dispatch_blocks(t, warps, blocks, work, servers, stalls, settings.dispatch)
        for sp in range(blocks.wake.size):
            if blocks.wake[sp] > t:
                soonest = min(soonest, blocks.wake[sp])
                continue
            slot, later = select_warp(sp, t, warps, blocks, work, memory, pipes, stalls)
            blocks.wake[sp] = t + 1 if slot >= 0 else max(np.ceil(later), t + 1)
            soonest = min(soonest, blocks.wake[sp])
            if slot < 0:
                continue
            blocks.next[Next.TURN] += 1
            warps.order[slot] = blocks.next[Next.TURN]
            place, i = slot // work.warps, warps.now[slot]
            blocks.last[sp] = slot if work.code.stays[i] > 0 else -1
            kind = work.code.kind[i]
            stalls[warps.why[slot], i] += t - warps.mark[slot]
            stalls[StallReason.SELECTED, i] += 1
            record_stall(slot, warps.why[slot], i, warps.mark[slot], t, warps.log)
            record_stall(slot, StallReason.SELECTED, i, t, t + 1, warps.log)
            counts.issued += 1
            done = occupy_pipes(sp, slot, i, t, work, pipes, busy) + work.code.latency[i]
            read, long = t + settings.load_store.register_read_latency, False
            if kind in LOAD_STORE_KINDS:
                done, read, long = serve_memory_instruction(slot, i, t, warps, blocks, work, memory)
            if kind == Kind.CONSTANT_LOAD:
                leave, done = look_up_constants(slot, i, t, warps, work, memory)
                occupy_queue_entry(sp, leave, memory)
            if kind == Kind.SPECIAL_REGISTER:
                leave, done = serve_special_register(t, work.code.latency[i], memory)
                occupy_queue_entry(sp, leave, memory)
            waits, woken = -1, p.NEVER
            if kind == Kind.MBARRIER:
                woken = update_mbarriers(slot, i, t, warps, blocks, work, stalls)
            if kind == Kind.MBARRIER_WAIT:
                waits, done = wait_at_mbarrier(slot, i, t, warps, blocks, work)
                long = True
            if kind in (Kind.BULK_LOAD, Kind.BULK_STORE):
                woken = serve_bulk_copy(slot, i, t, warps, blocks, work, memory, stalls)
            soonest = min(soonest, woken)
            if kind == Kind.COPY_GROUP:
                done, long = warps.copied[slot], True
                warps.groups[slot, warps.grouped[slot] % p.GROUPS] = done
                warps.grouped[slot] += 1
            if kind == Kind.PRODUCT_GROUP:
                warps.product_groups[slot, warps.products[slot] % p.GROUPS] = done
                warps.products[slot] += 1
            for k, freed in ((work.code.write_barrier[i], done), (work.code.read_barrier[i], read)):
                if k >= 0 and freed > warps.board[slot, k]:
                    reason = StallReason.LONG_SCOREBOARD if long else StallReason.SHORT_SCOREBOARD
                    warps.board[slot, k], warps.because[slot, k] = freed, reason
            barrier = barrier_of(slot, i, warps, work)
            over = advance_warp(slot, i, t, warps, work, memory, stalls)
            if waits >= 0 and not over:
                warps.waiting[slot], warps.mark[slot] = p.BLOCK_BARRIERS + waits, t + 1
                warps.base[slot] = p.NEVER
            if kind == Kind.PRODUCT_START and not over:
                soonest = min(soonest, meet_warpgroup(slot, t, warps, blocks, work, stalls))
            arrival = t
            arrives = kind in (Kind.BARRIER, Kind.BARRIER_ARRIVE) and barrier[0] >= 0
            if arrives:
                servers.barriers.free = max(servers.barriers.free, t) + settings.barriers.arrival_cycles
                arrival = servers.barriers.free
                blocks.arrived[place, barrier[0]] += 1
                if kind == Kind.BARRIER and not over:
                    warps.waiting[slot], warps.mark[slot], warps.base[slot] = barrier[0], t + 1, p.NEVER
            if over:
                warps.base[slot], warps.now[slot] = p.NEVER, -1
                blocks.resided[blocks.held[place]] += t + 1 - warps.began[slot]
                blocks.living[place] -= 1
                blocks.seats[sp] += 1
            if over and blocks.living[place] == 0:
                ended[blocks.held[place]] = t + 1
                left -= 1
                record_block_end(place, t, left, blocks, servers, settings.dispatch)
                soonest = min(soonest, np.ceil(blocks.noted[blocks.next[Next.NOTED] - 1]))
            elif over or arrives:
                soonest = min(
                    soonest, release_barriers(place, barrier, arrival, warps, blocks, work, stalls, settings.barriers)
                )
        if soonest >= p.NEVER and left > 0:
            if not release_all(t, warps, blocks):
                left = 0
            soonest = t + 1
        t = max(soonest, t + 1) if soonest < p.NEVER else t + 1
    counts.cycles = max(t, servers.dispatch.reports)
    return t, left

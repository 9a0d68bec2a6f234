"""Warp scheduler: which warp of a sub-partition issues, when its next instruction may, and why it waits.

What it is   four schedulers an SM; each issues one warp instruction a cycle.
Formula      of the eligible warps: the current one if its last instruction asks to stay, else of the oldest block the
             warp that has not issued for longest.  A warp may issue its next instruction after the stall count of the
             last one and when all scoreboards that the instruction waits for are free.
Parameters   SchedulerSettings; stall counts and scoreboards are in the machine code (instruction_table.py).
Evidence     Huerta et al., MICRO 2025, arXiv 2503.20481, for stall counts, scoreboards and the order of warps.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from warplens.model import layout as p
from warplens.model.address_hash import hashed
from warplens.model.layout import QUEUED_KINDS, Kind, StallReason
from warplens.model.sm.block_dispatch import stall_warp
from warplens.model.sm.instruction_cache import enter_line
from warplens.model.sm.pipes import banks_ready, pipe_ready
from warplens.model.sm.shared_memory import next_try
from warplens.model.trace.stall_log import record_stall
from warplens.model.trace.trace_decoder import ENTER, OF_WARP, basic_block, instruction, length
from warplens.simc import compiled

BLOCK_FENCE = 1.0  # defined: latency of a fence within a block (instruction_table.latency)


class SchedulerSettings(NamedTuple):
    """branch_latency: cycles until the target of a branch issues;  full_warps: 1 where divergence is removed"""

    branch_latency: float
    full_warps: float


@compiled
def count_lanes(mask):  # type: ignore[no-untyped-def]
    count = 0
    while mask:
        mask &= mask - np.uint32(1)
        count += 1
    return count


@compiled
def next_block(words, at, stop, full):  # type: ignore[no-untyped-def]
    """Position of a warp's next basic block; `full`: of blocks run by a part of the lanes only as many as full warps
    would need."""
    while at < stop:
        if words[at] >= ENTER and (not full or hashed(at) * 32.0 < count_lanes(words[at + 1])):
            return at
        at += OF_WARP if words[at] >= ENTER else length(words[at])
    return stop


@compiled
def select_warp(sp, t, warps, blocks, work, memory, pipes, stalls):  # type: ignore[no-untyped-def]
    """(the warp that a scheduler issues now or -1, when one may be eligible)."""
    room = memory.queue[sp, memory.head[sp] % memory.queue.shape[1]]
    chosen, first, soonest = -1, np.int64(0), p.NEVER
    for slot in range(sp, warps.base.size, blocks.wake.size):
        if warps.base[slot] > t:
            soonest = min(soonest, warps.base[slot])
            continue
        i = warps.now[slot]
        free, reason = pipe_ready(sp, i, t, work, pipes)
        if work.code.kind[i] in QUEUED_KINDS:
            free = max(free, room)
            reason = StallReason.LG_THROTTLE if work.code.is_global[i] == 1 else StallReason.MIO_THROTTLE
        if free > t:
            soonest = min(soonest, free)
        else:
            reason = StallReason.NOT_SELECTED
            block = blocks.held[slot // work.warps]
            older = block == first and warps.order[slot] < warps.order[chosen]
            if slot == blocks.last[sp] or (chosen != blocks.last[sp] and (block < first or older)) or chosen < 0:
                chosen, first = slot, block
        if warps.why[slot] != reason:
            stalls[warps.why[slot], i] += t - warps.mark[slot]
            record_stall(slot, warps.why[slot], i, warps.mark[slot], t, warps.log)
            warps.mark[slot], warps.why[slot] = t, reason
    if chosen >= 0:
        ready = banks_ready(sp, chosen, warps.now[chosen], t, work, pipes)
        if ready > t:
            blocks.last[sp] = chosen
            stall_for_banks(sp, t, warps, blocks, stalls)
            return -1, ready
    return chosen, soonest


@compiled
def stall_for_banks(sp, t, warps, blocks, stalls):  # type: ignore[no-untyped-def]
    """A scheduler issues nothing: the chosen instruction waits for its registers."""
    for slot in range(sp, warps.base.size, blocks.wake.size):
        if warps.base[slot] <= t and warps.why[slot] == StallReason.NOT_SELECTED:
            stalls[StallReason.NOT_SELECTED, warps.now[slot]] += t - warps.mark[slot]
            record_stall(slot, StallReason.NOT_SELECTED, warps.now[slot], warps.mark[slot], t, warps.log)
            warps.mark[slot], warps.why[slot] = t, StallReason.DISPATCH_STALL


@compiled
def fence_passed(t, latency, drained, l2):  # type: ignore[no-untyped-def]
    """When a warp has passed a fence that it issues at t, and whose stores have left for L2 at `drained`: it first
    waits until L2 has acknowledged them (`fence_after_stores` of measurements/h200/contended.csv: 264 cycles without
    stores, 577 to 608 after 1 to 32)."""
    if latency > BLOCK_FENCE and drained > 0:
        return max(t, drained + l2.latency) + latency
    return t + latency


@compiled
def advance_warp(slot, i, t, warps, work, memory, stalls):  # type: ignore[no-untyped-def]
    """Advance a warp that has issued i: its next instruction and issue time; returns whether it has ended."""
    settings, ready, stalled = memory.settings.scheduler, t + max(work.code.stall[i], 1), StallReason.WAIT
    at, stop = warps.position[slot], warps.stop[slot]
    while at < stop and work.words[at] < ENTER and instruction(work.words[at]) == i:
        at += length(work.words[at])
    warps.position[slot] = at
    if i < warps.until[slot]:
        warps.now[slot] = i + 1
    else:
        at = next_block(work.words, at, stop, settings.full_warps > 0)
        if memory.swaps.failed[slot] > 0:
            at = next_try(slot, at, stop, work.words, memory.swaps)
        if at >= stop:
            return True
        memory.swaps.entered[slot] = at
        entered = basic_block(work.words[at])
        warps.position[slot] = at + OF_WARP
        if work.code.firsts[entered] != i + 1:
            ready, stalled = max(ready, t + settings.branch_latency), StallReason.BRANCH_RESOLVING
        warps.now[slot], warps.until[slot] = work.code.firsts[entered], work.code.lasts[entered]
    following, depth = warps.now[slot], work.code.groups_left[i]
    warps.mark[slot] = t + 1
    stall_warp(slot, following, ready, stalled, warps, stalls)
    line = following // p.CODE_LINE
    if line != i // p.CODE_LINE:
        fetched = enter_line(line, t + 1, memory.servers.code, memory.code, memory.settings.code)
        stall_warp(slot, following, fetched, StallReason.NO_INSTRUCTION, warps, stalls)
    if work.code.kind[i] == Kind.FENCE:
        passed = fence_passed(t, work.code.latency[i], warps.drained[slot], memory.settings.l2)
        stall_warp(slot, following, passed, StallReason.MEMBAR, warps, stalls)
    if work.code.kind[i] == Kind.COPY_WAIT and depth < p.GROUPS and warps.grouped[slot] > depth:
        group = (warps.grouped[slot] - 1 - depth) % p.GROUPS
        stall_warp(slot, following, warps.groups[slot, group], StallReason.LONG_SCOREBOARD, warps, stalls)
    if work.code.kind[i] == Kind.PRODUCT_WAIT and depth < p.GROUPS and warps.products[slot] > depth:
        group = (warps.products[slot] - 1 - depth) % p.GROUPS
        stall_warp(slot, following, warps.product_groups[slot, group], StallReason.GMMA, warps, stalls)
    free, reason = 0.0, StallReason.SHORT_SCOREBOARD
    for k in range(p.SCOREBOARDS):
        if work.code.wait_mask[following] >> k & 1 and warps.board[slot, k] > free:
            free, reason = warps.board[slot, k], warps.because[slot, k]
    stall_warp(slot, following, free, reason, warps, stalls)
    if work.code.kind[following] == Kind.EXIT:
        stall_warp(slot, following, warps.drained[slot], StallReason.DRAIN, warps, stalls)
    warps.base[slot], warps.why[slot] = warps.mark[slot], StallReason.NOT_SELECTED
    return False

"""One multiprocessor, cycle by cycle: compiled, no Python inside.  F5.

What each warp issues is known beforehand (emulator/trace/warp_trace.py), and when it may issue is what the compiler
wrote into
the instruction: a stall count, scoreboards to wait for, scoreboards that it sets (Huerta et al., MICRO 2025, arXiv
2503.20481).  Four schedulers issue one warp instruction a cycle each: of the block that came first, the warp that has
not issued for longest.
Pipes take a new instruction every so many cycles (pipes.py); memory instructions queue up for the one load/store unit
(load_store_unit.py).

Only numpy arrays and numbers go in and out: layout.py, instruction_table.py, warp_streams.py and memory_supply.py
say what is in them.
"""

from __future__ import annotations

import numpy as np

from warplens.emulator.state.trace_format import SHARED
from warplens.model import layout as p
from warplens.model.address_hash import hashed
from warplens.model.instruction.sm_resources import SmResources
from warplens.model.sm import l2_partial_sectors
from warplens.model.sm.activity import History
from warplens.model.sm.block_dispatch import NOTED, TURN, come, note_end, start, wait
from warplens.model.sm.constant_cache import BANKS, LINES, LINES_OF_BANK, looked_up, told
from warplens.model.sm.l1_cache import sets_of
from warplens.model.sm.l1_store_queue import nothing_stored
from warplens.model.sm.l2_share import ALL_PLACES, book_of
from warplens.model.sm.load_store_unit import served
from warplens.model.sm.pipes import free_from, idle, read_from, serve
from warplens.model.sm.sm_state import Array, Blocks, Memory, SmWork, Warps
from warplens.model.trace.trace_decoder import ENTER, OF_WARP, basic_block, instruction, length, space
from warplens.simc import compiled


@compiled
def lanes_of(mask):  # type: ignore[no-untyped-def]
    count = 0
    while mask:
        mask &= mask - np.uint32(1)
        count += 1
    return count


@compiled
def next_block(words, at, stop, full):  # type: ignore[no-untyped-def]
    """Where the next basic block of a warp is entered; `full`: of those that a part of the lanes runs only so many as
    full warps would need."""
    while at < stop:
        if words[at] >= ENTER and (not full or hashed(at) * 32.0 < lanes_of(words[at + 1])):
            return at
        at += OF_WARP if words[at] >= ENTER else length(words[at])
    return stop


@compiled
def pick(sp, t, warps, blocks, work, memory, pipes, stalls):  # type: ignore[no-untyped-def]
    """(the warp that a scheduler issues now or -1, when one may be able to)."""
    room = memory.queue[sp, memory.head[sp] % memory.queue.shape[1]]
    chosen, first, soonest = -1, np.int64(0), p.NEVER
    for slot in range(sp, warps.base.size, blocks.wake.size):
        if warps.base[slot] > t:
            soonest = min(soonest, warps.base[slot])
            continue
        i = warps.now[slot]
        free, reason = free_from(sp, i, t, work, pipes)
        if work.rows[i, p.KIND] in (p.LOAD, p.STORE, p.ATOMIC, p.REDUCE, p.COPY, p.EXCHANGE, p.TABLE, p.TELL):
            free = max(free, room)
            reason = p.LG if work.rows[i, p.NEED] == 1 else p.MIO
        if free > t:
            soonest = min(soonest, free)
        else:
            reason = p.NOT_SELECTED
            block = blocks.held[slot // work.warps]
            older = block == first and warps.order[slot] < warps.order[chosen]
            if slot == blocks.last[sp] or (chosen != blocks.last[sp] and (block < first or older)) or chosen < 0:
                chosen, first = slot, block
        if warps.why[slot] != reason:
            stalls[warps.why[slot], i] += t - warps.mark[slot]
            warps.mark[slot], warps.why[slot] = t, reason
    if chosen >= 0:
        ready = read_from(sp, chosen, warps.now[chosen], t, work, pipes)
        if ready > t:
            blocks.last[sp] = chosen
            hold(sp, t, warps, blocks, stalls)
            return -1, ready
    return chosen, soonest


@compiled
def hold(sp, t, warps, blocks, stalls):  # type: ignore[no-untyped-def]
    """A scheduler issues nothing: what it has chosen waits for its registers."""
    for slot in range(sp, warps.base.size, blocks.wake.size):
        if warps.base[slot] <= t and warps.why[slot] == p.NOT_SELECTED:
            stalls[p.NOT_SELECTED, warps.now[slot]] += t - warps.mark[slot]
            warps.mark[slot], warps.why[slot] = t, p.DISPATCH


@compiled
def queue_up(sp, leave, memory):  # type: ignore[no-untyped-def]
    """A memory instruction takes a place in the queue of its sub-partition until it leaves."""
    memory.queue[sp, memory.head[sp] % memory.queue.shape[1]] = leave
    memory.head[sp] += 1


@compiled
def access(slot, i, t, warps, blocks, work, memory, counts, s, supply):  # type: ignore[no-untyped-def]
    """A memory instruction: (when its result is there, when its registers are read, whether the wait is a long one)."""
    sp, kind, at = slot % blocks.wake.size, work.rows[i, p.KIND], warps.position[slot]
    done, read, leave, long = t + work.lats[i], t + s[p.LAT_STORE], t + 1, False
    memory.cache[7].last[sp] = 0
    if kind == p.EXCHANGE:
        leave = max(t + 1.0, memory.issue_free[sp])
        memory.issue_free[sp] = leave + s[p.LSU_ISSUE]
        leave = max(leave, memory.servers[p.LSU])
        memory.servers[p.LSU] = max(memory.servers[p.LSU], t + 1.0) + 1
        done = leave + work.lats[i]
    while at < warps.stop[slot] and work.words[at] < ENTER and instruction(work.words[at]) == i:
        out, come, got = served(
            i, t, sp, kind, work.words, at, blocks.wave[slot // work.warps], slot, work.rows[i, p.BYTES],
            work.rows[i, p.OTHER] > 0, memory, counts, s, supply,
        )  # fmt: skip
        leave, done, read = max(leave, out), max(done, come), max(read, got)
        long = long or space(work.words[at]) != SHARED
        at += length(work.words[at])
    warps.position[slot] = at
    queue_up(sp, leave, memory)
    if kind in (p.STORE, p.REDUCE) and long:
        warps.drained[slot] = memory.servers[p.L2_IN if kind == p.STORE else p.LSU]
    if kind == p.COPY:
        warps.copied[slot] = max(warps.copied[slot], done)
    return done, read, long


@compiled
def proceed(slot, i, t, warps, work, seen, stalls, s):  # type: ignore[no-untyped-def]
    """A warp has issued i: what it issues next, and when it may; whether it has ended."""
    ready, stalled = t + max(work.rows[i, p.STALL], 1), p.WAIT
    at, stop = warps.position[slot], warps.stop[slot]
    while at < stop and work.words[at] < ENTER and instruction(work.words[at]) == i:
        at += length(work.words[at])
    warps.position[slot] = at
    if i < warps.until[slot]:
        warps.now[slot] = i + 1
    else:
        at = next_block(work.words, at, stop, s[p.FULL_WARPS] > 0)
        if at >= stop:
            return True
        entered = basic_block(work.words[at])
        warps.position[slot] = at + OF_WARP
        if work.firsts[entered] != i + 1:
            ready, stalled = max(ready, t + s[p.LAT_BRANCH]), p.BRANCHING
        warps.now[slot], warps.until[slot] = work.firsts[entered], work.lasts[entered]
    following, depth = warps.now[slot], work.rows[i, p.DEPTH]
    warps.mark[slot] = t + 1
    wait(slot, following, ready, stalled, warps, stalls)
    line = following // p.CODE_LINE
    if s[p.LAT_CODE] > 0 and seen[line] == 0:
        seen[line] = 1
        if line > 0:
            wait(slot, following, t + s[p.LAT_CODE], p.NO_INSTRUCTION, warps, stalls)
    if work.rows[i, p.KIND] == p.FENCE:
        wait(slot, following, t + work.lats[i], p.MEMBAR, warps, stalls)
    if work.rows[i, p.KIND] == p.GROUP_WAIT and depth < p.GROUPS and warps.grouped[slot] > depth:
        wait(slot, following, warps.groups[slot, (warps.grouped[slot] - 1 - depth) % p.GROUPS], p.LONG, warps, stalls)
    free, reason = 0.0, p.SHORT
    for k in range(p.SCOREBOARDS):
        if work.rows[following, p.WAITS] >> k & 1 and warps.board[slot, k] > free:
            free, reason = warps.board[slot, k], warps.because[slot, k]
    wait(slot, following, free, reason, warps, stalls)
    if work.rows[following, p.KIND] == p.END:
        wait(slot, following, warps.drained[slot], p.DRAINING, warps, stalls)
    warps.base[slot], warps.why[slot] = warps.mark[slot], p.NOT_SELECTED
    return False


@compiled
def release(place, i, arrival, warps, blocks, work, stalls, s):  # type: ignore[no-untyped-def]
    """Barriers at which all have arrived let their warps go; when the first of them may issue."""
    soonest = p.NEVER
    for n in range(p.BLOCK_BARRIERS):
        need = blocks.living[place]
        if n == work.rows[i, p.NUMBER] and work.rows[i, p.DEPTH] > 0:
            need = work.rows[i, p.DEPTH]
        if blocks.arrived[place, n] == 0 or blocks.arrived[place, n] < need:
            continue
        blocks.arrived[place, n] = 0
        for slot in range(place * work.warps, (place + 1) * work.warps):
            if warps.waiting[slot] != n:
                continue
            warps.waiting[slot] = -1
            freed, following = arrival + s[p.LAT_BARRIER], warps.now[slot]
            stalls[p.AT_BARRIER, following] += max(freed - warps.mark[slot], 0.0)
            warps.mark[slot] = warps.base[slot] = freed
            for k in range(p.SCOREBOARDS):
                if work.rows[following, p.WAITS] >> k & 1:
                    warps.base[slot] = max(warps.base[slot], warps.board[slot, k])
            sp = slot % blocks.wake.size
            blocks.wake[sp] = min(blocks.wake[sp], warps.base[slot])
            soonest = min(soonest, warps.base[slot])
    return soonest


@compiled
def go_on(t, warps, blocks):  # type: ignore[no-untyped-def]
    """Nobody can: barriers that wait for lanes of the same warp.  All go on; whether there were any."""
    any_waits = False
    for slot in range(warps.waiting.size):
        if warps.waiting[slot] >= 0:
            warps.waiting[slot] = -1
            warps.base[slot] = warps.mark[slot] = t + 1
            blocks.wake[slot % blocks.wake.size] = t + 1
            any_waits = True
    blocks.arrived[:, :] = 0
    return any_waits


def _nothing_asked(words: int) -> Array:
    """For l2_share.asked_before; a word of a record asks for two places at the most."""
    return np.zeros(min(1 << (3 * words).bit_length(), ALL_PLACES), np.uint32)


def simulate(
    words: Array,
    starts: Array,
    ends: Array,
    per_block: int,
    room: SmResources,
    code: Array,
    cycles: Array,
    lats: Array,
    firsts: Array,
    lasts: Array,
    s: Array,
    supply: tuple[Array, ...],
    lines: tuple[int, ...],
    asked: tuple[Array, Array],
) -> tuple[Array, Array, History, Array]:
    """Runs blocks one after the other, so many resident at a time; block b has the warps b * per_block and following.

    lines   of L1, and of the multiprocessor's share of L2
    asked   when other multiprocessors have asked for lines first, and where this one's times go (load_store_unit.py)

    (counts, cycles by (reason, instruction), history of the blocks, cycles that each pipe was busy)
    """
    number, slots, parts = starts.size // per_block, room.places * per_block, room.sub_partitions
    counts, busy, ended = np.zeros(p.COUNTS), np.zeros(p.PIPES), np.zeros(number)
    stalls = np.zeros((len(p.REASONS), code.shape[0]))
    l1 = sets_of(lines[0]) * p.WAYS
    cache = (
        np.full(l1, -1, np.int64), np.zeros(l1), np.zeros(l1, np.int64), np.zeros(4 * l1),
        _nothing_asked(int((ends - starts).sum())), *asked, nothing_stored(l1, slots, int(s[p.STORE_LINES]), parts),
        book_of(lines[1], int((ends - starts).sum())),
        l2_partial_sectors.book_of(lines[2], lines[3], int((ends - starts).sum())),
    )  # fmt: skip
    work = SmWork(words, starts, ends, per_block, code, cycles, lats, firsts, lasts)
    held = BANKS * LINES_OF_BANK
    constants = np.full(LINES, -1, np.int64), np.zeros(LINES), np.full(held, -p.NEVER), np.zeros(held, np.uint8)
    memory = Memory(
        cache, constants, np.zeros(int(s[p.IN_FLIGHT])), np.zeros(int(s[p.UPDATES_IN_FLIGHT])), np.zeros(p.SERVERS),
        np.zeros(parts), np.zeros((parts, int(s[p.QUEUE]))), np.zeros(parts, np.int64),
    )  # fmt: skip
    warps = Warps(
        np.zeros(slots, np.int64), np.zeros(slots, np.int64), np.full(slots, -1, np.int64), np.zeros(slots, np.int64),
        np.full(slots, p.NEVER), np.zeros(slots), np.zeros(slots, np.int64), np.zeros(slots, np.int64),
        np.full(slots, -1, np.int64), np.zeros(slots), np.zeros((slots, p.SCOREBOARDS)),
        np.zeros((slots, p.SCOREBOARDS), np.int64), np.zeros((slots, p.GROUPS)), np.zeros(slots, np.int64),
        np.zeros(slots), np.zeros(slots),
    )  # fmt: skip
    blocks = Blocks(
        room.resident, np.full(parts, room.seats),
        np.full(room.places, -1, np.int64), np.zeros(room.places, np.int64), np.zeros(room.places, np.int64),
        np.zeros((room.places, p.BLOCK_BARRIERS), np.int64), np.zeros(parts),
        np.full(parts, -1), np.zeros(4, np.int64),
        np.full(1, s[p.FIRST_PLACED]), np.zeros(number), np.zeros(number), np.zeros(number),
    )  # fmt: skip
    seen = np.zeros(code.shape[0] // p.CODE_LINE + 1, np.int64)  # code that has been fetched
    _run(warps, blocks, work, memory, idle(parts), seen, counts, stalls, ended, busy, s, supply)
    history = History(blocks.began, ended, blocks.resided, float(memory.servers[p.REPORTS]))
    return counts, stalls, history, busy


@compiled
def _run(warps, blocks, work, memory, pipes, seen, counts, stalls, ended, busy, s, supply):  # type: ignore[no-untyped-def]
    left, t = ended.size, 0.0
    for place in range(min(blocks.resident, ended.size)):
        start(place, blocks.may_start[0], warps, blocks, work, stalls, s)
    while left > 0:
        soonest = come(t, warps, blocks, work, memory.servers, stalls, s)
        for sp in range(blocks.wake.size):
            if blocks.wake[sp] > t:
                soonest = min(soonest, blocks.wake[sp])
                continue
            slot, later = pick(sp, t, warps, blocks, work, memory, pipes, stalls)
            blocks.wake[sp] = t + 1 if slot >= 0 else max(np.ceil(later), t + 1)
            soonest = min(soonest, blocks.wake[sp])
            if slot < 0:
                continue
            blocks.next[TURN] += 1
            warps.order[slot] = blocks.next[TURN]
            place, i = slot // work.warps, warps.now[slot]
            blocks.last[sp] = slot if work.rows[i, p.STAYS] > 0 else -1
            kind = work.rows[i, p.KIND]
            stalls[warps.why[slot], i] += t - warps.mark[slot]
            stalls[p.SELECTED, i] += 1
            counts[p.ISSUED] += 1
            serve(sp, slot, i, t, work, pipes, busy)
            done, read, long = t + work.lats[i], t + s[p.LAT_STORE], False
            if kind in (p.LOAD, p.STORE, p.ATOMIC, p.REDUCE, p.COPY, p.EXCHANGE):
                done, read, long = access(slot, i, t, warps, blocks, work, memory, counts, s, supply)
            if kind == p.TABLE:
                leave, done = looked_up(slot, i, t, warps, work, memory, s)
                queue_up(sp, leave, memory)
            if kind == p.TELL:
                leave, done = told(t, work.lats[i], memory, s)
                queue_up(sp, leave, memory)
            if kind == p.GROUP:
                done, long = warps.copied[slot], True
                warps.groups[slot, warps.grouped[slot] % p.GROUPS] = done
                warps.grouped[slot] += 1
            for k, freed in ((work.rows[i, p.SETS], done), (work.rows[i, p.FREES], read)):
                if k >= 0 and freed > warps.board[slot, k]:
                    warps.board[slot, k], warps.because[slot, k] = freed, p.LONG if long else p.SHORT
            over = proceed(slot, i, t, warps, work, seen, stalls, s)
            arrival = t
            if kind in (p.BARRIER, p.ARRIVE):
                memory.servers[p.BARRIERS] = max(memory.servers[p.BARRIERS], t) + s[p.BARRIER_CYCLES]
                arrival = memory.servers[p.BARRIERS]
                blocks.arrived[place, work.rows[i, p.NUMBER]] += 1
                if kind == p.BARRIER and not over:
                    warps.waiting[slot], warps.mark[slot], warps.base[slot] = work.rows[i, p.NUMBER], t + 1, p.NEVER
            if over:
                warps.base[slot], warps.now[slot] = p.NEVER, -1
                blocks.resided[blocks.held[place]] += t + 1 - warps.began[slot]
                blocks.living[place] -= 1
                blocks.seats[sp] += 1
            if over and blocks.living[place] == 0:
                ended[blocks.held[place]] = t + 1
                left -= 1
                note_end(place, t, left, blocks, memory, s)
                soonest = min(soonest, np.ceil(blocks.noted[blocks.next[NOTED] - 1]))
            elif over or kind in (p.BARRIER, p.ARRIVE):
                soonest = min(soonest, release(place, i, arrival, warps, blocks, work, stalls, s))
        if soonest >= p.NEVER and left > 0:
            if not go_on(t, warps, blocks):
                break
            soonest = t + 1
        t = max(soonest, t + 1) if soonest < p.NEVER else t + 1
    counts[p.CYCLES] = max(t, memory.servers[p.REPORTS])

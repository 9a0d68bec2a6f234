"""One multiprocessor, cycle by cycle: compiled, no Python inside.  F5.

What each warp issues is known beforehand (emulator/streams.py), and when it may issue is what the compiler wrote into
the instruction: a stall count, scoreboards to wait for, scoreboards that it sets (Huerta et al., MICRO 2025, arXiv
2503.20481).  Four schedulers issue one warp instruction a cycle each, of the warp that has not issued for longest.
Pipes take a new instruction every so many cycles; memory instructions queue up for the one load/store unit, whose
accesses go to a sectored L1 with their real addresses, and from there to L2 and DRAM, of whose bandwidth the
multiprocessor has its share.  Results of loads come in the order in which they were asked for.

Only numpy arrays and numbers go in and out: machine_code.py, by_warp.py and supply.py say what stands in them.
"""
# numba has no types for mypy.
# mypy: disable-error-code="untyped-decorator,misc"

from __future__ import annotations

import numpy as np
from numba import njit

from warplens.model.hashing import hashed

# Kinds of instruction
(FIXED, VARIABLE, LOAD, STORE, ATOMIC, REDUCE, COPY, GROUP, GROUP_WAIT, BARRIER, ARRIVE, FENCE, EXCHANGE) = range(13)
# Columns of the code
(STALL, SETS, FREES, WAITS, PIPE, KIND, BYTES, DEPTH, NUMBER, NEED) = range(10)
COLUMNS = 10
# Why a warp does not issue, in Nsight Compute's words
REASONS = (
    "selected", "wait", "long_scoreboard", "short_scoreboard", "barrier", "math_pipe_throttle", "lg_throttle",
    "mio_throttle", "not_selected", "branch_resolving", "no_instruction", "membar",
)  # fmt: skip
(SELECTED, WAIT, LONG, SHORT, AT_BARRIER, MATH, LG, MIO, NOT_SELECTED, BRANCHING, NO_INSTRUCTION, MEMBAR) = range(12)
# Settings, by place
(
    QUEUE, LSU_ISSUE, GLOBAL_REQUEST, SHARED_REQUEST, IN_FLIGHT, L2_PORT, L2_READ, L2_WRITE, DRAM_READ, DRAM_WRITE,
    LAT_SHARED, LAT_L1, LAT_L2, LAT_DRAM, LAT_SHARED_ATOMIC, LAT_ATOMIC, LAT_BARRIER, LAT_BRANCH, LAT_STORE, LAT_FENCE,
    LAT_CODE, ATOMIC_WORD, ATOMIC_SECTOR, FIRST_BLOCK, BLOCK_START, BLOCK_END, L1_BYTES, IDEAL_ACCESS, IDEAL_BANKS,
    BARRIER_CYCLES, ATOMIC_SHARE, MISS_REQUEST, WARP_START, STORE_SLACK,
    DRAM_SPREAD, DRAM_TURN, FULL_WARPS, LINE_READ, LINE_WRITE,
    HIT_ORDER,
) = range(40)  # fmt: skip
SETTINGS = 40
# What is counted
(
    CYCLES, ISSUED, ACTIVE, L1_SECTORS, L1_HITS, L2_READS, L2_WRITES, DRAM_SECTORS, LSU_BUSY, LAST_STORE,
) = range(10)  # fmt: skip
COUNTS = 10
SUBPARTITIONS = 4
WAYS = 16
NEVER = 1e18
ENTER = np.uint32(1 << 31)
LOCAL_BASE = 1 << 33  # numbers of lines of local memory, behind all others


@njit(cache=True)
def lanes_of(mask):  # type: ignore[no-untyped-def]
    count = 0
    while mask:
        mask &= mask - np.uint32(1)
        count += 1
    return count


@njit(cache=True)
def next_block(words, at, stop, full):  # type: ignore[no-untyped-def]
    """Where the next basic block of a warp is entered; `full`: of those that a part of the lanes runs only so many as
    full warps would need."""
    while at < stop:
        if words[at] >= ENTER and (not full or hashed(at) * 32.0 < lanes_of(words[at + 1])):
            return at
        at += 2 if words[at] >= ENTER else 2 + (int(words[at] >> np.uint32(20)) & 0xFF)
    return stop


@njit(cache=True)
def find(tags, stamps, sets, line):  # type: ignore[no-untyped-def]
    """(entry, whether the line is there); else the entry that has not been used for longest."""
    first = (line % sets) * WAYS
    oldest = first
    for entry in range(first, first + WAYS):
        if tags[entry] == line:
            return entry, True
        if stamps[entry] < stamps[oldest]:
            oldest = entry
    return oldest, False


@njit(cache=True)
def below(line, start, lows, highs, latency, weight):  # type: ignore[no-untyped-def]
    """(whether the line comes from DRAM, what share of a sector DRAM then spends on it)."""
    sector = line * 4
    for n in range(lows.size):
        if lows[n] <= sector + 3 and sector < highs[n]:
            wave = min(start, latency.shape[1] - 1)
            return hashed(line) < latency[n, wave], weight[n, wave]
    return False, 0.0


@njit(cache=True)
def fetch(line, mask, request, wave, cache, flight, servers, counts, s, supply):  # type: ignore[no-untyped-def]
    """The sectors `mask` of one line, asked for at `request`: when the last of them is there."""
    tags, stamps, valid, fill, known = cache
    lows, highs, latency, weight, _ = supply
    sets = tags.size // WAYS
    entry, there = find(tags, stamps, sets, line)
    if not there:
        tags[entry], valid[entry] = line, 0
    servers[7] += 1
    stamps[entry] = servers[7]
    ready = request + s[LAT_L1]
    missing = 0
    for k in range(4):
        if mask >> k & 1:
            counts[L1_SECTORS] += 1
            if valid[entry] >> k & 1:
                counts[L1_HITS] += 1
                ready = max(ready, fill[4 * entry + k])
            else:
                missing += 1
    if missing == 0:
        return ready
    pairs = 0
    for half in (0, 2):
        if (mask >> half & 1 and not valid[entry] >> half & 1) or (mask >> half & 2 and not valid[entry] >> half & 2):
            pairs += 1
    at = request
    for _ in range(missing):  # room for each among those that are waited for
        place = int(servers[8]) % flight.size
        at = max(at, flight[place])
        servers[8] += 1
    far, share = False, 0.0
    if line < LOCAL_BASE:
        # What this multiprocessor has asked for before is in L2: a bit for each line, seldom one for two.
        place = int(hashed(line + 5) * 16777216.0) + 16777216 * int(hashed(line + 9) * 8.0)
        if not known[place >> 3] >> (place & 7) & 1:
            known[place >> 3] |= np.uint8(1 << (place & 7))
            far, share = below(line, wave, lows, highs, latency, weight)
    size = 32.0 * missing
    servers[1] = max(servers[1], at) + size / s[L2_PORT]
    servers[2] = max(servers[2], at) + max(size / s[L2_READ], s[LINE_READ])
    waited = max(servers[1], servers[2]) - at
    counts[L2_READS] += missing
    if share > 0:
        # DRAM gives 64 bytes at a time.
        moved = 2 * share * pairs
        servers[3] = max(servers[3], at) + 32.0 * moved / s[DRAM_READ]
        servers[10] += 32.0 * moved / s[DRAM_READ]
        counts[DRAM_SECTORS] += moved
    late = s[LAT_L2]
    if far:
        waited = max(waited, servers[3] - at)
        late = s[LAT_DRAM] - s[DRAM_SPREAD] * (1.0 + np.log(hashed(line + 1) + 0.001))
        # Reads wait while DRAM writes, the longer the busier it is.
        work = servers[10] + servers[11]
        busy = min(work / max(servers[3], 1.0), 0.75)
        if work > 0:
            late += s[DRAM_TURN] * servers[11] / work * busy / (1.0 - busy)
    come = at + waited + late
    for n in range(missing):
        flight[(int(servers[8]) - 1 - n) % flight.size] = come
    for k in range(4):
        if mask >> k & 1 and not valid[entry] >> k & 1:
            valid[entry] |= 1 << k
            fill[4 * entry + k] = come
    # A full list of those that are waited for keeps the next access from being served.
    servers[0] = max(servers[0], at)
    return max(ready, come)


@njit(cache=True)
def put(line, mask, request, cache, servers, counts, s, supply):  # type: ignore[no-untyped-def]
    """Stored sectors of one line: L1 writes through, what of it stays in L2 costs DRAM nothing."""
    tags, stamps, valid, fill, _ = cache
    lows, highs, _, _, stored = supply
    number = (mask & 1) + (mask >> 1 & 1) + (mask >> 2 & 1) + (mask >> 3 & 1)
    # What is stored is kept in L1 as well (an H200 counts a second store to a sector as a hit there).
    entry, there = find(tags, stamps, tags.size // WAYS, line)
    if not there:
        tags[entry], valid[entry] = line, 0
    servers[7] += 1
    stamps[entry] = servers[7]
    for k in range(4):
        if mask >> k & 1:
            if valid[entry] >> k & 1:
                counts[L1_HITS] += 1
            else:
                valid[entry] |= 1 << k
                fill[4 * entry + k] = request
    if line >= LOCAL_BASE:
        return
    size = 32.0 * number
    counts[L2_WRITES] += number
    servers[4] = max(servers[4], request) + max(size / s[L2_WRITE], s[LINE_WRITE])
    for n in range(lows.size):
        if lows[n] <= 4 * line + 3 and 4 * line < highs[n]:
            if stored[n] > 0:
                servers[3] = max(servers[3], request) + stored[n] * size / s[DRAM_WRITE]
                servers[11] += stored[n] * size / s[DRAM_WRITE]
            break
    # Stores wait in a queue of their own; when that is long, accesses behind them wait.
    servers[0] = max(servers[0], max(servers[4], servers[3]) - s[STORE_SLACK])


@njit(cache=True)
def served(t, sp, kind, words, at, block_wave, slot, size, cache, flight, servers, issue_free, counts, s, supply):  # type: ignore[no-untyped-def]
    """One access: (when it leaves the queue, when its result is there, when its registers are read)."""
    head, second = words[at], words[at + 1]
    sectors = int(head >> np.uint32(20)) & 0xFF
    space = int(head >> np.uint32(28)) & 3
    waves, lanes = float(second & np.uint32(0xFF)), float(second >> np.uint32(8) & np.uint32(0x3F))
    distinct = float(second >> np.uint32(14) & np.uint32(0x3F))
    ideal = max(1.0, np.ceil(lanes * max(size, 4) / 128.0))
    # One access a sub-partition every few cycles; the unit itself works without gaps on what all four hand it.
    begin = max(t + 1.0, issue_free[sp])
    issue_free[sp] = begin + s[LSU_ISSUE]
    begin = max(begin, servers[0])
    free = max(servers[0], t + 1.0)
    if space == 1:
        if s[IDEAL_BANKS] > 0:
            waves = min(waves, ideal)
        cost = max(waves, s[SHARED_REQUEST])
        if kind in (ATOMIC, REDUCE):
            cost = max(cost, waves)
        servers[0] = free + cost
        counts[LSU_BUSY] += cost
        late = s[LAT_SHARED_ATOMIC] if kind == ATOMIC else s[LAT_SHARED]
        return begin, begin + late + cost - 1, begin + s[LAT_STORE]
    if sectors == 0:
        servers[0] = free + 1
        return begin, begin + s[LAT_L1], begin + s[LAT_STORE]
    if s[IDEAL_ACCESS] > 0:
        sectors = min(sectors, int(np.ceil(lanes * size / 32.0)))
        waves = min(waves, ideal)
    # Lines in order of appearance; sectors of one line mostly stand together.
    lines = 0
    done = begin + s[LAT_L1]
    position = at + 2
    last = at + 2 + sectors
    shift = LOCAL_BASE + slot * 65536 if space == 2 else 0
    asked = counts[L2_READS]
    moved = asked + counts[L2_WRITES]
    while position < last:
        line = (int(words[position]) >> 2) + shift
        mask = 0
        while position < last and (int(words[position]) >> 2) + shift == line:
            mask |= 1 << (int(words[position]) & 3)
            position += 1
        lines += 1
        request = begin + lines // 4
        if kind in (LOAD, COPY):
            done = max(done, fetch(line, mask, request, block_wave, cache, flight, servers, counts, s, supply))
        elif kind == STORE:
            put(line, mask, request, cache, servers, counts, s, supply)
    cost = max(max(waves, np.ceil(lines / 4.0)), s[GLOBAL_REQUEST])
    if counts[L2_READS] + counts[L2_WRITES] > moved:
        cost = max(cost, s[MISS_REQUEST])
    cost = max(cost, sectors * 32.0 / s[L1_BYTES])
    if kind in (ATOMIC, REDUCE):
        # Lanes on one word one after the other, words of a sector at once.
        alike = lanes / max(distinct, 1.0)
        time = s[ATOMIC_SHARE] * max(sectors * s[ATOMIC_SECTOR], sectors * alike * s[ATOMIC_WORD])
        servers[5] = max(servers[5], begin) + time
        done = servers[5] + s[LAT_ATOMIC]
        servers[0] = max(servers[0], servers[5] - s[STORE_SLACK])
    servers[0] = max(servers[0], free + cost)
    counts[LSU_BUSY] += cost
    counts[LAST_STORE] = max(counts[LAST_STORE], max(servers[4], max(servers[5], servers[3])))
    if kind not in (STORE, REDUCE):
        # Results come in the order in which they were asked for, those of hits not quite.
        done += waves - 1
        if kind in (LOAD, COPY) and counts[L2_READS] == asked:
            done += s[HIT_ORDER] * max(servers[9] - done, 0.0)
        else:
            servers[9] = max(servers[9], done)
            done = servers[9]
    return begin, done, begin + s[LAT_STORE]


@njit(cache=True)
def simulate(words, starts, ends, warps, resident, code, cycles, lats, firsts, lasts, s, supply, l1_lines):  # type: ignore[no-untyped-def]
    """Runs blocks one after the other, so many resident at a time; block b has the warps b * warps and following.

    (counts, cycles by (reason, instruction), cycle in which each block ended, cycles that each pipe was busy)
    """
    blocks = starts.size // warps
    slots = resident * warps
    pipes = 16
    counts = np.zeros(COUNTS)
    stalls = np.zeros((len(REASONS), code.shape[0]))
    busy = np.zeros(pipes)
    ended = np.zeros(blocks)
    sets = max(l1_lines // WAYS, 1)
    cache = (
        np.full(sets * WAYS, -1, np.int64), np.zeros(sets * WAYS), np.zeros(sets * WAYS, np.int64),
        np.zeros(4 * sets * WAYS), np.zeros(1 << 24, np.uint8),
    )  # fmt: skip
    flight = np.zeros(int(s[IN_FLIGHT]))
    # lsu, port from L2, share of L2, share of DRAM, stores to L2, atomics, barriers, clock of L1, those in flight,
    # last result, what DRAM has read and written
    servers = np.zeros(12)
    issue_free = np.zeros(SUBPARTITIONS)
    queue = np.zeros((SUBPARTITIONS, int(s[QUEUE])))
    queue_head = np.zeros(SUBPARTITIONS, np.int64)
    pipe_free = np.zeros((SUBPARTITIONS, pipes))
    position = np.zeros(slots, np.int64)
    stop = np.zeros(slots, np.int64)
    now = np.full(slots, -1, np.int64)  # instruction to issue next
    until = np.zeros(slots, np.int64)  # last one of its basic block
    base = np.full(slots, NEVER)
    mark = np.zeros(slots)
    why = np.zeros(slots, np.int64)
    order = np.zeros(slots, np.int64)
    board = np.zeros((slots, 6))
    board_why = np.zeros((slots, 6), np.int64)
    groups = np.zeros((slots, 8))
    group_count = np.zeros(slots, np.int64)
    copied = np.zeros(slots)
    waiting = np.full(slots, -1, np.int64)  # for which barrier
    arrived = np.zeros((resident, 16), np.int64)
    living = np.zeros(resident, np.int64)
    held = np.full(resident, -1, np.int64)  # which block a place holds
    began = np.zeros(slots)
    seen = np.zeros((code.shape[0] + 7) // 8, np.int64)  # code that has been fetched
    wave = np.zeros(resident, np.int64)
    wake = np.zeros(SUBPARTITIONS)
    upcoming = 0
    may_start = s[FIRST_BLOCK]
    sequence = 0
    left = blocks
    t = 0.0
    for place in range(min(resident, blocks)):
        started = may_start
        may_start = started + max(s[BLOCK_START], warps * s[WARP_START])
        held[place], wave[place] = upcoming, upcoming // resident
        living[place] = 0
        for w in range(warps):
            slot = place * warps + w
            n = upcoming * warps + w
            position[slot], stop[slot] = starts[n], ends[n]
            sequence += 1
            order[slot] = sequence
            if starts[n] < ends[n]:
                number = int(words[starts[n]] & np.uint32(0xFFFFFF))
                position[slot] += 2
                now[slot], until[slot] = firsts[number], lasts[number]
                begins = started + w * s[WARP_START]
                base[slot], mark[slot], why[slot], began[slot] = begins, begins, NOT_SELECTED, started
                living[place] += 1
        upcoming += 1
    while left > 0:
        soonest = NEVER
        for sp in range(SUBPARTITIONS):
            if wake[sp] > t:
                soonest = min(soonest, wake[sp])
                continue
            chosen, chosen_order, next_wake = -1, -1, NEVER
            for slot in range(sp, slots, SUBPARTITIONS):
                if base[slot] > t:
                    next_wake = min(next_wake, base[slot])
                    continue
                i = now[slot]
                pipe = code[i, PIPE]
                free = pipe_free[sp, pipe]
                reason = MATH
                kind = code[i, KIND]
                if kind in (LOAD, STORE, ATOMIC, REDUCE, COPY, EXCHANGE):
                    room = queue[sp, queue_head[sp] % queue.shape[1]]
                    if room > free:
                        free = room
                    reason = LG if code[i, NEED] == 1 else MIO
                if free > t:
                    next_wake = min(next_wake, free)
                    if why[slot] != reason:
                        stalls[why[slot], i] += t - mark[slot]
                        mark[slot], why[slot] = t, reason
                    continue
                if why[slot] != NOT_SELECTED:
                    stalls[why[slot], i] += t - mark[slot]
                    mark[slot], why[slot] = t, NOT_SELECTED
                if chosen < 0 or order[slot] < chosen_order:
                    chosen, chosen_order = slot, order[slot]
            if chosen < 0:
                wake[sp] = max(np.ceil(next_wake), t + 1)
                soonest = min(soonest, wake[sp])
                continue
            wake[sp] = t + 1
            soonest = min(soonest, t + 1)
            slot = chosen
            sequence += 1
            order[slot] = sequence
            place = slot // warps
            i = now[slot]
            stalls[why[slot], i] += t - mark[slot]
            stalls[SELECTED, i] += 1
            counts[ISSUED] += 1
            pipe, kind = code[i, PIPE], code[i, KIND]
            pipe_free[sp, pipe] = max(pipe_free[sp, pipe], t) + cycles[i]
            busy[pipe] += cycles[i]
            done, read = t + lats[i], t + s[LAT_STORE]
            at = position[slot]
            long = False
            if kind in (LOAD, STORE, ATOMIC, REDUCE, COPY, EXCHANGE):
                leave = t + 1
                if kind == EXCHANGE:
                    leave = max(t + 1.0, issue_free[sp])
                    issue_free[sp] = leave + s[LSU_ISSUE]
                    leave = max(leave, servers[0])
                    servers[0] = max(servers[0], t + 1.0) + 1
                    done = leave + lats[i]
                while at < stop[slot] and words[at] < ENTER and int(words[at] & np.uint32(0xFFFFF)) == i:
                    space = int(words[at] >> np.uint32(28)) & 3
                    out, come, got = served(
                        t, sp, kind, words, at, wave[place], slot, code[i, BYTES], cache, flight, servers, issue_free,
                        counts, s, supply,
                    )  # fmt: skip
                    leave, done, read = max(leave, out), max(done, come), max(read, got)
                    long = long or space != 1
                    at += 2 + (int(words[at] >> np.uint32(20)) & 0xFF)
                queue[sp, queue_head[sp] % queue.shape[1]] = leave
                queue_head[sp] += 1
                if kind == COPY:
                    copied[slot] = max(copied[slot], done)
            while at < stop[slot] and words[at] < ENTER and int(words[at] & np.uint32(0xFFFFF)) == i:
                at += 2 + (int(words[at] >> np.uint32(20)) & 0xFF)
            if kind == GROUP:
                groups[slot, group_count[slot] % 8] = copied[slot]
                group_count[slot] += 1
                done = copied[slot]
                long = True
            board_reason = LONG if long else SHORT
            if code[i, SETS] >= 0:
                k = code[i, SETS]
                if done > board[slot, k]:
                    board[slot, k], board_why[slot, k] = done, board_reason
            if code[i, FREES] >= 0:
                k = code[i, FREES]
                if read > board[slot, k]:
                    board[slot, k], board_why[slot, k] = read, board_reason
            ready = t + max(code[i, STALL], 1)
            stalled = WAIT
            extra = 0.0
            extra_why = WAIT
            if kind == FENCE:
                extra, extra_why = t + lats[i], MEMBAR
            if kind == GROUP_WAIT:
                newest = group_count[slot] - 1 - code[i, DEPTH]
                if newest >= 0 and code[i, DEPTH] < 8:
                    extra, extra_why = groups[slot, newest % 8], LONG
            # Go on
            ended_here = False
            if i < until[slot]:
                now[slot] = i + 1
            else:
                at = next_block(words, at, stop[slot], s[FULL_WARPS] > 0)
                ended_here = at >= stop[slot]
            if i >= until[slot] and not ended_here:
                number = int(words[at] & np.uint32(0xFFFFFF))
                at += 2
                if firsts[number] != i + 1:
                    ready = max(ready, t + s[LAT_BRANCH])
                    stalled = BRANCHING
                now[slot], until[slot] = firsts[number], lasts[number]
            position[slot] = at
            if not ended_here:
                following = now[slot]
                mark[slot] = t + 1
                if ready > mark[slot]:
                    stalls[stalled, following] += ready - mark[slot]
                    mark[slot] = ready
                line = following // 8
                if s[LAT_CODE] > 0 and seen[line] == 0:
                    seen[line] = 1
                    if line > 0:
                        stalls[NO_INSTRUCTION, following] += max(t + s[LAT_CODE] - mark[slot], 0.0)
                        mark[slot] = max(mark[slot], t + s[LAT_CODE])
                if extra > mark[slot]:
                    stalls[extra_why, following] += extra - mark[slot]
                    mark[slot] = extra
                wait = code[following, WAITS]
                until_free, reason = 0.0, SHORT
                for k in range(6):
                    if wait >> k & 1 and board[slot, k] > until_free:
                        until_free, reason = board[slot, k], board_why[slot, k]
                if until_free > mark[slot]:
                    stalls[reason, following] += until_free - mark[slot]
                    mark[slot] = until_free
                base[slot] = mark[slot]
                why[slot] = NOT_SELECTED
            number = code[i, NUMBER]
            arrival = t
            if kind in (BARRIER, ARRIVE):
                servers[6] = max(servers[6], t) + s[BARRIER_CYCLES]
                arrival = servers[6]
            if kind == BARRIER and not ended_here:
                waiting[slot] = number
                mark[slot] = t + 1
                base[slot] = NEVER
            if kind in (BARRIER, ARRIVE):
                arrived[place, number] += 1
            check = kind in (BARRIER, ARRIVE)
            if ended_here:
                base[slot], now[slot] = NEVER, -1
                counts[ACTIVE] += t + 1 - began[slot]
                living[place] -= 1
                check = True
                if living[place] == 0:
                    ended[held[place]] = t + 1
                    left -= 1
                    check = False
                    arrived[place, :] = 0
                    if upcoming < blocks:
                        started = max(np.ceil(t + 1 + s[BLOCK_END]), may_start)
                        may_start = started + max(s[BLOCK_START], warps * s[WARP_START])
                        held[place], wave[place] = upcoming, upcoming // resident
                        for w in range(warps):
                            other = place * warps + w
                            n = upcoming * warps + w
                            position[other], stop[other] = starts[n], ends[n]
                            sequence += 1
                            order[other] = sequence
                            board[other, :] = 0
                            group_count[other], copied[other], waiting[other] = 0, 0.0, -1
                            if starts[n] < ends[n]:
                                first = int(words[starts[n]] & np.uint32(0xFFFFFF))
                                position[other] += 2
                                now[other], until[other] = firsts[first], lasts[first]
                                begins = started + w * s[WARP_START]
                                base[other], mark[other], began[other] = begins, begins, started
                                why[other] = NOT_SELECTED
                                living[place] += 1
                                wake[other % SUBPARTITIONS] = min(wake[other % SUBPARTITIONS], started)
                        upcoming += 1
                        soonest = min(soonest, started)
            if check:
                for n in range(16):
                    need = living[place]
                    if n == number and code[i, DEPTH] > 0:
                        need = code[i, DEPTH]
                    if arrived[place, n] > 0 and arrived[place, n] >= need:
                        arrived[place, n] = 0
                        for w in range(warps):
                            other = place * warps + w
                            if waiting[other] == n:
                                waiting[other] = -1
                                freed = arrival + s[LAT_BARRIER]
                                stalls[AT_BARRIER, now[other]] += max(freed - mark[other], 0.0)
                                mark[other] = freed
                                base[other] = freed
                                wait = code[now[other], WAITS]
                                for k in range(6):
                                    if wait >> k & 1:
                                        base[other] = max(base[other], board[other, k])
                                wake[other % SUBPARTITIONS] = min(wake[other % SUBPARTITIONS], base[other])
                                soonest = min(soonest, base[other])
        if soonest >= NEVER and left > 0:
            # Nobody can go on: barriers that wait for lanes of the same warp.  All go on.
            for slot in range(slots):
                if waiting[slot] >= 0:
                    waiting[slot] = -1
                    base[slot] = t + 1
                    mark[slot] = t + 1
                    wake[slot % SUBPARTITIONS] = t + 1
                    soonest = t + 1
            arrived[:, :] = 0
            if soonest >= NEVER:
                break
        t = max(soonest, t + 1) if soonest < NEVER else t + 1
    counts[CYCLES] = max(t, 0)
    return counts, stalls, ended, busy

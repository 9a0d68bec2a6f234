"""The way of a multiprocessor's accesses: shared memory, L1, and behind it L2 and DRAM.  F5.

One load/store unit works on what the four sub-partitions hand it.  L1 is a sectored cache that sees the real addresses;
L2 and DRAM serve the multiprocessor with its share of their bandwidth.  Called by simulate.py, in compiled code.
"""

from __future__ import annotations

import numpy as np

from warplens.emulator.state.trace_format import ACCESSED, LOCAL, SHARED
from warplens.model import layout as p
from warplens.model.address_hash import hashed
from warplens.model.grid.atomic_packets import sent
from warplens.model.grid.request_coalescing import arriving
from warplens.model.lru import find
from warplens.model.sm.l1_cache import touched
from warplens.model.sm.l1_store_queue import FAR, ask_l2, bits, lines_in, others, put, to_dram
from warplens.model.sm.l1_tag_banks import bank_of, comes_to
from warplens.model.sm.l2_partial_sectors import by_itself, bytes_of, left, parts_to_dram, stored_of
from warplens.model.sm.l2_share import asked_before, keeps
from warplens.model.trace.trace_decoder import reached, space
from warplens.model.trace.trace_decoder import sectors as sectors_of
from warplens.simc import compiled

PAGE = 5  # lines whose loads from DRAM take alike: 2 to this power, 4 KB; source: lines_in_order.csv
ONE_SECTOR = 1 << 40  # defined: what tells the bit of a sector from that of its 64 bytes
WHOLE = 15  # defined: all sectors of a line
MANY = 16  # multiprocessors of which some are beside either half of L2; source: near_halves.csv
BUSIEST = 0.85  # as much of its bandwidth as DRAM is taken to give; assumed: as in calibration/derive.py
# assumed: fitted by hand to runs.csv
TAGS_AHEAD = 8  # cycles that one bank of tags may be behind the others before the next access waits


@compiled
def below(line, start, supply):  # type: ignore[no-untyped-def]
    """(whether the line comes from DRAM, what share of a sector DRAM then spends on it, what share of those who ask
    for it one multiprocessor is, how many keys stand for all lines, which buffer has it: memory_supply.py)."""
    lows, highs, latency, weight, own, _, _, _, _, keys, _, _ = supply
    sector = line * 4
    for n in range(lows.size):
        if lows[n] <= sector + 3 and sector < highs[n]:
            wave = min(start, latency.shape[1] - 1)
            return hashed(line) < latency[n, wave], weight[n, wave], own[n], keys[n], n
    return False, 0.0, 1.0, 0.0, -1


@compiled
def slow_with(line):  # type: ignore[no-untyped-def]
    """A number that lines share which chance makes slow together: of each 1 KB the first and the third 256 bytes, and
    the others, as if two channels of DRAM took turns (`seen in order` of measurements/h200/lines_in_order.csv: of two
    neighbours of slow lines one is slow, too, of those 256 bytes off none more than others, 512 bytes off half)."""
    return line >> 3 << 1 | line >> 1 & 1


@compiled
def by_both(line, own, keys):  # type: ignore[no-untyped-def]
    """Whether multiprocessors beside both halves of L2 ask for a line at the same time, of which one is the share `own`
    (and `keys` says that each has a time of its own): for all of them it comes as for those beside its own half.  Of 16
    and more neighbours some are beside either half, of 8 in one of five to three groups, of 2 seldom
    (measurements/h200/near_halves.csv: 690 cycles alone and of 8, 590 of 16 to 132)."""
    few = min(1.0 / (MANY * own), 1.0)
    return keys == 0 and hashed(line + 31) < few * few


@compiled
def scattered(line, near, s):  # type: ignore[no-untyped-def]
    """By how many spreads the latency of a line from DRAM is off the average, as [dram_scatter] says.  The slowest
    tenth meets what else DRAM does, and is slow by chance: of 8 lines anywhere the slowest takes 950 cycles, of 32 it
    takes 1,240.  The others are alike within 4 KB, which lie at one place: near in one half of L2, or far in the
    other."""
    u = hashed(slow_with(line) + 3)
    if u < 0.9:
        u = 0.9 * hashed((line >> PAGE) + 1) * (0.5 if near else 1.0)
    n, low, high = 0, 0.0, 0.1
    if u >= 0.99:
        n, low, high = 6, 0.99, 1.0
    elif u >= 0.9:
        n, low, high = 5, 0.9, 0.99
    elif u >= 0.75:
        n, low, high = 4, 0.75, 0.9
    elif u >= 0.5:
        n, low, high = 3, 0.5, 0.75
    elif u >= 0.25:
        n, low, high = 2, 0.25, 0.5
    elif u >= 0.1:
        n, low, high = 1, 0.1, 0.25
    before, after = s[p.SCATTER + n], s[p.SCATTER + n + 1]
    return before + (after - before) * (u - low) / (high - low)


@compiled
def first_asked(line, at, cache):  # type: ignore[no-untyped-def]
    """When the first multiprocessor has asked DRAM for a line that this one asks for at `at`: those that come later
    find it in L2, or wait for the same."""
    before, now = cache[5], cache[6]
    if now.size == 1:
        return at
    place = int(hashed(line + 11) * now.size)
    now[place] = min(now[place], at)
    return min(before[place], at)


@compiled
def fetch(i, line, mask, lone, request, wave, cache, flight, servers, counts, s, supply):  # type: ignore[no-untyped-def]
    """The sectors `mask` of one line, asked for at `request`: when the last of them is there.

    lone   whether the access asks for neither of the lines beside it
    """
    tags, stamps, valid, fill, known, _, _, lines, held, _ = cache
    servers[p.L1_CLOCK] += 1
    entry, there = touched(line, tags, stamps, servers[p.L1_CLOCK])
    if not there:
        valid[entry], lines.leaves[entry] = 0, -p.NEVER
    ready = request + s[p.LAT_L1]
    missing = 0
    for k in range(4):
        if mask >> k & 1:
            counts[p.L1_SECTORS] += 1
            if valid[entry] >> k & 1:
                counts[p.L1_HITS] += 1
                ready = max(ready, fill[4 * entry + k])
            else:
                missing += 1
    if missing == 0:
        return ready
    far, lost, near, pairs, moved = False, False, False, 0, 0.0
    for half in (0, 2):
        wanted = int(mask >> half & 1 and not valid[entry] >> half & 1) + int(
            mask >> half & 2 and not valid[entry] >> half & 2
        )
        if wanted:
            pairs += 1
            comes, share, own, keys, buffer = below(line, wave, supply)
            near = by_both(line, own, keys)
            if buffer >= 0:
                arrive = arriving(supply[10][buffer], supply[11][buffer], request - s[p.FIRST_BLOCK])
                counts[p.L2_JOINED] += wanted * (1.0 - arrive)
            kept = keeps(line, 1 << (half >> 1), own, keys, False, wave, held, servers, s)
            first = new = False
            if line < p.LOCAL_BASE:
                first = not asked_before(known, 4 * line + half)
                counts[p.L2_PIECES] += int(first)
                counts[p.L2_IN_PIECES] += wanted * int(first)
                # The other sector of these 64 bytes counts as a miss, too: it is mostly asked for while both come.
                sector = 4 * line + half + (0 if mask >> half & 1 and not valid[entry] >> half & 1 else 1)
                new = not asked_before(known, ONE_SECTOR + sector) if wanted == 1 else first
            if first:
                far, moved = far or (comes and hashed(line + 29) < supply[7][i]), moved + share
            if not kept and (keys > 0 or not first):
                again = 1.0 - share if first else 1.0
                far, lost, new, moved = True, True, first, moved + again
                counts[p.L2_LOST] += again
                counts[p.L2_MISSES] += again * wanted
            if new:
                counts[p.L2_MISSES] += share * wanted
    at = request
    for _ in range(missing):  # room for each among those that are waited for
        place = int(servers[p.WAITED_FOR]) % flight.size
        at = max(at, flight[place])
        servers[p.WAITED_FOR] += 1
    size = 32.0 * missing
    servers[p.PORT] = max(servers[p.PORT], at) + size / s[p.L2_PORT]
    ask_l2(at, servers, s)
    comes_to(servers)
    servers[p.L2_OUT] = max(servers[p.L2_OUT], at) + max(size / s[p.L2_READ], s[p.LINE_READ])
    waited = max(servers[p.PORT], servers[p.L2_OUT]) - at
    counts[p.L2_READS] += missing
    from_dram(moved, lone and pairs == 1, at, servers, s)
    late = s[p.LAT_L2]
    if far:
        waited = max(waited, servers[p.DRAM] - at)
        off = s[p.DRAM_SPREAD] * scattered(line, near, s)
        late = s[p.LAT_DRAM] + off
        # Reads queue up, and wait while DRAM writes, the longer the busier it is and the more often both take turns.
        work = servers[p.READ_WORK] + servers[p.WRITE_WORK]
        busy = min(work / max(servers[p.DRAM], 1.0), BUSIEST)
        if work > 0:
            turns = s[p.DRAM_TURN] * 2.0 * servers[p.READ_WORK] * servers[p.WRITE_WORK] / (work * work)
            late += s[p.DRAM_QUEUE] * busy / (1.0 - busy) + turns * busy / (1.0 - s[p.TURN_GROWTH] * busy)
        asked = at if lost else first_asked(line, at, cache)
        come = max(asked + waited + late, at + s[p.LAT_L2])
        servers[p.COME] = max(servers[p.COME], at + waited + late - off)
    else:
        come = at + waited + late
    for n in range(missing):
        flight[(int(servers[p.WAITED_FOR]) - 1 - n) % flight.size] = come
    for k in range(4):
        if mask >> k & 1 and not valid[entry] >> k & 1:
            valid[entry] |= (FAR | 1 if far else 1) << k
            fill[4 * entry + k] = come
    # A full list of those that are waited for keeps the next access from being served.
    servers[p.LSU] = max(servers[p.LSU], at)
    return max(ready, come)


@compiled
def drop(line, mask, cache):  # type: ignore[no-untyped-def]
    """Sectors of a line that L1 may have are read anew."""
    tags, stamps, valid = cache[0], cache[1], cache[2]
    entry, there = find(tags, stamps, tags.size // p.WAYS, p.WAYS, line)
    if there:
        valid[entry] ^= valid[entry] & (mask * (FAR | 1))


@compiled
def from_dram(pairs, lone, at, servers, s):  # type: ignore[no-untyped-def]
    """DRAM gives 64 bytes at a time, `pairs` of them, more slowly where nobody wants what lies beside them."""
    if pairs > 0:
        work = 64.0 * pairs / s[p.DRAM_READ] * (s[p.LONE_HALF] if lone else 1.0)
        servers[p.DRAM] = max(servers[p.DRAM], at) + work
        servers[p.READ_WORK] += work


@compiled
def update(i, line, mask, lone, request, wave, cache, servers, counts, s, supply):  # type: ignore[no-untyped-def]
    """Sectors of one line that atomics change, in L2: how much longer than others they take.  The time that the units
    of L2 take is reckoned for the whole access."""
    number = bits(mask)
    if line >= p.LOCAL_BASE:
        return 0.0
    drop(line, WHOLE, cache)  # of the line L1 keeps no sector, whichever of them was changed
    pairs, moved, far = int(mask & 3 > 0) + int(mask & 12 > 0), 0.0, False
    for half in (0, 2):
        if mask >> half & 3 and not asked_before(cache[4], 4 * line + half):
            comes, share, _, _, _ = below(line, wave, supply)
            wanted = (mask >> half & 1) + (mask >> half + 1 & 1)
            counts[p.L2_PIECES] += 1
            counts[p.L2_IN_PIECES] += wanted
            moved += share
            far = far or (comes and hashed(line + 29) < supply[7][i])
    from_dram(moved, lone and pairs == 1, request, servers, s)
    to_dram(line, number, request, servers, s, supply)
    if far:  # as long as a load of it
        waited = max(servers[p.DRAM] - request, 0.0)
        return waited + s[p.LAT_DRAM] - s[p.LAT_ATOMIC] + s[p.DRAM_SPREAD] * scattered(line, False, s)
    return s[p.ATOMIC_HALF] if hashed(line + 7) < 0.5 else -s[p.ATOMIC_HALF]


@compiled
def served(i, t, sp, kind, words, at, block_wave, slot, size, other, memory, counts, s, supply):  # type: ignore[no-untyped-def]
    """One access: (when it leaves the queue, when its result is there, when its registers are read)."""
    cache, flight, servers, issue_free = memory.cache, memory.flight, memory.servers, memory.issue_free
    head, second = words[at], words[at + 1]
    sectors, where = sectors_of(head), space(head)
    wavefronts, lanes, _ = reached(second)
    waves = float(wavefronts)
    ideal = max(1.0, np.ceil(lanes * max(size, 4) / 128.0))
    # One access a sub-partition every few cycles; the unit itself works without gaps on what all four hand it.
    begin = max(t + 1.0, issue_free[sp])
    issue_free[sp] = begin + s[p.LSU_ISSUE]
    begin = max(begin, servers[p.LSU])
    free = max(servers[p.LSU], t + 1.0)
    if where == SHARED:
        if s[p.IDEAL_BANKS] > 0:
            waves = min(waves, ideal)
        cost = max(waves, s[p.SHARED_REQUEST])
        if kind in (p.ATOMIC, p.REDUCE):
            cost = max(cost, waves)
        servers[p.LSU] = free + cost
        issue_free[sp] = begin + max(s[p.LSU_ISSUE], s[p.WAVE] * waves)
        counts[p.LSU_BUSY] += cost
        late = s[p.LAT_SHARED_ATOMIC] if kind == p.ATOMIC else s[p.LAT_SHARED]
        # Each register of a lane comes a cycle behind the one before (`chain shared`: 29.2, 30.2, 32.2 cycles).
        late += s[p.WAVE] * (waves - 1) + max(size // 4 - 1, 0)
        return begin, begin + late, begin + s[p.LAT_STORE]
    if sectors == 0:
        servers[p.LSU] = free + 1
        return begin, begin + s[p.LAT_L1], begin + s[p.LAT_STORE]
    if s[p.IDEAL_ACCESS] > 0:
        sectors = min(sectors, int(np.ceil(lanes * size / 32.0)))
        waves = min(waves, ideal)
    # Lines in order of appearance; sectors of one line mostly stand together.
    # What all sub-partitions share sees accesses in the order of their issue, also those that wait for their own.
    looked_up, ahead = free, begin - free
    done = free + s[p.LAT_L1]
    position = at + ACCESSED
    last = at + ACCESSED + sectors
    shift = p.LOCAL_BASE + slot * 65536 if where == LOCAL else 0
    moved = counts[p.L2_READS] + counts[p.L2_WRITES]
    before, access = -1, (position, last)
    late, lines, crowded = -s[p.ATOMIC_HALF], 0, 0
    between = others(sp, t, memory), lines_in(words, position, last)
    if kind == p.STORE:
        cache[7].last[sp] = between[1]
    each = bytes_of(words, position, last if kind == p.STORE else position, lanes * size)
    while position < last:
        line = (int(words[position]) >> 2) + shift
        mask, of_line = 0, position
        while position < last and (int(words[position]) >> 2) + shift == line:
            mask |= 1 << (int(words[position]) & 3)
            position += 1
        bank = p.TAGS + bank_of(line)
        request = max(servers[bank], free)
        servers[bank] = request + 1
        looked_up = max(looked_up, request)
        lone = line != before + 1 and (position == last or (np.int64(words[position]) >> 2) + shift != line + 1)
        before = line
        if kind in (p.LOAD, p.COPY):
            if other:
                drop(line, mask, cache)
            done = max(done, fetch(i, line, mask, lone, request, block_wave, cache, flight, servers, counts, s, supply))
        elif kind == p.STORE:
            bytes_stored = stored_of(words, of_line, position, access, each)
            kept = put(line, mask, bytes_stored, between, request, block_wave, slot, memory, counts, s, supply)
            if line < p.LOCAL_BASE and by_itself(line, supply):
                gone = left(line, words, of_line, position, access, each, kept, cache[4], cache[9], servers)
                parts_to_dram(gone, request, servers, counts, s)
        elif kind in (p.ATOMIC, p.REDUCE):
            more = update(i, line, mask, lone, request, block_wave, cache, servers, counts, s, supply)
            late, lines, crowded = max(late, more), lines + 1, crowded + int(bits(mask) > 1)
    if kind == p.LOAD:
        cache[7].loaded[slot] = servers[p.STORED_LINES]
        # Each lane's bytes go back one by one, also where all lanes asked for the same (`L1 hits, 16 B of one place`).
        waves = max(waves, ideal)
    if kind in (p.ATOMIC, p.REDUCE):
        waves = 1.0  # each word goes to L2 once
    issue_free[sp] = begin + max(s[p.LSU_ISSUE], s[p.WAVE] * waves)
    cost = max(waves * 128.0 / s[p.L1_BYTES], s[p.GLOBAL_REQUEST])
    if counts[p.L2_READS] + counts[p.L2_WRITES] > moved:
        cost = max(cost, s[p.MISS_REQUEST])
    if kind in (p.ATOMIC, p.REDUCE):
        shape = lanes, size, sectors, lines, crowded
        cost, done = sent(kind == p.ATOMIC, second, shape, free, late, memory.updates, servers, counts, s)
    servers[p.LSU] = max(max(servers[p.LSU], free + cost), looked_up + 1 - TAGS_AHEAD)
    counts[p.LSU_BUSY] += cost
    counts[p.LAST_STORE] = max(counts[p.LAST_STORE], max(servers[p.STORED], max(servers[p.ATOMICS], servers[p.DRAM])))
    if kind not in (p.STORE, p.REDUCE):
        done += s[p.WAVE] * (waves - 1) + ahead
    return begin, done, begin + s[p.LAT_STORE]

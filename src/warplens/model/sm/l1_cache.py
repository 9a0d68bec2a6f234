"""L1 cache: which lines it keeps, and the latency of a load that misses.

What it is   what shared memory leaves of the unified memory, as lines of 128 bytes with a valid bit for each sector.
Formula      the least recently touched line is evicted; a hit takes `latency`; a miss waits for its sectors from L2 or
             DRAM, and for slots among sectors_in_flight.
             Tags are in four banks, each of which looks up one line a cycle.
Parameters   L1Settings and l1_share, from calibration/derive.py.
Evidence     measurements/h200/l1_lines.csv: one warp that touches some lines twice and then others once hits the
             former again after any number of the latter, up to 1,024 of them.
Known error  a rule that follows this evidence fits those readings better, and kernels of many warps, whose lines are
             all touched several times, worse.  The cost for these is in l1_share.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from warplens.model import layout as p
from warplens.model.address_hash import hashed
from warplens.model.lru import find
from warplens.model.sm.dram_share import latency_deviation, load_latency, read_pieces
from warplens.model.sm.l2_port import L2Lookup, LineRequest, look_up_l2, reply_cycles, send_request
from warplens.simc import Record, compiled

TAG_BANKS = 4  # defined: of the two bits of bank_of
FAR = 16  # defined: flag next to the valid bit of a sector: it comes from DRAM
LINE = 128  # bytes


class L1Settings(NamedTuple):
    """latency: of a hit, cycles;  bytes_per_cycle;  sectors_in_flight: that L1 waits for at most
    high_bits, low_bits   of the line number, for the two bits of a tag bank's number"""

    latency: float
    bytes_per_cycle: float
    sectors_in_flight: float
    high_bits: int
    low_bits: int


class L1State(Record):
    """clock: lookups so far;  waited_for: sectors that have been requested from L2 so far."""

    clock: float
    waited_for: float


class L1Lines(NamedTuple):
    """Of each entry: tags, stamps (of the last use);  valid: a bit for each sector, and FAR;  fill: when each sector
    arrives (cycles)."""

    tags: Any
    stamps: Any
    valid: Any
    fill: Any


def l1_lines(unified: int, carveout: int, share: float) -> int:
    return int(share * (unified - carveout)) // LINE


def l1_sets(lines: int) -> int:
    """Number of sets, a prime: lines at any stride fill all sets, as in an H200 at strides of powers of two."""
    most = max(lines // p.WAYS + 1, 2)
    return next(sets for sets in range(most, 1, -1) if all(sets % n for n in range(2, sets)))


@compiled
def touch(line, tags, stamps, clock):  # type: ignore[no-untyped-def]
    """(entry of a line, whether it was a hit)."""
    entry, there = find(tags, stamps, tags.size // p.WAYS, p.WAYS, line)
    tags[entry], stamps[entry] = line, clock
    return entry, there


@compiled
def invalidate(line, mask, l1):  # type: ignore[no-untyped-def]
    """Invalidate sectors of a line in L1."""
    entry, there = find(l1.tags, l1.stamps, l1.tags.size // p.WAYS, p.WAYS, line)
    if there:
        l1.valid[entry] ^= l1.valid[entry] & (mask * (FAR | 1))


@compiled
def allocate(line, memory):  # type: ignore[no-untyped-def]
    """(entry of a line, whether it was a hit); a new one has no valid sector and no queued stores."""
    l1 = memory.l1
    memory.servers.l1.clock += 1
    entry, there = touch(line, l1.tags, l1.stamps, memory.servers.l1.clock)
    if not there:
        l1.valid[entry], memory.store_queue.leaves[entry] = 0, -p.NEVER
    return entry, there


@compiled
def load_line(request, memory):  # type: ignore[no-untyped-def]
    """When the last of the requested sectors of a line is available."""
    l1, counts = memory.l1, memory.counts
    entry, _ = allocate(request.line, memory)
    ready, missing = request.at + memory.settings.l1.latency, 0
    for k in range(4):
        if request.mask >> k & 1:
            counts.l1_sectors += 1
            if l1.valid[entry] >> k & 1:
                counts.l1_hits += 1
                ready = max(ready, l1.fill[4 * entry + k])
            else:
                missing += 1
    if missing == 0:
        return ready
    return max(ready, serve_miss(request, entry, missing, memory))


@compiled
def serve_miss(request, entry, missing, memory):  # type: ignore[no-untyped-def]
    """When the missing sectors of a line, of which so many are requested, are available."""
    port, state, flight = memory.settings.l2.port_bytes, memory.servers.l1, memory.sectors_in_flight
    at = request.at
    for n in range(missing):
        at = max(at, flight[(int(state.waited_for) + n) % flight.size])
    memory.servers.load_store.free = max(memory.servers.load_store.free, at)  # a full list blocks the next access
    sent = LineRequest(
        request.instruction, request.slot, request.wave, request.part, request.line, request.mask, request.lone, at,
        request.copy,
    )  # fmt: skip
    come, far = request_sectors(sent, missing, memory.l1.valid[entry], port, memory)
    for _ in range(missing):
        flight[int(state.waited_for) % flight.size] = come
        state.waited_for += 1
    fill_all_banks(memory.servers.tag_banks)
    fill_line(request.mask, entry, come, far, memory.l1)
    return come


@compiled
def request_sectors(request, missing, valid, port, memory):  # type: ignore[no-untyped-def]
    """(when so many missing sectors of a line come from L2, whether from DRAM).

    valid   sectors that L1 has;  port: bytes a cycle that the SM receives
    """
    l2, mask = memory.settings.l2, request.mask
    servers, far, lost, near, pairs, moved, arriving = memory.servers, False, False, False, 0, 0.0, 0.0
    for half in (0, 2):
        wanted = int(mask >> half & 1 and not valid >> half & 1) + int(mask >> half & 2 and not valid >> half & 2)
        if wanted:
            pairs += 1
            before = L2Lookup(far, lost, near, moved, arriving)
            far, lost, near, moved, arriving = look_up_l2(request, half, wanted, valid, before, memory)
    at, size = request.at, 32.0 * missing
    servers.l2.port = max(servers.l2.port, at) + size / port
    send_request(at, memory)
    servers.l2.replies = max(servers.l2.replies, at) + reply_cycles(missing, arriving, l2)
    waited = max(servers.l2.port, servers.l2.replies) - at
    memory.counts.l2_reads += missing
    memory.counts.l2_read_lines += 1
    read_pieces(moved, request.lone and pairs == 1, at, memory)
    come = dram_arrival(request.line, at, waited, lost, near, memory) if far else at + waited + l2.latency
    return come, far


@compiled
def dram_arrival(line, at, waited, lost, near, memory):  # type: ignore[no-untyped-def]
    """When a line arrives from DRAM that is requested at `at`, with bandwidth available after `waited`.

    lost   L2 has evicted it;  near: SMs of both partitions request it (l2_port.is_near_both_partitions)
    """
    dram, l2 = memory.settings.dram, memory.servers.l2
    waited = max(waited, memory.servers.dram.free - at)
    off = dram.latency_spread * latency_deviation(line, near, dram)
    late = load_latency(off, memory)
    asked = at if lost else first_request(line, at, memory)
    l2.last_from_dram = max(l2.last_from_dram, at + waited + late - off)
    return max(asked + waited + late, at + memory.settings.l2.latency)


@compiled
def first_request(line, at, memory):  # type: ignore[no-untyped-def]
    """When the first SM has requested a line from DRAM that this one requests at `at`: later requests hit L2, or
    wait for the same fill."""
    before, now = memory.asked_by_others, memory.asked_now
    if now.size == 1:
        return at
    place = int(hashed(line + 11) * now.size)
    now[place] = min(now[place], at)
    return min(before[min(place, before.size - 1)], at)  # one entry where nothing is known of other SMs


@compiled
def fill_line(mask, entry, come, far, l1):  # type: ignore[no-untyped-def]
    """Record the missing sectors of a line in L1 from their arrival on."""
    for k in range(4):
        if mask >> k & 1 and not l1.valid[entry] >> k & 1:
            l1.valid[entry] |= (FAR | 1 if far else 1) << k
            l1.fill[4 * entry + k] = come


@compiled
def bank_of(line, l1):  # type: ignore[no-untyped-def]
    """Bank of a line's tag, of L1Settings."""
    return 2 * parity(line & l1.high_bits) + parity(line & l1.low_bits)


@compiled
def parity(bits):  # type: ignore[no-untyped-def]
    """Whether an odd number of 16 bits is set."""
    bits ^= bits >> 8
    bits ^= bits >> 4
    bits ^= bits >> 2
    return (bits ^ bits >> 1) & 1


@compiled
def fill_all_banks(tag_banks):  # type: ignore[no-untyped-def]
    """A fill from L2 occupies all tag banks for a cycle (`runs` of measurements/h200/runs.csv: threads that load 16
    words in a row, 41 words apart, take 9.6 cycles of tags a load, and one more for each line that is filled, 14.5
    together; measured 14.8)."""
    for bank in range(TAG_BANKS):
        tag_banks[bank] += 1

"""L2 port: one SM's path to L2 and back, its share of L2's bandwidth, and L2 hits of a line.

What it is   one server for requests, one for L2's replies, one for the SM's port.
Formula      cycles of a reply = max(bytes / read_bytes, line_read_cycles), and bytes / port_bytes at the port.
             Requests that are merged on their way (grid/request_coalescing.py) are one for L2: of the former a reply
             takes the share that arrives, but bytes / shared_bytes at the least.
Parameters   L2Settings.  Which lines come from DRAM: grid/memory_supply.py.
Evidence     measurements/h200/stores_loads.csv (`mixed`), near_halves.csv, joined.csv; `L2 window` of calibration.csv:
             SMs that read the same get 80 bytes a cycle each, 60 to 64 where they are up to 32 KB apart, 43 with 96 KB
             between them, and 35 where no other reads the same.
Known error  requests of other SMs are a share of the bandwidth, not an order in time.
"""

from __future__ import annotations

from typing import NamedTuple

from warplens.model import layout as p
from warplens.model.address_hash import hashed
from warplens.model.grid.request_coalescing import arrival_share
from warplens.model.sm.l2_share import Requester, holds_line, was_requested
from warplens.simc import Record, compiled

BUFFERS = 1 << 10  # defined: above their number
ONE_SECTOR = 1 << 40  # defined: distinguishes the bit of a sector from that of its 64 bytes


class L2Settings(NamedTuple):
    """port_bytes: a cycle that the SM receives;  read_bytes, write_bytes: a cycle of its share of L2
    shared_bytes   a cycle at most where all SMs request the same lines
    line_read_cycles, line_write_cycles   of a line at least, of its share of L2
    request_bytes   to L2 per line of a load
    latency      of a load that hits, cycles;  partitions: of L2;  both_halves: SMs of which some are near either
    partial_ways   of a set of partially written lines"""

    port_bytes: float
    read_bytes: float
    write_bytes: float
    shared_bytes: float
    line_read_cycles: float
    line_write_cycles: float
    request_bytes: float
    latency: float
    partitions: float
    both_halves: float
    partial_ways: int


class L2State(Record):
    """port, replies, requests: until when the SM's port and L2's side of both paths are busy (cycles);
    last_from_dram: when the last line from DRAM arrives."""

    port: float
    replies: float
    requests: float
    last_from_dram: float


class LineRequest(NamedTuple):
    """One line of a warp-wide access.

    instruction, slot   of the warp that issued it;  wave: of its block;  part: of the warp's trace (first_touch.py)
    line, mask   its number, and the requested sectors;  lone: the access covers neither neighbouring line
    at           when its tag has been looked up (cycles)
    copy         number of an asynchronous copy, of which L2 has all lines of a buffer or none (drawn_by), else -1
    """

    instruction: int
    slot: int
    wave: int
    part: int
    line: int
    mask: int
    lone: bool
    at: float
    copy: int


class LineSource(NamedTuple):
    """Where a line comes from (memory_supply.py).

    from_dram      whether it misses L2;  dram_share: of a sector that DRAM then reads for it
    own, keys      share of one SM among its requesters; number of keys that represent all lines
    buffer         its number, -1: none
    """

    from_dram: bool
    dram_share: float
    own: float
    keys: float
    buffer: int


class L2Lookup(NamedTuple):
    """Result of looking up the 64-byte pieces of a line.

    far            whether DRAM supplies a line that this SM waits for;  lost: L2 has evicted it
    near           SMs of both partitions request it at the same time
    moved          pieces of 64 bytes that DRAM reads;  arriving: sectors that are not merged with others' requests
    """

    far: bool
    lost: bool
    near: bool
    moved: float
    arriving: float


@compiled
def drawn_by(line, copy, buffer):  # type: ignore[no-untyped-def]
    """Number by which it is drawn whether another SM has fetched a line before: a tile that is copied was fetched as a
    whole, or not at all."""
    return line if copy < 0 else BUFFERS * copy + buffer


@compiled
def source_of(line, copy, wave, supply):  # type: ignore[no-untyped-def]
    """LineSource of a line, for a wave of blocks; `copy`: of LineRequest."""
    sector = line * 4
    for n in range(supply.lows.size):
        if supply.lows[n] <= sector + 3 and sector < supply.highs[n]:
            then = min(wave, supply.latency.shape[1] - 1)
            from_dram = hashed(drawn_by(line, copy, n)) < supply.latency[n, then]
            return LineSource(from_dram, supply.weight[n, then], supply.own[n], supply.keys[n], n)
    return LineSource(False, 0.0, 1.0, 0.0, -1)


@compiled
def is_near_both_partitions(line, own, keys, l2):  # type: ignore[no-untyped-def]
    """Whether SMs near both partitions request a line at the same time, `own` being the share of one (`keys`: each
    at its own time): all of them get it as fast as SMs near its home do.  Of 16 and more neighbours some
    are near either partition, of 8 in one of five to three groups, of 2 seldom (measurements/h200/near_halves.csv:
    690 cycles alone and of 8, 590 of 16 to 132)."""
    few = min(1.0 / (l2.both_halves * own), 1.0)
    return keys == 0 and hashed(line + 31) < few * few


@compiled
def send_request(at, memory):  # type: ignore[no-untyped-def]
    """Request a line for a load.  It does not wait for stores, but they wait for it."""
    l2, settings = memory.servers.l2, memory.settings.l2
    l2.requests = max(l2.requests, at) + settings.request_bytes / settings.write_bytes


@compiled
def reply_cycles(sectors, arriving, l2):  # type: ignore[no-untyped-def]
    """Cycles of L2 for so many sectors of a line, of which so many are not merged with requests of other SMs."""
    size = 32.0 * sectors
    alone = max(size / l2.read_bytes, l2.line_read_cycles)
    return max(alone * arriving / sectors, min(alone, size / l2.shared_bytes))


@compiled
def look_up_l2(request, half, wanted, valid, before, memory):  # type: ignore[no-untyped-def]
    """L2 lookup of the requested sectors in 64 bytes of a line, from sector `half` on; `valid`: sectors in L1.

    before   L2Lookup of the other half, to which the result adds
    """
    far, lost, near, moved, arriving = before
    line, mask, counts, supply = request.line, request.mask, memory.counts, memory.supply
    from_dram, share, own, keys, buffer = source_of(line, request.copy, request.wave, supply)
    near = is_near_both_partitions(line, own, keys, memory.settings.l2)
    arrive = 1.0
    if buffer >= 0:
        since = request.at - memory.settings.dispatch.first_block_cycles
        arrive = arrival_share(supply.group[buffer], supply.drift[buffer], since, memory.settings.merging)
        counts.l2_joined += wanted * (1.0 - arrive)
    asker = Requester(own, keys, False, request.wave)
    clock, partitions = memory.servers.l1.clock, memory.settings.l2.partitions
    kept = holds_line(line, 1 << (half >> 1), asker, memory.l2_share, clock, partitions)
    first = new = False
    if line < p.LOCAL_BASE:
        first = not was_requested(memory.asked, 4 * line + half)
        counts.l2_pieces += int(first)
        counts.l2_in_pieces += wanted * int(first)
        # The other sector of these 64 bytes counts as a miss, too: it is mostly requested while both are in flight.
        sector = 4 * line + half + (0 if mask >> half & 1 and not valid >> half & 1 else 1)
        new = not was_requested(memory.asked, ONE_SECTOR + sector) if wanted == 1 else first
    if first:
        far, moved = (
            far
            or (
                from_dram
                and hashed(drawn_by(line, request.copy, buffer) + 29) < supply.first[request.instruction, request.part]
            ),
            moved + share,
        )
    if not kept and (keys > 0 or not first):
        again = 1.0 - share if first else 1.0
        far, lost, new, moved = True, True, first, moved + again
        counts.l2_lost += again
        counts.l2_misses += again * wanted
    if new:
        counts.l2_misses += share * wanted
    return L2Lookup(far, lost, near, moved, arriving + wanted * arrive)

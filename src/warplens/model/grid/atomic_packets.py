"""Atomic packets: how an atomic travels from an SM to L2, and what it costs.

Lanes of a warp on one word are serialised into passes; each pass leaves as packets of 32 bytes, one a cycle.
"""

from __future__ import annotations

from typing import NamedTuple

from warplens.simc import Record, compiled


class AtomicSettings(NamedTuple):
    """Cycles of the SM clock; where all SMs share a unit, of the SM's share of it.

    word_cycles, sector_cycles   of an L2 atomic unit for one word, and for a whole sector
    sms_per_unit                 SMs with as many blocks as this one per L2 atomic unit
    packet_cycles, lone_cycles, reply_cycles   of a packet to L2, of the only packet of its line, of a reply
    latency                      of one atomic
    sectors_in_flight            at most
    """

    word_cycles: float
    sector_cycles: float
    sms_per_unit: float
    packet_cycles: float
    lone_cycles: float
    reply_cycles: float
    latency: float
    sectors_in_flight: float


class AtomicState(Record):
    """free: until when the L2 atomic units are busy (cycles);  sent: sectors so far."""

    free: float
    sent: float


class AtomicShape(NamedTuple):
    """A warp-wide atomic.

    lanes, lane_bytes      that take part, and bytes of each
    sectors, lines, crowded_lines   that it reaches; lines with more than one of its sectors
    passes, word_passes    of all its sectors, and of its fullest word: lanes on one word are serialised
    """

    lanes: int
    lane_bytes: int
    sectors: int
    lines: int
    crowded_lines: int
    passes: int
    word_passes: int


@compiled
def packets(shape, result):  # type: ignore[no-untyped-def]
    """Packets in which an atomic leaves L1: one a sector and pass, one more for each line with more than one sector,
    and one more for every line if the result is returned (`passes` of the calibration)."""
    turns = min(shape.word_passes, shape.lanes - shape.passes)
    if result:
        return shape.passes + (turns + shape.passes * shape.lines / shape.sectors)
    return shape.passes + max(turns, shape.crowded_lines)


@compiled
def send_atomic(result, shape, free, late, memory):  # type: ignore[no-untyped-def]
    """(cycles of the load/store unit for the atomic, when its result is available).

    result   whether it is returned
    free     when the load/store unit starts on it;  late: extra latency of its slowest line
    """
    servers, settings = memory.servers, memory.settings.atomics
    # Lanes on one word are serialised, words of one sector are done together, faster where the whole sector is covered.
    word = settings.sector_cycles if shape.lanes * shape.lane_bytes == 32 * shape.passes else settings.word_cycles
    behind = max(servers.atomics.free, free)
    servers.atomics.free = behind + settings.sms_per_unit * shape.passes * word
    way = settings.packet_cycles * packets(shape, False)
    way = max(way, settings.lone_cycles * shape.passes * shape.lines / shape.sectors)
    if result:
        way = max(way, settings.reply_cycles * shape.passes)
    servers.l2.replies = max(servers.l2.replies, free) + way  # loads use the same reply path
    memory.counts.l2_updates += shape.passes
    memory.counts.l1_sectors += shape.passes  # L1 counts a sector again for each pass, all as misses (l1_atomics.csv)
    there = max(servers.atomics.free, servers.l2.replies)
    _occupy_slots(shape.sectors, there, memory)
    cost = packets(shape, result)
    # The units are FIFO: an atomic waits for those queued before it, not for those after it.
    return cost, max(max(behind, servers.l2.replies), free + cost) + settings.latency + late


@compiled
def _occupy_slots(sectors, done, memory):  # type: ignore[no-untyped-def]
    """Occupy in-flight slots of L2 atomics until `done`: the load/store unit stalls only while no slot for another
    sector is free (`add and end`: a warp ends while its atomics are in flight)."""
    servers, updates = memory.servers, memory.updates
    first = int(servers.atomics.sent)
    servers.load_store.free = max(servers.load_store.free, updates[first % updates.size])
    servers.atomics.sent += sectors
    for n in range(min(sectors, updates.size)):
        updates[(first + n) % updates.size] = done

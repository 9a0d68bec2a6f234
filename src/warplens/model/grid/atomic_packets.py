"""Atomics on their way from a multiprocessor to L2.

A warp's lanes take turns where they are on one word, and each turn leaves in pieces of 32 bytes, one a cycle.
"""

from __future__ import annotations

from typing import NamedTuple

from warplens.model.trace.trace_decoder import passes
from warplens.simc import Record, compiled


class AtomicSettings(NamedTuple):
    """Cycles of the SM clock, of the SM's share where all SMs use a unit.

    word_cycles, sector_cycles   of a unit of L2 for one word, and for all of a sector
    sms_per_unit                 SMs with as many blocks as this one for each unit of L2
    packet_cycles, lone_cycles, reply_cycles   of a packet to L2, of one that is alone in its line, of a reply
    latency                      of one atomic;  latency_half: by which the halves of L2 differ from it
    sectors_in_flight            at the most
    """

    word_cycles: float
    sector_cycles: float
    sms_per_unit: float
    packet_cycles: float
    lone_cycles: float
    reply_cycles: float
    latency: float
    latency_half: float
    sectors_in_flight: float


class AtomicState(Record):
    """free: until when the units of L2 are taken (cycles);  sent: sectors so far."""

    free: float
    sent: float


@compiled
def pieces(lanes, sectors, lines, crowded, all_passes, fullest, result):  # type: ignore[no-untyped-def]
    """In which an atomic leaves L1: in each turn a sector is a piece, and a line of which more than one word is wanted
    has one more, and any line if the result comes back (`passes` of the calibration)."""
    turns = min(fullest, lanes - all_passes)
    return all_passes + (turns + all_passes * lines / sectors if result else max(turns, crowded))


@compiled
def sent(result, second, shape, free, late, memory):  # type: ignore[no-untyped-def]
    """(for how long the atomic takes the load/store unit, when its result is there).

    result   whether it comes back;  second: word of the access
    shape    lanes, bytes of each, sectors, lines, of these lines with more than one sector
    free     from when on the load/store unit serves it;  late: how much longer its slowest line takes than others
    """
    lanes, size, sectors, lines, crowded = shape
    servers, settings = memory.servers, memory.settings.atomics
    all_passes, fullest = passes(second)
    # Lanes on one word one after the other, words of a sector at once, sooner where all of it is wanted.
    word = settings.sector_cycles if lanes * size == 32 * all_passes else settings.word_cycles
    behind = max(servers.atomics.free, free)
    servers.atomics.free = behind + settings.sms_per_unit * all_passes * word
    way = settings.packet_cycles * pieces(lanes, sectors, lines, crowded, all_passes, fullest, False)
    way = max(way, settings.lone_cycles * all_passes * lines / sectors)
    if result:
        way = max(way, settings.reply_cycles * all_passes)
    servers.l2.replies = max(servers.l2.replies, free) + way  # loads go the same way
    memory.counts.l2_updates += all_passes
    memory.counts.l1_sectors += all_passes  # L1 counts a sector anew for each, all as misses (l1_atomics.csv)
    there = max(servers.atomics.free, servers.l2.replies)
    _take_place(sectors, there, memory)
    cost = pieces(lanes, sectors, lines, crowded, all_passes, fullest, result)
    # Its own turn at the units comes when theirs have been that came before: they do not wait for what comes behind.
    return cost, max(max(behind, servers.l2.replies), free + cost) + settings.latency + late


@compiled
def _take_place(sectors, done, memory):  # type: ignore[no-untyped-def]
    """Atomics on so many sectors go to L2, which is done with them at `done`: the unit serves others while there is
    room for one more sector among those on their way (`add and end`: a warp ends and leaves them)."""
    servers, updates = memory.servers, memory.updates
    first = int(servers.atomics.sent)
    servers.load_store.free = max(servers.load_store.free, updates[first % updates.size])
    servers.atomics.sent += sectors
    for n in range(min(sectors, updates.size)):
        updates[(first + n) % updates.size] = done

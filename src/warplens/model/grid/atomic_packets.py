"""Atomics on their way from a multiprocessor to L2.  F5.

A warp's lanes take turns where they are on one word, and each turn leaves in pieces of 32 bytes, one a cycle.
"""

from __future__ import annotations

from warplens.model import layout as p
from warplens.model.trace.trace_decoder import passes
from warplens.simc import compiled


@compiled
def pieces(lanes, sectors, lines, crowded, all_passes, fullest, result):  # type: ignore[no-untyped-def]
    """In which an atomic leaves L1: in each turn a sector is a piece, and a line of which more than one word is wanted
    has one more, and any line if the result comes back (`passes` of the calibration)."""
    turns = min(fullest, lanes - all_passes)
    return all_passes + (turns + all_passes * lines / sectors if result else max(turns, crowded))


@compiled
def sent(result, second, shape, free, late, updates, servers, counts, s):  # type: ignore[no-untyped-def]
    """(for how long the atomic takes the load/store unit, when its result is there).

    result   whether it comes back;  second: word of the access
    shape    lanes, bytes of each, sectors, lines, of these lines with more than one sector
    free     from when on the load/store unit serves it;  late: how much longer its slowest line takes than others
    """
    lanes, size, sectors, lines, crowded = shape
    all_passes, fullest = passes(second)
    # Lanes on one word one after the other, words of a sector at once, sooner where all of it is wanted.
    word = s[p.ATOMIC_SECTOR] if lanes * size == 32 * all_passes else s[p.ATOMIC_WORD]
    behind = max(servers[p.ATOMICS], free)
    servers[p.ATOMICS] = behind + s[p.ATOMIC_SHARE] * all_passes * word
    way = s[p.ATOMIC_PIECE] * pieces(lanes, sectors, lines, crowded, all_passes, fullest, False)
    way = max(way, s[p.ATOMIC_LONE] * all_passes * lines / sectors)
    if result:
        way = max(way, s[p.ATOMIC_REPLY] * all_passes)
    servers[p.L2_OUT] = max(servers[p.L2_OUT], free) + way  # loads go the same way
    counts[p.L2_UPDATES] += all_passes
    counts[p.L1_SECTORS] += all_passes  # L1 counts a sector anew for each, all as misses (l1_atomics.csv)
    there = max(servers[p.ATOMICS], servers[p.L2_OUT])
    _take_place(sectors, there, updates, servers)
    cost = pieces(lanes, sectors, lines, crowded, all_passes, fullest, result)
    # Its own turn at the units comes when theirs have been that came before: they do not wait for what comes behind.
    return cost, max(max(behind, servers[p.L2_OUT]), free + cost) + s[p.LAT_ATOMIC] + late


@compiled
def _take_place(sectors, done, updates, servers):  # type: ignore[no-untyped-def]
    """Atomics on so many sectors go to L2, which is done with them at `done`: the unit serves others while there is
    room for one more sector among those on their way (`add and end`: a warp ends and leaves them)."""
    first = int(servers[p.UPDATED])
    servers[p.LSU] = max(servers[p.LSU], updates[first % updates.size])
    servers[p.UPDATED] += sectors
    for n in range(min(sectors, updates.size)):
        updates[(first + n) % updates.size] = done

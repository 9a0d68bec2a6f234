"""L2 share: what one SM has requested, and which lines its share of L2 still holds.

Where warps reuse lines that L1 has evicted, and more lines are in use at the same time than fit in L2, DRAM reads them
again: for rows that threads walk along (`walk 64 of every 64 words`: with 35 MB in use at the same time DRAM is read
once, with 52 MB 9 times, with 69 MB 27 times), and for rows that are read twice.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from warplens.machine.parameter import assumed
from warplens.model import layout as p
from warplens.model.address_hash import hashed
from warplens.model.lru import find
from warplens.simc import compiled

ALL_PLACES = assumed(1 << 22, "words", "effort: memory of the simulation")
# defined: above all line numbers
AT_HOME = 1 << 40  # distinguishes a line in its home partition from its copy in the other
TWO_HALVES = 2
BUFFER = 22  # defined: log2 of the lines of a buffer with keys of its own, 512 MiB


class L2Share(NamedTuple):
    """tags, stamps (of the last use), pieces (of 64 bytes that are present): of each entry;  waves: last to request
    a line. No entries where a trace is too short to fill the share."""

    tags: Any
    stamps: Any
    pieces: Any
    waves: Any


class Requester(NamedTuple):
    """Requester of a line.

    share     of the lines like this one that this SM tracks, in its share of L2: one of the SMs that request them
    keys      where many request them at their own times, not 0: number of keys that represent all lines, so that the
              requests of other SMs are seen: one key is requested as often as all SMs request a line
    at_home   the request goes to the home partition, as stores do, and no copy is made
    wave      of blocks
    """

    share: float
    keys: float
    at_home: bool
    wave: int


def l2_share_table(lines: int, words: int) -> L2Share:
    """Table for so many lines, for a trace of so many words, at most one line a word."""
    entries = 0 if TWO_HALVES * words < lines else max(lines // p.WAYS, 1) * p.WAYS
    waves = np.zeros(min(1 << (2 * words).bit_length(), ALL_PLACES) if entries else 1, np.uint8)
    return L2Share(np.full(entries, -1, np.int64), np.zeros(entries), np.zeros(entries, np.int64), waves)


@compiled
def holds_line(line, pieces, asker, held, clock, partitions):  # type: ignore[no-untyped-def]
    """Whether L2 still holds these of the two pieces of a line, which it does from now on, or this is the first
    request of the wave of blocks (reuse between blocks is estimated by reuse_distance.py)."""
    keys = asker.keys
    if held.tags.size == 0 or (keys == 0 and hashed(line + 13) >= asker.share):
        return True
    if keys > 0:
        line = (line >> BUFFER) * (1 << BUFFER) + int(hashed(line + 13) * keys)
    far = partitions == TWO_HALVES and hashed(line + 17) < 0.5
    there = not (far and asker.at_home) and _touch_entry(line, pieces, held, clock)
    if not there and far:
        there = _touch_entry(line + AT_HOME, pieces, held, clock)
    waves = held.waves
    place, this = int(hashed(line + 19 + (pieces * AT_HOME if keys > 0 else 0)) * waves.size), asker.wave % 255 + 1
    again = waves[place] == this
    waves[place] = this
    return there or not again


@compiled
def _touch_entry(line, pieces, held, clock):  # type: ignore[no-untyped-def]
    key = int(hashed(line) * 16777216.0) + 16777216 * int(hashed(line + 7) * 65536.0)
    entry, there = find(held.tags, held.stamps, held.tags.size // p.WAYS, p.WAYS, key)
    if not there:
        held.tags[entry], held.pieces[entry] = key, 0
    held.stamps[entry] = clock
    there = held.pieces[entry] & pieces == pieces
    held.pieces[entry] |= pieces
    return there


@compiled
def was_requested(known, sector):  # type: ignore[no-untyped-def]
    """Whether this SM has requested these 64 bytes, so that they are in L2: hashed into 2^27 entries, with few
    collisions. `known`: a bit for each entry (ALL_PLACES), or where there are few their numbers, which fit the
    host's caches."""
    place = int(hashed(sector + 5) * 16777216.0) + 16777216 * int(hashed(sector + 9) * 8.0)
    if known.size == ALL_PLACES:
        if known[place >> 5] >> (place & 31) & 1:
            return True
        known[place >> 5] |= np.uint32(1) << np.uint32(place & 31)
        return False
    at = place & (known.size - 1)
    while known[at] != 0:
        if known[at] == place + 1:
            return True
        at = (at + 1) & (known.size - 1)
    known[at] = place + 1
    return False

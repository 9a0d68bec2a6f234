"""What one multiprocessor knows of L2: what it has asked for, and which lines its share of L2 still holds.

Where warps come back to lines that L1 has lost, and more lines are in use at the same time than L2 has room for, DRAM
gives them again: of rows that threads walk along (`walk 64 of every 64 words`: with 35 MB in use at the same time DRAM
is read once, with 52 MB 9 times, with 69 MB 27 times), of rows that are read twice.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from warplens.model import layout as p
from warplens.model.address_hash import hashed
from warplens.model.lru import find
from warplens.simc import compiled

ALL_PLACES = 1 << 22  # words; effort: memory of the simulation
# defined: above all numbers of lines
AT_HOME = 1 << 40  # what tells a line in the half of L2 where it is at home from its copy in the other
TWO_HALVES = 2
BUFFER = 22  # defined: lines of a buffer whose keys are its own: 2 to this power, 512 MiB


class L2Share(NamedTuple):
    """tags, stamps (of the last use), pieces (of 64 bytes that are there): of each entry;  waves: that asked for a line
    last.  No entries where so short a record cannot fill the share."""

    tags: Any
    stamps: Any
    pieces: Any
    waves: Any


class Asker(NamedTuple):
    """Who asks for a line.

    share     of the lines like this one of which this SM keeps book, in its share of L2: one of so many that ask for
              them
    keys      where many ask for them at times of their own, not 0: so many stand for all of them.  What others ask
              for is seen in this way: as many ask for one of these keys as all ask for a line
    at_home   the line is asked for in its home partition, as stores do, and no copy is made
    wave      of blocks
    """

    share: float
    keys: float
    at_home: bool
    wave: int


def book_of(lines: int, words: int) -> L2Share:
    """Of so many lines, for a record of so many words, with a line a word at the most."""
    entries = 0 if TWO_HALVES * words < lines else max(lines // p.WAYS, 1) * p.WAYS
    waves = np.zeros(min(1 << (2 * words).bit_length(), ALL_PLACES) if entries else 1, np.uint8)
    return L2Share(np.full(entries, -1, np.int64), np.zeros(entries), np.zeros(entries, np.int64), waves)


@compiled
def keeps(line, pieces, asker, held, clock, partitions):  # type: ignore[no-untyped-def]
    """Whether L2 still has these of the two pieces of a line, as it does from now on, or the wave of blocks has not
    asked for the line yet (what blocks share, reuse_distance.py estimates)."""
    keys = asker.keys
    if held.tags.size == 0 or (keys == 0 and hashed(line + 13) >= asker.share):
        return True
    if keys > 0:
        line = (line >> BUFFER) * (1 << BUFFER) + int(hashed(line + 13) * keys)
    far = partitions == TWO_HALVES and hashed(line + 17) < 0.5
    there = not (far and asker.at_home) and _found(line, pieces, held, clock)
    if not there and far:
        there = _found(line + AT_HOME, pieces, held, clock)
    waves = held.waves
    place, this = int(hashed(line + 19 + (pieces * AT_HOME if keys > 0 else 0)) * waves.size), asker.wave % 255 + 1
    again = waves[place] == this
    waves[place] = this
    return there or not again


@compiled
def _found(line, pieces, held, clock):  # type: ignore[no-untyped-def]
    key = int(hashed(line) * 16777216.0) + 16777216 * int(hashed(line + 7) * 65536.0)
    entry, there = find(held.tags, held.stamps, held.tags.size // p.WAYS, p.WAYS, key)
    if not there:
        held.tags[entry], held.pieces[entry] = key, 0
    held.stamps[entry] = clock
    there = held.pieces[entry] & pieces == pieces
    held.pieces[entry] |= pieces
    return there


@compiled
def asked_before(known, sector):  # type: ignore[no-untyped-def]
    """Whether this multiprocessor has asked for these 64 bytes, so that they are in L2: a place of 2^27 for each,
    seldom for two.  `known`: a bit for each place (ALL_PLACES), or where there are few their numbers, which the host's
    caches hold."""
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

"""L2 partial sectors: partially written sectors and dirty lines in one SM's share of L2.

A thread that walks along a row of its own stores each sector part by part.  L2 has space for few partially written
lines: the one of its set that was stored to least recently is evicted, its sectors are filled from DRAM and written,
and written again when the rest of them has been stored.  L2 keeps more lines that are complete and dirty, but not all
either: one that is stored to again after its write-back is written once more.  `walk stores` and `walk sums` of
measurements/h200/parts_lost.csv: 270,336 threads that store 4 bytes at a time along rows of 512 bytes make DRAM read
79 MB and write 235, of the 138 that they store.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from warplens.machine.parameter import assumed
from warplens.model import layout as p
from warplens.model.address_hash import hashed
from warplens.model.lru import find
from warplens.model.sm.dram_share import add_store_work
from warplens.model.sm.l2_share import was_requested
from warplens.simc import compiled

SECTOR, HALF = 32.0, 16.0  # defined: bytes
WHOLE = assumed(31.5, "bytes", "a tolerance: thirds of a sector add up to that")
# Flags that distinguish a sector that has been stored to, and filled, from one that has been read.
STORED, FILLED = 1 << 41, 1 << 42  # defined: above all numbers of lines


class PartialSectors(NamedTuple):
    """Of partially written lines: tags, stamps (of stores), covered (bytes of each sector), ways (of a set);  of all
    dirty lines: written (tags), when.  No entries where a trace is too short to fill them."""

    tags: Any
    stamps: Any
    covered: Any
    ways: int
    written: Any
    when: Any


class SectorBytes(NamedTuple):
    """Bytes that an access stores in a lone sector, at an end of a row of sectors, and inside it."""

    lone: float
    end: float
    inner: float


class StoredSectors(NamedTuple):
    """Sectors words[first:last] of one line, of an access that has words[begin:end] and for which sector_bytes() gives
    `each`."""

    words: Any
    first: int
    last: int
    begin: int
    end: int
    each: SectorBytes


def partial_sector_table(parts: int, ways: int, lines: int, words: int) -> PartialSectors:
    """Tables for so many partially written lines in sets of `ways`, and dirty lines, for a trace of so many words."""
    some = 0 if 2 * words < parts else max(parts // ways, 1) * ways
    every = 0 if 2 * words < lines else max(lines // p.WAYS, 1) * p.WAYS
    return PartialSectors(
        np.full(some, -1, np.int64), np.zeros(some), np.zeros(4 * some), ways, np.full(every, -1, np.int64),
        np.zeros(every),
    )  # fmt: skip


@compiled
def count_neighbours(words, at, first, last):  # type: ignore[no-untyped-def]
    """How many of the two neighbouring sectors the access covers as well."""
    before = at > first and words[at - 1] + 1 == words[at]
    return int(before) + int(at < last - 1 and words[at] + 1 == words[at + 1])


@compiled
def sector_bytes(words, first, last, moved):  # type: ignore[no-untyped-def]
    """Bytes stored in a lone sector, at an end of a row, and inside it, by an access that moves `moved` bytes.

    Rows of sectors begin somewhere in the first and end somewhere in the last, where another store may continue.
    """
    ends = inner = 0
    for at in range(first, last):
        beside = count_neighbours(words, at, first, last)
        ends += int(beside == 1)
        inner += int(beside == 2)
    alone = last - first - ends - inner
    rest = moved - HALF * ends - SECTOR * inner
    if ends + inner == 0 or rest + HALF * ends <= 0:
        each = min(moved / max(last - first, 1), SECTOR)
        return SectorBytes(each, each, each)
    if alone == 0:
        end = min((rest + HALF * ends) / max(ends, 1), SECTOR) if rest >= HALF * ends else HALF
        return SectorBytes(SECTOR, end, SECTOR)
    return SectorBytes(min(max(rest / alone, 1.0), SECTOR), HALF, SECTOR)


@compiled
def stored_bytes(stored):  # type: ignore[no-untyped-def]
    """Bytes stored in the sectors."""
    found, each = 0.0, stored.each
    for at in range(stored.first, stored.last):
        beside = count_neighbours(stored.words, at, stored.begin, stored.end)
        found += each.lone if beside == 0 else each.end if beside == 1 else each.inner
    return found


@compiled
def stores_whole_sectors(line, supply):  # type: ignore[no-untyped-def]
    """Whether a block stores whole sectors here; other cases are estimated by dirty_sectors.py."""
    for n in range(supply.lows.size):
        if supply.lows[n] <= 4 * line + 3 and 4 * line < supply.highs[n]:
            return hashed(line + 23) < supply.whole[n]
    return False


@compiled
def record_store(line, stored, kept, known, book, clock):  # type: ignore[no-untyped-def]
    """Record a store to sectors of a line: (partial sectors that DRAM has to fill, sectors that it has to write once
    more).

    kept     whether L2 still holds the line, if it ever did;  known: requests of this SM (l2_share.was_requested)
    """
    words, each, covered = stored.words, stored.each, book.covered
    if book.tags.size == 0:
        return 0, 0
    key = int(hashed(line) * 16777216.0) + 16777216 * int(hashed(line + 7) * 65536.0)
    waits = True
    if book.written.size:
        at, waits = find(book.written, book.when, book.written.size // p.WAYS, p.WAYS, key)
        book.written[at], book.when[at] = key, clock
    entry, there = find(book.tags, book.stamps, book.tags.size // book.ways, book.ways, key)
    filled = again = 0
    for at in range(stored.first, stored.last):
        beside = count_neighbours(words, at, stored.begin, stored.end)
        stores = each.lone if beside == 0 else each.end if beside == 1 else each.inner
        sector = 4 * entry + (int(words[at]) & 3)
        if not there and stores < WHOLE:
            for k in range(4 * entry, 4 * entry + 4):
                covered[k] = 0.0
            book.tags[entry], there = key, True
        before = was_requested(known, STORED + 4 * line + (int(words[at]) & 3))
        again += int(before and (not waits if kept else stores >= WHOLE))
        if there:
            book.stamps[entry] = clock
            gone = before and covered[sector] == 0 and stores < WHOLE
            if gone and (not kept or not was_requested(known, FILLED + 4 * line + (int(words[at]) & 3))):
                filled += 1
            covered[sector] = SECTOR if gone and kept else min(covered[sector] + stores, SECTOR)
    return filled, filled + again


@compiled
def charge_dram(gone, request, memory):  # type: ignore[no-untyped-def]
    """DRAM's cost of the result of record_store(): partial sectors cost as much as lone ones."""
    filled, again = gone
    settings, counts = memory.settings.dram, memory.counts
    if again > 0:
        counts.l2_filled += filled
        counts.l2_rewritten += again
        reads = 64.0 * settings.lone_half * filled / settings.read_bytes
        writes = 32.0 * (again + filled * (settings.lone_sector - 1)) / settings.write_bytes
        add_store_work(request, reads, writes, memory.servers.dram)

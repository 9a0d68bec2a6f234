"""LRU cache: sets of tags, the least recently used way is evicted."""

from __future__ import annotations

from warplens.simc import compiled


@compiled
def find(tags, stamps, sets, ways, line):  # type: ignore[no-untyped-def]
    """(entry, whether the line hits); on a miss the least recently used entry of its set."""
    first = (line % sets) * ways
    place = 0
    for way in range(ways):  # no early exit from the loop, so that the host vectorises the comparisons
        place += int(tags[first + way] == line) * (way + 1)
    if place > 0:
        return first + place - 1, True
    oldest = first
    for entry in range(first, first + ways):
        if stamps[entry] < stamps[oldest]:
            oldest = entry
    return oldest, False

"""A cache that evicts what has not been used for longest, set by set."""

from __future__ import annotations

from warplens.simc import compiled


@compiled
def find(tags, stamps, sets, ways, line):  # type: ignore[no-untyped-def]
    """(entry, whether the line is there); else the entry of its set that has not been used for longest."""
    first = (line % sets) * ways
    place = 0
    for way in range(ways):  # without a way out of the loop, so that the host compares several at once
        place += int(tags[first + way] == line) * (way + 1)
    if place > 0:
        return first + place - 1, True
    oldest = first
    for entry in range(first, first + ways):
        if stamps[entry] < stamps[oldest]:
            oldest = entry
    return oldest, False

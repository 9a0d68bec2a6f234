"""A cache that evicts what has not been used for longest, set by set.  F5."""

from __future__ import annotations

from warplens.compiled import compiled


@compiled
def find(tags, stamps, sets, ways, line):  # type: ignore[no-untyped-def]
    """(entry, whether the line is there); else the entry of its set that has not been used for longest."""
    first = (line % sets) * ways
    oldest = first
    for entry in range(first, first + ways):
        if tags[entry] == line:
            return entry, True
        if stamps[entry] < stamps[oldest]:
            oldest = entry
    return oldest, False

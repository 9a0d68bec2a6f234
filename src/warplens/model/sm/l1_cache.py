"""Which lines L1 keeps.  F5.

L1 has what shared memory leaves of the unified memory, in lines of 128 bytes, and gives up the one that nobody has
touched for longest.  One warp that touches some lines twice and then others once finds the former again however many
go by, up to 1,024 of them (measurements/h200/l1_lines.csv): a rule after that is nearer to those readings, and farther
from kernels of many warps, whose lines are all touched several times.  What that costs these is in l1_share.
"""

from __future__ import annotations

from warplens.model import layout as p
from warplens.model.lru import find
from warplens.simc import compiled

LINE = 128  # bytes


def lines_of(unified: int, carveout: int, share: float) -> int:
    return int(share * (unified - carveout)) // LINE


def sets_of(lines: int) -> int:
    """A prime, so that lines any number of lines apart fill all sets, as in an H200 where it is a power of two."""
    most = max(lines // p.WAYS + 1, 2)
    return next(sets for sets in range(most, 1, -1) if all(sets % n for n in range(2, sets)))


@compiled
def touched(line, tags, stamps, clock):  # type: ignore[no-untyped-def]
    """(the entry of a line, whether it was there before)."""
    entry, there = find(tags, stamps, tags.size // p.WAYS, p.WAYS, line)
    tags[entry], stamps[entry] = line, clock
    return entry, there

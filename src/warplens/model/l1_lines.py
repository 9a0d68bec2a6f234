"""Which lines L1 keeps.  F5.

L1 has what shared memory leaves of the unified memory, in lines of 128 bytes, and gives up the line that nobody has
touched for longest - but of those that have been touched only once, be it for one sector or for all.  So lines that
are used again stay however many go by that are not: of N lines that an H200 touched twice all are there behind 4,000
others, up to 1,024 of them, of 1,700 the last 1,023; of 128 that it touched once 126 are there behind 1,600, none
behind 2,500.

A quarter of the unified memory is never for lines like these, and they get no more than half of it:
1,024 lines of 1,792, 740 of 1,248, 250 of 736, none of 224.  A line that is touched a third time takes the place of
one that has been touched twice: of 512 of those none is left behind 512 others that have been touched three times
(measurements/h200/l1_lines.csv).
"""

from __future__ import annotations

import numpy as np

from warplens.compiled import compiled
from warplens.model import places as p
from warplens.model.least_used import find

LINE = 128  # bytes
FOR_NEW, FOR_USED = 1 / 4, 1 / 2  # of the unified memory: at least for lines touched once, at most for the others
USED = 2.0**50  # stands in the stamp of a line that has been touched again, twice if it has been once more


def lines_of(unified: int, carveout: int) -> int:
    return (unified - carveout) // LINE


def sets_of(lines: int) -> int:
    """A prime, so that lines any number of lines apart fill all sets, as in an H200 where it is a power of two."""
    most = max(lines // p.WAYS + 1, 2)
    return next(sets for sets in range(most, 1, -1) if all(sets % n for n in range(2, sets)))


def used_ways(unified: int, carveout: int) -> float:
    """Lines of a set that may be kept because they were used again."""
    lines, all_lines = lines_of(unified, carveout), unified / LINE
    kept = max(min(all_lines * FOR_USED, lines - all_lines * FOR_NEW), 0.0)
    return round(p.WAYS * kept / lines) if lines else 0.0


@compiled
def touched(line, tags, stamps, clock, used):  # type: ignore[no-untyped-def]
    """(the entry of a line, whether it was there before)."""
    entry, there = find(tags, stamps, tags.size // p.WAYS, p.WAYS, line)
    touches = np.floor(stamps[entry] / USED) + 2 if there else 1.0  # no more than four are told apart
    tags[entry], stamps[entry] = line, clock + USED * (min(touches, 3.0) - 1)
    if touches in (2.0, 3.0):
        oldest, number = entry, 0
        first = entry - entry % p.WAYS
        for each in range(first, first + p.WAYS):
            if stamps[each] >= USED:
                number += 1
                if stamps[each] < stamps[oldest]:
                    oldest = each
        if number > used or (touches == 3 and stamps[oldest] < 2 * USED):
            stamps[oldest] -= USED * np.floor(stamps[oldest] / USED)
    return entry, there

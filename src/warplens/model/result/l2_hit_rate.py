"""L2 hit rate: the lookups that Nsight Compute counts, and which of them hit.

In an L2 of two halves (partitions) each line has its home in one, and SMs access their near half.  If the home is the
far half, the line is looked up there as well, a second lookup; lines that are read are then in both halves.  So of
sectors read once half are looked up twice, and all of these lookups miss; stores and atomics are looked up one and a
half times each, and hit.  Each piece of 64 bytes read from DRAM costs one miss for the requested sectors (`first`), in
half of the cases two more at home (it is fetched whole), and where the other half reads it too (`both`), another
`first` misses in half of the cases and two lookups at home that hit:

    lookups = reads + 1.5 (stores + atomics) + pieces (1 + both)
    misses  = pieces (first (1 + both / 2) + 1)

`read 4_4`, `rounds together`, `loads alone`, `load pieces` and `crowd add` of measurements/h200/calibration_lookups.csv
agree within 2 %.  L2 also serves code, to each of eight groups of SMs, the data of a launch, and page-table lookups.
The hit counter has a surplus that shows where a launch does little else: Nsight Compute reports hit rates of 250 % for
empty kernels, and so does this.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

PIECE = 2  # sectors of a DRAM read
TWO_HALVES = 2
# source: calibration_lookups.csv
FILL = 0.8  # lookups of a partially written sector that has to be filled (`write strided`: 0.77 to 0.81)
CODE_SECTOR = 32
# Of an H200: `empty`, `cold code`, `once read` and `once write` of calibration_lookups.csv.
CODE_READERS = 8  # requests for each sector of the code; source: as above
LAUNCH, LAUNCH_MISSES = 860, 176  # lookups of an empty kernel; source: as above
UNSEEN, UNSEEN_HITS = 1250, 3100  # counted only in the sum of all sources; source: as above
# source: as above; page lookups at most, and sectors after which nearly all are done
PAGES, PAGES_AFTER = 13_000, 200_000


@dataclass(frozen=True)
class L2Lookups:
    """Of a launch: all lookups of L2, and those that hit.

    hits may exceed all, as in Nsight Compute
    """

    all: float
    hits: float

    @property
    def percent(self) -> float:
        return 100 * self.hits / self.all


@dataclass(frozen=True)
class L2Requests:
    """Requests of a whole grid to L2, in sectors.

    reads, stores, atomics   of SMs;  pieces: of 64 bytes that DRAM reads;  first: sectors of one that are requested
    together;  both: share of the pieces that SMs of both halves read
    filled   partially written sectors that DRAM is read for;  code: bytes
    """

    reads: float
    stores: float
    atomics: float
    pieces: float
    first: float
    both: float
    filled: float
    code: float


def lookups(asked: L2Requests, halves: int) -> L2Lookups:
    changes = asked.stores + asked.atomics
    pieces = min(asked.pieces, (asked.reads + asked.atomics) / max(asked.first, 1.0))
    code = asked.code / CODE_SECTOR
    pages = 2 * PAGES * -math.expm1(-(asked.reads + changes) / PAGES_AFTER)
    found = asked.reads + changes + FILL * asked.filled
    missed = pieces * asked.first + asked.filled
    more, more_missed = CODE_READERS * code, code
    if halves == TWO_HALVES:
        found += changes / 2 + pieces * (1 + asked.both)
        missed += pieces * (1 + asked.both * asked.first / 2)
        more, more_missed = more + code, 2 * code
    everything = found + more + LAUNCH + UNSEEN + pages
    hits = everything - missed - more_missed - LAUNCH_MISSES + UNSEEN_HITS - UNSEEN
    return L2Lookups(everything, hits)

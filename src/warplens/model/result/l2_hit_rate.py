"""What Nsight Compute counts as lookups of L2, and which of them hit.

An L2 of two halves has each line at home in one of them, and multiprocessors ask the half beside them.  What is at home
in the other is looked up there as well, a second lookup; what was read stands in both halves from then on.  So of
sectors that are read once half are looked up twice, and all of these lookups miss; stores and atomics are looked up one
and a half times each, and hit.  Each piece of 64 bytes that DRAM is read for costs one miss for the sectors that were
asked for (`first`), in half of the cases two at home besides (it is fetched whole), and where the other half reads it
too (`both`), another `first` misses in half of the cases and two lookups at home that hit:

    lookups = reads + 1.5 (stores + atomics) + pieces (1 + both)
    misses  = pieces (first (1 + both / 2) + 1)

`read 4_4`, `rounds together`, `loads alone`, `load pieces` and `crowd add` of measurements/h200/calibration_lookups.csv
have these within 2 %.  Besides L2 is asked for the code, by each of eight groups of multiprocessors, and for what a
launch needs; and pages are looked up.  The counter of hits has some more, which shows where a launch does little else:
Nsight Compute tells hit rates of 250 % of empty kernels, and so does this.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

PIECE = 2  # sectors that DRAM gives at a time
TWO_HALVES = 2
# source: calibration_lookups.csv
FILL = 0.8  # lookups of a stored part of a sector that has to be filled up (`write strided`: 0.77 to 0.81)
CODE_SECTOR = 32
# Of an H200: `empty`, `cold code`, `once read` and `once write` of calibration_lookups.csv.
CODE_READERS = 8  # times that each sector of the code is asked for; source: as above
LAUNCH, LAUNCH_MISSES = 860, 176  # lookups of an empty kernel; source: as above
UNSEEN, UNSEEN_HITS = 1250, 3100  # that only the sums of all sources have; source: as above
# source: as above; lookups of pages at the most, and after how many sectors nearly all are done
PAGES, PAGES_AFTER = 13_000, 200_000


@dataclass(frozen=True)
class L2Lookups:
    """Of a launch: all lookups of L2, and those that hit.

    hits may be more: Nsight Compute counts so
    """

    all: float
    hits: float

    @property
    def percent(self) -> float:
        return 100 * self.hits / self.all


@dataclass(frozen=True)
class L2Requests:
    """What a whole grid asks of L2, in sectors.

    reads, stores, atomics   by multiprocessors;  pieces: of 64 bytes that DRAM is read for;  first: sectors of one that
    are asked for together;  both: share of the pieces that multiprocessors beside both halves read
    filled   stored parts of sectors that DRAM is read for;  code: bytes
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

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

from warplens.machine import Microarchitecture

PIECE = 2  # sectors of a DRAM read
TWO_HALVES = 2
CODE_SECTOR = 32


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


def lookups(asked: L2Requests, halves: int, units: Microarchitecture) -> L2Lookups:
    """halves: of L2"""
    changes = asked.stores + asked.atomics
    pieces = min(asked.pieces, (asked.reads + asked.atomics) / max(asked.first, 1.0))
    code = asked.code / CODE_SECTOR
    pages = 2 * units.lookups_pages * -math.expm1(-(asked.reads + changes) / units.lookups_pages_after)
    found = asked.reads + changes + units.lookups_per_fill * asked.filled
    missed = pieces * asked.first + asked.filled
    more, more_missed = units.lookups_code_readers * code, code
    if halves == TWO_HALVES:
        found += changes / 2 + pieces * (1 + asked.both)
        missed += pieces * (1 + asked.both * asked.first / 2)
        more, more_missed = more + code, 2 * code
    everything = found + more + units.lookups_launch + units.lookups_unseen + pages
    known = everything - missed - more_missed - units.lookups_launch_misses
    hits = known + units.lookups_unseen_hits - units.lookups_unseen
    return L2Lookups(everything, hits)

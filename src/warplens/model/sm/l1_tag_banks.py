"""Tags of L1 stand in four banks, of which each is asked for one line a cycle.  F5."""

from __future__ import annotations

from warplens.model import layout as p
from warplens.simc import compiled

BANKS = 4  # source: `lines of a load` of calibration.csv
# Lines whose numbers have an odd count of these bits (`lines of a load` of the calibration).
FIRST, SECOND = 0b01010110101, 0b11101101111  # source: test_record.py compares all 196


@compiled
def bank_of(line):  # type: ignore[no-untyped-def]
    return 2 * odd(line & FIRST) + odd(line & SECOND)


@compiled
def odd(bits):  # type: ignore[no-untyped-def]
    """Whether so many of 16 bits are set."""
    bits ^= bits >> 8
    bits ^= bits >> 4
    bits ^= bits >> 2
    return (bits ^ bits >> 1) & 1


@compiled
def comes_to(servers):  # type: ignore[no-untyped-def]
    """What a line lacks comes from L2 and takes all banks for a cycle (`runs` of measurements/h200/runs.csv: threads
    that load 16 words in a row, 41 words apart, take 9.6 cycles of tags a load, and one more for each line that is
    fetched, 14.5 together; measured 14.8)."""
    for bank in range(BANKS):
        servers[p.TAGS + bank] += 1

"""L2 partitions: which lines both halves of an L2 hold, and which are evicted from both.

The home of a line is one half, which alone loads it from DRAM.  SMs access their near half; a line whose home is the
far half is looked up there, and a copy stays in the near one.  Allocation is by lines of 128 bytes, though DRAM reads
64 at a time.  So of random uses half go to the home directly, and of the others those that find no copy: these come
after a pause, and a home that sees fewer uses than all together evicts sooner.  LRU caches with these rules reproduce
the DRAM bytes of `gather` in measurements/h200/l2_patterns.csv without any constant;
tests/model/grid/test_l2_partitions.py simulates each use.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Shares = NDArray[np.float64]


def refetch_share(unused: float, apart: float, beside: float) -> float:
    """Share of a piece's uses that read DRAM, if for `unused` uses of its line the reuse distance exceeds the L2
    capacity.

    apart    share of pieces, two a line, that are used independently: a reloaded line has only the requested one, and
             the other misses as well
    beside   share of the uses that may hit a copy
    """
    own = unused**0.5  # of the uses from one half
    at_home = own * (1 + own * (1 + np.log(max(own, 1e-9)))) / 2
    pieces = 1 - apart + apart * 2 / (1 + unused)
    return float(min(((1 - beside) * unused + beside * at_home) * pieces, 1.0))


def allocated_lines(recent: Shares, uses: Shares) -> Shares:
    """Lines allocated at home and as copies: `recent` of them have been used recently, `uses` times each on average.
    Uses of one line are clustered where they are more than random ones would be."""
    unused = np.clip(1 - recent, 1e-9, 1.0)
    together = np.maximum(uses / np.maximum(-np.log(unused), 1e-9), 1.0)
    each = 1 - 2.0**-together  # of such clusters reach a given half
    own = unused**each
    alone = (1 - each) / each * -own * np.log(own)  # the other half has used it, and this one has not
    return (1 - own * (1 - alone)) + (1 - own)

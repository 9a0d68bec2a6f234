"""An L2 of two halves: what both of them hold, and what neither holds any more.

Each line is at home in one half, which alone asks DRAM for it.  Multiprocessors ask the half beside them; what is at
home in the other is looked up there, and a copy stays.  Room is given to lines of 128 bytes, though DRAM is read for 64
at a time.  So of uses at random half ask the home at once, and of the others those that find no copy: such asks come
after a pause, and a home that is asked more seldom than all together ask forgets sooner.  Caches with these rules, the
least recently used going first, give the DRAM bytes of `gather` in measurements/h200/l2_patterns.csv without any
constant; tests/model/grid/test_l2_partitions.py follows each use.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Shares = NDArray[np.float64]


def fetched_anew(unused: float, apart: float, beside: float) -> float:
    """Share of the uses of a piece for which DRAM is read, if of `unused` uses of its line the last one before lies
    further back than L2 remembers.

    apart    how many of the pieces, two of a line, are used each for itself: a line that comes back has only the one
             that is asked for, and the other misses as well
    beside   share of the uses that may find a copy
    """
    own = unused**0.5  # of the uses that come from one side
    at_home = own * (1 + own * (1 + np.log(max(own, 1e-9)))) / 2
    pieces = 1 - apart + apart * 2 / (1 + unused)
    return float(min(((1 - beside) * unused + beside * at_home) * pieces, 1.0))


def beside_home(recent: Shares, uses: Shares) -> Shares:
    """Places that lines take, each once at home and once beside it: `recent` of them have been used lately, `uses`
    times each in the mean of all.  Uses of one line come together where they are more than chance would have it."""
    unused = np.clip(1 - recent, 1e-9, 1.0)
    together = np.maximum(uses / np.maximum(-np.log(unused), 1e-9), 1.0)
    each = 1 - 2.0**-together  # of such groups of uses reach a given half
    own = unused**each
    alone = (1 - each) / each * -own * np.log(own)  # the other side has asked, and this one has not
    return (1 - own * (1 - alone)) + (1 - own)

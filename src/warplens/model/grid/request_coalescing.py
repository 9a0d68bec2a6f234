"""Of what several multiprocessors ask L2 for at the same time one request in four arrives.

On their way requests for the same sector are joined, four at the most (the L2 request coalescer of Nsight Compute's
charts): of what 132 blocks read in step 26 % arrive at L2, as often as they read it and wherever it comes from, of what
32 blocks read 31 %, 16 63 %, and of two both (`table of`, `rounds` of measurements/h200/joined.csv); of tiles that 12
blocks share 53 to 63 %, that 24 do 42 to 50 % (`steps`).

Requests that come later than the answer are not joined.  Blocks that have waited for 32 lines of their own are so far
apart that 35 % of what all ask for then arrive (`table after 32`); where several blocks of a multiprocessor have other
work between, 70 to 73 % of what 24 ask for do, in short launches and in long ones (`steps ... 512 between`).
"""

from __future__ import annotations

from warplens.model.grid.sector_footprint import SectorFootprint
from warplens.simc import compiled

MOST = 4.0  # requests that are joined; source: joined.csv: of 132 blocks 26 %
ONE_MORE = 16  # askers for each of them; assumed: fitted by hand to joined.csv: of 16 blocks 63 %, of 32 31 %
# source: joined.csv
TOGETHER = 300.0  # cycles: a second load of one warp joins the first for 150, for 300 half do (`second 0 words on`)
# assumed: fitted by hand to joined.csv: after 32 lines of their own 35 %
DRIFT = 0.02  # cycles by which blocks get apart, for each since the launch
MOST_APART = 1100.0  # cycles; assumed: fitted by hand to joined.csv


def group_of(pieces: SectorFootprint, at_once: int, active: int) -> float:
    """How many requests for a piece of 64 bytes are joined if all blocks that run at the same time go in step."""
    different = pieces.of(at_once)
    blocks = pieces.each * at_once / different if different else 1.0
    return min(1 + max(min(blocks, active) - 1, 0.0) / ONE_MORE, MOST)


@compiled
def arriving(group, apart, since):  # type: ignore[no-untyped-def]
    """Share of the requests that arrive, so many cycles after the launch began.

    group   of how many one would, in step;  apart: how far apart in their work blocks are (beside.apart)
    """
    spread = max(TOGETHER, max(min(DRIFT * since, MOST_APART), apart * since))
    return 1.0 / (1.0 + (group - 1.0) * TOGETHER / spread)

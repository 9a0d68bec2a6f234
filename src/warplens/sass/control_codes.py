"""Control codes: the scheduling fields of an instruction word.

Bits 105 to 125 of the 128-bit word, the same on all architectures from sm_70 on: stall cycles in 108:105, the
inverted yield hint in 109, write and read scoreboards in 112:110 and 115:113 (7 for none), and the mask of
scoreboards to wait for in 121:116.  Found by public reverse engineering (Jia et al., arXiv 1804.06826).
"""

from __future__ import annotations

from warplens.core.program import Control
from warplens.machine.parameter import published

NO_SCOREBOARD = 7
LONGEST_STALL = published(11, "cycles", "Huerta et al., MICRO 2025, arXiv 2503.20481")
"""Of a stall count without the yield hint: a larger one lasts only 1 or 2 cycles."""


def control(encoding: int) -> Control:
    fields = encoding >> 105
    return Control(
        stall=fields & 0xF,
        yield_hint=not fields >> 4 & 1,
        write_barrier=_scoreboard(fields >> 5 & 7),
        read_barrier=_scoreboard(fields >> 8 & 7),
        wait_mask=fields >> 11 & 0x3F,
    )


def _scoreboard(number: int) -> int | None:
    return None if number == NO_SCOREBOARD else number

"""Wide multiply: IMAD.HI and IMAD.WIDE pass through their pipe twice.

Measured on an H200 (`mixture` of the calibration): the pipe is occupied for 4 cycles and the ALU, which adds the
halves, for 2; the warp's next instruction issues 2 cycles later than the compiler's stall count, and one that reads the
result 9 cycles later, 7 if the lower half is enough, whatever that count is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from warplens.core.program import Program
from warplens.model.instruction.register_banks import sources, takes_two_passes

NEXT = 2  # `mixture high, 4 warps`: 6.2 cycles from one to the next of a warp, where the stall count is 4
# source: calibration.csv
RESULT = 9  # `mixture high, one chain`: 9.1 where it is 6; `high_lop` 14.1 with 5 + 5, `imad_high` 13.2 with 4 + 4
# source: calibration.csv
LOWER = 7  # `mixture wide, one chain`: 16.2 with an IADD3 of the lower half, then an IADD3.X of the upper one
DESTINATION = 16  # defined: bit of the encoding


def extra_stalls(program: Program, stalls: NDArray[np.int64]) -> NDArray[np.int64]:
    """By instruction, the cycles that its warp waits after it beyond its stall count."""
    more = np.zeros(len(program.instructions), np.int64)
    for block in program.blocks:
        ready: dict[int, int] = {}
        t, before = 0, None
        for i in program.instructions[block.first : block.last + 1]:
            late = max((ready.get(register, 0) for _, register in sources(i)), default=0) - t if ready else 0
            if late > 0 and before is not None:
                more[before] += late
                t += late
            if takes_two_passes(i):
                more[i.index] += NEXT
                first = i.encoding >> DESTINATION & 0xFF
                wide = "WIDE" in i.modifiers
                ready[first] = t + (LOWER if wide else RESULT)
                if wide:
                    ready[first + 1] = t + RESULT
            t += int(stalls[i.index] + more[i.index])
            before = i.index
    return more

"""Wide multiply: IMAD.HI and IMAD.WIDE pass through their pipe twice.

Measured on an H200 (`mixture` of the calibration): the pipe is occupied for 4 cycles and the ALU, which adds the
halves, for 2; the warp's next instruction issues 2 cycles later than the compiler's stall count, and one that reads the
result 9 cycles later, 7 if the lower half is enough, whatever that count is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from warplens.core.program import Program
from warplens.machine import Microarchitecture
from warplens.model.instruction.register_banks import sources, takes_two_passes

DESTINATION = 16  # defined: bit of the encoding


def extra_stalls(program: Program, stalls: NDArray[np.int64], units: Microarchitecture) -> NDArray[np.int64]:
    """By instruction, the cycles that its warp waits after it beyond its stall count."""
    later, result, lower = int(units.wide_next_cycles), int(units.wide_result_cycles), int(units.wide_lower_cycles)
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
                more[i.index] += later
                first = i.encoding >> DESTINATION & 0xFF
                wide = "WIDE" in i.modifiers
                ready[first] = t + (lower if wide else result)
                if wide:
                    ready[first + 1] = t + result
            t += int(stalls[i.index] + more[i.index])
            before = i.index
    return more

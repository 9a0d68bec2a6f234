"""Footprint map: whether threads that ran blocks of one grid touched what another one of them wrote.

Each thread takes its blocks in order of their number.  If no word that one thread wrote was touched by another, memory
holds what blocks in order would have left there.
"""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import addressof

import numpy as np
from numpy.typing import NDArray

from warplens.core.memory_opcodes import BULK, IN_GLOBAL_MEMORY, MEMORY
from warplens.core.program import Program
from warplens.emulator.memory.buffer_pool import address
from warplens.emulator.memory.device_memory import Allocation
from warplens.emulator.state.structs import Footprint, WorkerEnv
from warplens.sass.block_queue import polls_other_blocks

BYTES = 32  # of memory that a byte of a map stands for: a bit for each word
AT_A_TIME = 1 << 20  # bytes of the maps that are compared at once, which need so much memory three times
Words = NDArray[np.uint64]


def can_be_mapped(program: Program) -> bool:
    """Whether all that the program does to global memory is seen, and no block waits for another one."""
    bases = {i.base for i in program.instructions}
    spaces = {MEMORY[base].space for base in bases & MEMORY.keys()}
    return not (bases & BULK or spaces & IN_GLOBAL_MEMORY or polls_other_blocks(program))


class FootprintMap:
    """Footprint map of a worker, of the memory of these allocations and what lies between; what it does not touch takes
    no memory."""

    def __init__(self, env: WorkerEnv, allocations: Sequence[Allocation]) -> None:
        low = min(a.address for a in allocations) & -4 * BYTES
        span = max(a.address + a.size for a in allocations) - low
        self.low = low
        self.read, self.written = (np.zeros(span // BYTES // 8 + 3, np.uint64) for _ in range(2))
        self.record = Footprint(low, span, address(self.read), address(self.written))
        env.footprint = addressof(self.record)

    def part(self, marks: Words, allocation: Allocation) -> NDArray[np.uint8]:
        """The bits of an allocation, which begins at a multiple of BYTES; the last byte may have others, too."""
        first = (allocation.address - self.low) // BYTES
        return marks.view(np.uint8)[first : first - (-allocation.size // BYTES)]


def conflict(maps: Sequence[FootprintMap], allocations: Sequence[Allocation]) -> bool:
    """Whether a worker touched a word of these allocations that another one wrote."""
    for allocation in allocations:
        parts = [(one.part(one.read, allocation), one.part(one.written, allocation)) for one in maps]
        for first in range(0, parts[0][0].size, AT_A_TIME):
            here = slice(first, first + AT_A_TIME)
            if _meet([(read[here], written[here]) for read, written in parts]):
                return True
    return False


def _meet(marks: Sequence[tuple[NDArray[np.uint8], NDArray[np.uint8]]]) -> bool:
    """Whether one has a bit among its written ones that another one has at all; of each the read and the written."""
    touched, written = (np.zeros_like(marks[0][0]) for _ in range(2))
    for read, writes in marks:
        uses = read | writes
        if (writes & touched).any() or (uses & written).any():
            return True
        touched |= uses
        written |= writes
    return False

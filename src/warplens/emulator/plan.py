"""Where each count of a program stands in a worker's array of counters.

First two entries a basic block (times executed, active lanes), then a row of columns an instruction, then an entry an
instruction for the executions whose counts are known beforehand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplens.program import Instruction, Program

ON, DIVERGENT, REQUESTS, SECTORS, TAGS, WAVEFRONTS, IDEAL, BYTES = range(8)
COLUMNS = 8  # one cache line a row
# Of LDGSTS the executions that others keep in the last entries are none; its sectors as L1 counts them stand there.
COPY_IDEAL = DIVERGENT  # of LDGSTS, which has no targets: the ideal on its shared side
# What stands behind DIVERGENT in the row of an instruction that accesses no memory but moves lanes.
PARTED, REPLAYS, REPLAYED = REQUESTS, SECTORS, TAGS
# Instructions: of longer code most is in no inner loop, and who waits for a launch waits for the translation.
LARGE = 300
MOVES_LANES = {"BRA", "BRX", "BRXU", "BSYNC", "CALL", "ENDCOLLECTIVE", "JMP", "RET", "WARPSYNC"}


def takes_condition(instruction: Instruction) -> bool:
    """`BRA P1, target`, `EXIT P1`: a predicate besides the guard says who goes; only those count as switched on."""
    wanted = {"BRA": 2, "EXIT": 1}.get(instruction.opcode)
    return wanted is not None and len(instruction.operands) == wanted


@dataclass(frozen=True)
class Kinds:
    """What decides how the columns are read, an entry an instruction: whether it copies to shared memory, moves
    lanes, is conditional; and the lengths of the basic blocks."""

    copies: NDArray[np.bool_]
    flow: NDArray[np.bool_]
    conditional: NDArray[np.bool_]
    lengths: NDArray[np.int64]


def kinds_of(program: Program) -> Kinds:
    every = program.instructions
    return Kinds(
        copies=np.array([i.base == "LDGSTS" for i in every]),
        flow=np.array([i.base in MOVES_LANES for i in every]),
        conditional=np.array([i.guard is not None or takes_condition(i) for i in every]),
        lengths=np.array([block.last + 1 - block.first for block in program.blocks]),
    )


@dataclass(frozen=True)
class Plan:
    program: Program

    @property
    def size(self) -> int:
        return self.hit(len(self.program.instructions))

    def block(self, number: int) -> int:
        """Entry of a block's execution count; its lanes stand behind."""
        return 2 * number

    def row(self, instruction: int) -> int:
        """First entry of an instruction's columns."""
        start = -(-2 * len(self.program.blocks) // COLUMNS) * COLUMNS
        return start + COLUMNS * instruction

    def hit(self, instruction: int) -> int:
        return self.row(len(self.program.instructions)) + instruction

    def read(
        self, kinds: Kinds, counters: NDArray[np.int64], weights: NDArray[np.int64]
    ) -> dict[str, Any]:
        """Counters as arrays of one entry an instruction; `weights`: what a hit adds to the columns from REQUESTS on.
        """
        n = len(self.program.instructions)
        of_blocks = counters[: 2 * len(self.program.blocks)].reshape(-1, 2)
        executed, threads = (np.repeat(column, kinds.lengths) for column in of_blocks.T)
        copies, flow, conditional = kinds.copies, kinds.flow, kinds.conditional
        rows = counters[self.row(0) : self.hit(0)].reshape(n, COLUMNS).copy()
        rows[:, REQUESTS:] += counters[self.hit(0) :, None] * weights

        def memory(column: int) -> NDArray[np.int64]:
            return np.where(flow, 0, rows[:, column])

        def lanes(column: int) -> NDArray[np.int64]:
            return np.where(flow, rows[:, column], 0)

        return {
            "executed": executed,
            "threads": threads,
            "threads_on": np.where(conditional, rows[:, ON], threads),
            "divergent": np.where(copies, 0, rows[:, DIVERGENT]),
            "parted": lanes(PARTED),
            "replays": lanes(REPLAYS),
            "replayed": lanes(REPLAYED),
            "requests": memory(REQUESTS),
            "sectors": memory(SECTORS),
            "tags": memory(TAGS),
            "wavefronts": rows[:, WAVEFRONTS].copy(),
            "ideal": rows[:, IDEAL].copy(),
            "copy_ideal": np.where(copies, rows[:, COPY_IDEAL], 0),
            "copy_sectors": np.where(copies, counters[self.hit(0) :], 0),
            "bytes": rows[:, BYTES].copy(),
        }

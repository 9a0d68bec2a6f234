"""Counter layout: the index of each count of a program in a worker's array of counters.

First two entries a basic block (times executed, active lanes), then a row of columns an instruction, then an entry an
instruction for executions with statically known counts, then two rows a generic access, for the lanes that reach
shared and local memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplens.core.counts import ReachedSectors
from warplens.core.memory_opcodes import EVERY_ACTION, opcodes
from warplens.core.program import Instruction, Program
from warplens.isa.dsl.warp_interface import Space

ON, DIVERGENT, REQUESTS, SECTORS, TAGS, WAVEFRONTS, IDEAL, BYTES = range(8)
COLUMNS = 8  # one cache line a row
# LDGSTS has no executions of a known pattern: its entries there hold its sectors as L1 counts them.
COPY_IDEAL = DIVERGENT  # of LDGSTS, which has no targets: the ideal on its shared side
GENERIC_BYTES = DIVERGENT  # of a generic access: bytes at different addresses, in all spaces
# The columns after DIVERGENT in the row of an instruction that accesses no memory but redirects lanes.
PARTED, REPLAYS, REPLAYED = REQUESTS, SECTORS, TAGS
# Instructions: most of longer code is outside inner loops, and the first launch waits for the compilation.
LARGE = 300
COPIES = opcodes(("global",), ("copy",))
GENERIC = opcodes(("generic",), EVERY_ACTION)
ELSEWHERE: tuple[Space, ...] = ("shared", "local")  # lanes of a generic access that reach these count in separate rows
NO_LANE_ON = ("ACQBULK",)  # counts no lane as predicated on: 2 warps, an H200, 2026-11-21, ncu 2025.3.1
MOVES_LANES = {"BRA", "BRX", "BRXU", "BSYNC", "CALL", "ENDCOLLECTIVE", "JMP", "RET", "WARPSYNC"}


def takes_condition(instruction: Instruction) -> bool:
    """`BRA P1, target`, `BREAK B0, P1`, `EXIT P1`: a second predicate selects lanes; only these are on."""
    wanted = {"BRA": 2, "BREAK": 2, "EXIT": 1}.get(instruction.opcode)
    return wanted is not None and len(instruction.operands) == wanted


@dataclass(frozen=True)
class Kinds:
    """Instruction kinds, which select how columns are read: an array each, 1 or 0 an instruction.

    Copies to shared memory, is a generic access, redirects lanes, does not, is conditional, counts targets; and the
    lengths of the basic blocks.

    Multiplying takes a quarter of the time of numpy's where().
    """

    copies: NDArray[np.int64]
    generic: NDArray[np.int64]
    flow: NDArray[np.int64]
    still: NDArray[np.int64]
    conditional: NDArray[np.bool_]
    targets: NDArray[np.int64]
    lengths: NDArray[np.int64]


@dataclass(frozen=True)
class CounterLayout:
    program: Program

    @property
    def size(self) -> int:
        return self._generic_start + COLUMNS * len(ELSEWHERE) * len(self.generic)

    @cached_property
    def bases(self) -> frozenset[str]:
        """The opcodes of the program, without modifiers."""
        return frozenset(i.base for i in self.program.instructions)

    @cached_property
    def generic(self) -> dict[int, int]:
        """Instruction number -> ordinal of each generic access."""
        found = (n for n, i in enumerate(self.program.instructions) if i.base in GENERIC)
        return {instruction: number for number, instruction in enumerate(found)}

    @cached_property
    def kinds(self) -> Kinds:
        every = self.program.instructions
        copies, generic, flow = (
            np.array([i.base in bases for i in every], np.int64) for bases in (COPIES, GENERIC, MOVES_LANES)
        )
        return Kinds(
            copies=copies,
            generic=generic,
            flow=flow,
            still=1 - flow,
            targets=1 - (copies | generic),
            conditional=np.array([i.guard is not None or takes_condition(i) or i.base in NO_LANE_ON for i in every]),
            lengths=np.array([block.last + 1 - block.first for block in self.program.blocks]),
        )

    @cached_property
    def _generic_start(self) -> int:
        """First entry after the hits, aligned to the host's cache lines."""
        return -(-self.hit(len(self.program.instructions)) // COLUMNS) * COLUMNS

    def block(self, number: int) -> int:
        """Entry of a block's execution count; its lanes are the next."""
        return 2 * number

    def row(self, instruction: int, space: Space = "global") -> int:
        """First entry of an instruction's columns; of a generic access, for its lanes that reach a space."""
        if space in ELSEWHERE and instruction in self.generic:
            part = len(ELSEWHERE) * self.generic[instruction] + ELSEWHERE.index(space)
            return self._generic_start + COLUMNS * part
        start = -(-2 * len(self.program.blocks) // COLUMNS) * COLUMNS
        return start + COLUMNS * instruction

    def hit(self, instruction: int) -> int:
        return self.row(len(self.program.instructions)) + instruction

    def executed(self, counters: NDArray[np.int64]) -> int:
        """Warp instructions."""
        return int(self.executed_by_block(counters).sum())

    def executed_by_block(self, counters: NDArray[np.int64]) -> NDArray[np.int64]:
        """Warp instructions of each basic block."""
        executed: NDArray[np.int64] = counters[: 2 * len(self.program.blocks) : 2] * self.kinds.lengths
        return executed

    def read(self, counters: NDArray[np.int64], weights: NDArray[np.int64]) -> dict[str, Any]:
        """Counters as arrays, an entry per instruction; `weights`: what a hit adds to the columns from REQUESTS on."""
        n, kinds = len(self.program.instructions), self.kinds
        of_blocks = counters[: 2 * len(self.program.blocks)].reshape(-1, 2)
        executed, threads = of_blocks.repeat(kinds.lengths, axis=0).T
        columns = counters[self.row(0) : self.hit(0)].reshape(n, COLUMNS).T.copy()
        hits = counters[self.hit(0) : self.hit(n)]
        columns[REQUESTS:] += hits * weights.T
        parts = self._parts(counters)
        if self.generic:
            for part in parts.values():
                columns += part
        memory, lanes = columns[REQUESTS : TAGS + 1] * kinds.still, columns[PARTED : REPLAYED + 1] * kinds.flow
        return {
            "executed": executed,
            "threads": threads,
            "threads_on": np.where(kinds.conditional, columns[ON], threads),
            "divergent": columns[DIVERGENT] * kinds.targets,
            "parted": lanes[0],
            "replays": lanes[1],
            "replayed": lanes[2],
            "requests": memory[0],
            "sectors": memory[1],
            "tags": memory[2],
            "wavefronts": columns[WAVEFRONTS],
            "ideal": columns[IDEAL],
            "copy_ideal": columns[COPY_IDEAL] * kinds.copies,
            "copy_sectors": hits * kinds.copies,
            "bytes": columns[BYTES],
            "generic_bytes": columns[GENERIC_BYTES] * kinds.generic,
            "reached": {space: ReachedSectors(*part[REQUESTS:]) for space, part in parts.items()},
        }

    def _parts(self, counters: NDArray[np.int64]) -> dict[Space, NDArray[np.int64]]:
        """Columns of every instruction by space: of generic accesses the lanes that reached it, else zeros."""
        n = len(self.program.instructions)
        parts = {space: np.zeros((COLUMNS, n), np.int64) for space in ELSEWHERE}
        if self.generic:
            found = counters[self._generic_start :].reshape(len(self.generic), len(ELSEWHERE), COLUMNS)
            for which, space in enumerate(ELSEWHERE):
                parts[space][:, list(self.generic)] = found[:, which].T
        return parts

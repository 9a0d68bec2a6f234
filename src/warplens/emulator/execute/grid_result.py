"""Grid result: what the workers of a grid counted, found and printed, together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplens.core.counts import Counts, LongestWarp
from warplens.core.launch import Launch
from warplens.core.program import Program
from warplens.emulator.execute import syscalls
from warplens.emulator.execute.worker import Worker
from warplens.emulator.instrument.findings import FindingTable
from warplens.emulator.instrument.global_race_detector import GlobalMemory
from warplens.emulator.instrument.hazard_report import hazards, unwatched
from warplens.emulator.memory.device_memory import DeviceMemory
from warplens.emulator.state.check_set import Checks

NOT_KEPT: Counts = np.empty(0, np.int64)


class GridResult:
    """Grid result: counts and warp instructions by basic block (read when needed), findings and output of the blocks
    that ran."""

    def __init__(
        self, counts: Callable[[], dict[str, Any]], executed: Callable[[], NDArray[np.int64]], blocks: int,
        workers: Sequence[Worker], races: GlobalMemory | None, block_instructions: Counts = NOT_KEPT,
    ) -> None:  # fmt: skip
        self.counts, self.executed, self.blocks = counts, executed, blocks
        self.findings: list[FindingTable] = [worker.findings for worker in workers]
        self.races = races
        self.printed = syscalls.output([worker.driver for worker in workers])
        self.driver_calls = tuple(sorted(set().union(*(worker.driver.names for worker in workers))))
        self.longest, self.block_instructions = longest_warp(workers), block_instructions

    def hazards(self, program: Program, launch: Launch, memory: DeviceMemory, checks: Checks) -> tuple[Any, ...]:
        found = hazards(self.findings, program, launch, memory, checks)
        if self.races and self.races.unwatched:
            found += (unwatched(self.races.unwatched),)
        return found


def longest_warp(workers: Sequence[Worker]) -> LongestWarp | None:
    """Longest warp of all workers; of equal ones that of the first block."""
    found = [LongestWarp(worker.env.longest_warp, worker.env.longest_block) for worker in workers]
    known = [one for one in found if one.block >= 0]
    return max(known, key=lambda one: (one.instructions, -one.block), default=None)


def total_of(workers: Sequence[Worker]) -> Counts:
    return sum((worker.counters for worker in workers[1:]), workers[0].counters.copy())


def merged_use(workers: Sequence[Worker]) -> NDArray[np.uint64]:
    """Use of each buffer by all workers (Touch bits, combined)."""
    first, *others = (worker.touched() for worker in workers)
    for used in others:
        first |= used
    return first

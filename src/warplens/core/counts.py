"""Counts: raw counts of a launch by instruction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warplens.core.count_dependence import NO_DEPENDENCE, CountDependence
from warplens.core.hazard import Hazard
from warplens.core.launch import Launch
from warplens.core.metric import Provenance

Counts = NDArray[np.int64]
LONG_WARP = 4096  # instructions: of shorter warps none is kept as the longest
MANY_BLOCKS = 1 << 20  # of more blocks the instructions of each are not kept
SHORT_WARP = 256  # instructions in loops: those of shorter warps are not added up by block


@dataclass(frozen=True)
class ReachedSectors:
    """Reached sectors: counts of the lanes of generic accesses that reached one space; arrays as in a Trace."""

    requests: Counts
    sectors: Counts
    tags: Counts
    wavefronts: Counts
    ideal: Counts
    bytes: Counts


class LongestWarp(NamedTuple):
    """Longest warp of a launch.

    instructions  that it executed, in its loops
    block         its block; of equally long warps the first block
    """

    instructions: int
    block: int


@dataclass(frozen=True)
class Trace:
    """Trace: raw counts of one launch.  Every array has one entry an instruction of the program, summed over the grid.

    executed          warp instructions executed (predicates ignored)
    threads           active lanes, summed;  threads_on: active lanes whose guard is true
    divergent         targets that the lanes of a branch chose beyond the first, summed over its executions
    parted            executions of a branch whose lanes chose more than one target
    replays           issues of an executed instruction beyond the first: jumps with several targets, barriers whose
                      lanes were released by others;  replayed: active lanes of these, summed
    requests          memory instructions that at least one lane performed
    sectors           distinct 32-byte sectors (global, local), summed over requests
    tags              distinct 128-byte lines (global, local)
    wavefronts        passes of the shared-memory data stage (shared)
    ideal             sectors (global, local) or wavefronts (shared) if the lanes' accesses were perfectly packed, at
                      most the actual number; of a copy from global to shared memory the sectors
    copy_ideal        of such a copy the wavefronts
    copy_sectors      of such a copy L1's count: bypassing L1, pairs of a source line and a target sector
    bytes             that lanes touched, shared ones counted once
    generic_bytes     of a generic access: at how many different addresses, in all spaces together
    reached           "shared" and "local": the part of these counts of generic accesses whose lanes reached that
                      space; the rest reached global memory
    blocks_run        of the grid;  seconds: on the host, including filling device memory
    hazards           findings of the enabled checks
    printed           by the kernel's printf, block after block in order of their numbers
    dependence        on the order of warps or on time
    driver_calls      functions of the driver that were called: their instructions are not counted
    longest           the longest warp, where one executed LONG_WARP instructions or more
    block_instructions  of each block in loops of warps that execute SHORT_WARP there, or more; empty where the grid has
                      MANY_BLOCKS or more
    """

    launch: Launch
    executed: Counts
    threads: Counts
    threads_on: Counts
    divergent: Counts
    parted: Counts
    replays: Counts
    replayed: Counts
    requests: Counts
    sectors: Counts
    tags: Counts
    wavefronts: Counts
    ideal: Counts
    copy_ideal: Counts
    copy_sectors: Counts
    bytes: Counts
    generic_bytes: Counts
    blocks_run: int
    seconds: float
    hazards: tuple[Hazard, ...] = ()
    printed: str = ""
    reached: Mapping[str, ReachedSectors] = field(default_factory=dict)
    dependence: CountDependence = NO_DEPENDENCE
    driver_calls: tuple[str, ...] = ()
    longest: LongestWarp | None = None
    block_instructions: Counts = field(default_factory=lambda: np.empty(0, np.int64))

    def __repr__(self) -> str:
        blocks = f"{self.blocks_run:,} of {self.launch.blocks:,} blocks"
        return f"<Trace of {blocks}: {int(self.executed.sum()):,} warp instructions>"

    @property
    def sampled(self) -> bool:
        return self.blocks_run < self.launch.blocks

    def provenance(self, of_addresses: bool) -> Provenance:
        """Provenance of sums of these counts; of_addresses: including those derived from addresses."""
        if self.sampled:
            return "sampled"
        incomplete = self.dependence.counts or self.driver_calls
        return "modelled" if incomplete or (of_addresses and self.dependence.addresses) else "exact"

    def modelled(self, of_addresses: bool) -> Sequence[int] | None:
        """The instructions whose counts are not exact, of a trace that is not sampled; None: all."""
        counts, addresses, waiting, placed = self.dependence
        if self.driver_calls or (counts and waiting is None):
            return None
        some = waiting or () if counts else ()
        return (*some, *placed) if of_addresses and addresses else some

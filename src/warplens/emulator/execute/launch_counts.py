"""Launch counts: the counters of a launch, read on first use: reading takes as long as 50,000 instructions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplens.core.count_dependence import CountDependence
from warplens.core.counts import Counts, LongestWarp, Trace
from warplens.core.hazard import Hazard
from warplens.core.launch import Launch


@dataclass(frozen=True)
class LaunchTrace:
    """read   the arrays of a Trace, by name;  dependence: a field of it;  the rest as in Trace
    executed   warp instructions by basic block: read in a twentieth of the time
    counted    False: there are no other counts
    """

    launch: Launch
    read: Callable[[], dict[str, Any]]
    blocks_run: int
    seconds: float
    hazards: tuple[Hazard, ...]
    printed: str
    dependence: Callable[[], CountDependence]
    executed: Callable[[], NDArray[np.int64]]
    longest: LongestWarp | None
    block_instructions: Counts
    driver_calls: tuple[str, ...] = ()
    counted: bool = True

    @cached_property
    def trace(self) -> Trace:
        assert self.counted, "the launch was executed without counters"
        return Trace(
            self.launch, blocks_run=self.blocks_run, seconds=self.seconds, hazards=self.hazards, printed=self.printed,
            dependence=self.dependence(), longest=self.longest,
            block_instructions=self.block_instructions, driver_calls=self.driver_calls, **self.read(),
        )  # fmt: skip

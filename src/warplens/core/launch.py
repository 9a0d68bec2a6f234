"""Launch: the launch configuration of a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

Dim3: TypeAlias = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Launch:
    """Launch configuration: grid and block as (x, y, z); `shared` is dynamic shared memory in bytes a block.

    cooperative   all blocks are resident at once and may wait for each other (grid.sync())
    """

    grid: Dim3
    block: Dim3
    shared: int = 0
    cooperative: bool = False

    @property
    def blocks(self) -> int:
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def threads_per_block(self) -> int:
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def warps_per_block(self) -> int:
        return -(-self.threads_per_block // 32)

"""Footprints of sectors that sampled blocks reach."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from warplens.model.grid.reuse_distance import BlockOrder
from warplens.model.grid.sector_footprint import BlockSample, SectorFootprint, SectorUses, footprint


def sampled_footprint(
    sectors: np.ndarray, blocks: np.ndarray, sampled: Sequence[int] | np.ndarray, order: BlockOrder | int,
    progress: np.ndarray | float = 0.0, most: int = 1 << 30, share: float = 1.0,
) -> SectorFootprint:  # fmt: skip
    """sectors, blocks, progress: of each use, blocks by number;  order: of all blocks, or their number, if they run
    one after the other;  share: of all lines, from which the sectors are"""
    numbers = np.sort(np.array(sampled, np.int64))
    uses = SectorUses(
        sectors.astype(np.uint32), np.searchsorted(numbers, blocks), np.broadcast_to(np.float64(progress), blocks.shape)
    )
    return footprint(uses, BlockSample(numbers, BlockOrder(order) if isinstance(order, int) else order, share), most)

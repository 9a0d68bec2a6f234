"""Warp timeline: what each warp of one SM does in every cycle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warplens.model.layout import REASONS


@dataclass(frozen=True)
class WarpTimeline:
    """Columns of one length, by warp and then by time.

    warps      (block, warp) of each warp, blocks by their number on this SM
    warp       place in `warps`;  reason: place in REASONS, "selected" where it issues
    instruction   that it issues or waits to issue;  start, end: cycles
    megahertz  of the cycles;  cut: whether warps did more than is recorded
    """

    warps: tuple[tuple[int, int], ...]
    warp: NDArray[np.int64]
    reason: NDArray[np.int64]
    instruction: NDArray[np.int64]
    start: NDArray[np.float64]
    end: NDArray[np.float64]
    megahertz: float
    cut: bool

    @property
    def cycles(self) -> float:
        return float(self.end.max()) if self.end.size else 0.0

    def shares(self) -> dict[str, float]:
        """Share of the warps' cycles by reason, most first."""
        cycles = np.bincount(self.reason, self.end - self.start, len(REASONS))
        total = float(cycles.sum()) or 1.0
        ordered = sorted(zip(REASONS, (cycles / total).tolist(), strict=True), key=lambda pair: (-pair[1], pair[0]))
        return {name: share for name, share in ordered if share}

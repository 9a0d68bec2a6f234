"""Where each warp's chain ends, and the numbers that its threads kept."""

from __future__ import annotations

from typing import Any

import numpy as np

TOLERANCE = 1e-5


def truth(next_: Any, read: Any, out: Any, steps: Any, *, keep: int) -> dict[str, Any]:
    at = np.arange(out.size // 32)
    for _ in range(steps):
        at = next_[at]
    kept = read.reshape(-1, 1024)[:keep].sum(axis=0, dtype=np.float64)
    return {"out": np.repeat(at, 32) + np.resize(kept, out.size)}

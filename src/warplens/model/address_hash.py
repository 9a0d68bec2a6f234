"""Address hash: pseudo-random, the same in every run."""

from __future__ import annotations

import numpy as np

from warplens.simc import compiled


@compiled
def hashed(line):  # type: ignore[no-untyped-def]
    """A number from 0 to 1 that depends on the line alone."""
    h = np.uint64(line) * np.uint64(0x9E3779B97F4A7C15)
    h ^= h >> np.uint64(29)
    h *= np.uint64(0xBF58476D1CE4E5B9)
    return float(h >> np.uint64(40)) / 16777216.0

"""C = A B in double precision."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

TOLERANCE = 1e-5  # single precision adds up to 2,048 products of one sign: roundings of 2^-24 that mostly cancel


def truth(a: Floats, b: Floats, c: Floats, n: int) -> dict[str, NDArray[np.float64]]:
    """Square matrices of n rows."""
    n = int(n)
    return {"c": a.reshape(n, n).astype(np.float64) @ b.reshape(n, n).astype(np.float64)}

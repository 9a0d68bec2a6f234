"""Attention in double precision: softmax of the scaled products of queries and keys, times the values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

TOLERANCE = 0.02  # the weights of the second product and its result are rounded to 8 binary digits

Half = NDArray[np.uint16]


def truth(q: Half, k: Half, v: Half, o: Half, n: Any, scale: Any, *, causal: int) -> dict[str, Any]:
    queries, keys, values = (floats(x).reshape(-1, int(n), 128).astype(np.float64) for x in (q, k, v))
    scores = queries @ keys.transpose(0, 2, 1) * float(scale)
    if causal:
        scores[:, ~np.tri(int(n), dtype=bool)] = -np.inf
    weights = np.exp2(scores - scores.max(-1, keepdims=True))
    return {"o": weights / weights.sum(-1, keepdims=True) @ values}


def result(q: Half, k: Half, v: Half, o: Half, n: Any, scale: Any) -> dict[str, Any]:
    return {"o": floats(o)}


def floats(x: Half) -> NDArray[np.float32]:
    """The numbers whose upper halves these are: NumPy has no bfloat16."""
    return (x.astype(np.uint32) << 16).view(np.float32)

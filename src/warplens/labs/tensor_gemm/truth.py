"""The product of A and the transposed of B, in double precision."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

TOLERANCE = 0.01  # C is rounded to 8 binary digits


def truth(a: NDArray[np.uint16], b: NDArray[np.uint16], c: NDArray[np.uint16], n: Any) -> dict[str, Any]:
    square = (int(n), int(n))
    return {"c": floats(a).reshape(square).astype(np.float64) @ floats(b).reshape(square).T}


def result(a: NDArray[np.uint16], b: NDArray[np.uint16], c: NDArray[np.uint16], n: Any) -> dict[str, Any]:
    return {"c": floats(c)}


def floats(x: NDArray[np.uint16]) -> NDArray[np.float32]:
    """The numbers whose upper halves these are: NumPy has no bfloat16."""
    return (x.astype(np.uint32) << 16).view(np.float32)

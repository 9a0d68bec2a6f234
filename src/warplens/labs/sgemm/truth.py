"""The product, in double precision."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

TOLERANCE = 1e-5


def truth(a: NDArray[np.float32], b: NDArray[np.float32], c: NDArray[np.float32], n: Any) -> dict[str, Any]:
    square = (int(n), int(n))
    return {"c": a.reshape(square).astype(np.float64) @ b.reshape(square)}

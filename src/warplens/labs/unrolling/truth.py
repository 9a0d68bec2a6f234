"""z = x + y, element by element."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


def truth(x: Floats, y: Floats, z: Floats, n: Any) -> dict[str, Floats]:
    """All elements, bit for bit: one addition has one result."""
    return {"z": x + y}

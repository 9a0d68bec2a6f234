"""What the copies have to leave in `out`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


def truth(x: Floats, out: Floats, n: Any) -> dict[str, Floats]:
    return {"out": x}


def every_second(x: Floats, out: Floats, n: Any) -> dict[str, Floats]:
    return {"out": x[2 * np.arange(int(n)) % int(n)]}

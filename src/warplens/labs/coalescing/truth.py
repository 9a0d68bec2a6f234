"""What each rung must compute."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


def truth(source: Floats, out: Floats, n: int) -> dict[str, Any]:
    """A copy, element by element."""
    return {"out": source[:n]}


def every_second(source: Floats, out: Floats, n: int) -> dict[str, Any]:
    """Every second element, and from the beginning again at the end."""
    return {"out": source[2 * np.arange(n) % n]}


def strided(source: Floats, out: Floats, n: int, stride: int) -> dict[str, Any]:
    """Every stride-th element."""
    return {"out": source[: n * stride : stride]}


def shifted(source: Floats, out: Floats, n: int, offset: int) -> dict[str, Any]:
    """All elements from `offset` on."""
    return {"out": source[offset : offset + n]}


def row_sums(source: Floats, out: Floats, n: int, width: int) -> dict[str, Any]:
    """Sums of rows of `width` elements, added in the order of the kernel."""
    return {"out": np.add.accumulate(source.reshape(n // width, width), axis=1)[:, -1]}


def column_sums(source: Floats, out: Floats, n: int, width: int) -> dict[str, Any]:
    """Sums of columns of `width` elements, added in the order of the kernel."""
    return {"out": np.add.accumulate(source.reshape(width, n // width), axis=0)[-1]}

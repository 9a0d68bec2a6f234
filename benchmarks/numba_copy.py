"""The kernel nccopy in Numba's CUDA simulator.

Import it in a process of its own: the switch below holds for all of Numba.
"""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np

os.environ["NUMBA_ENABLE_CUDASIM"] = "1"

from numba import cuda  # reads the switch

THREADS = 128  # a block


@cuda.jit  # type: ignore[untyped-decorator]
def nccopy(source: Any, target: Any, n: int) -> None:
    i = cuda.grid(1)  # type: ignore[attr-defined]
    if i < n:
        target[i] = source[(i * 2) % n]


def seconds(n: int, repeats: int) -> float:
    """The best of the repeats, after a warm-up.  AssertionError if the copy is wrong."""
    source, target = np.arange(n, dtype=np.float32), np.zeros(n, np.float32)
    return min([one(source, target) for _ in range(1 + repeats)][1:])


def one(source: Any, target: Any) -> float:
    start = time.perf_counter()
    nccopy[len(source) // THREADS, THREADS](source, target, len(source))
    taken = time.perf_counter() - start
    assert np.array_equal(target, source[2 * np.arange(len(source)) % len(source)])
    return taken

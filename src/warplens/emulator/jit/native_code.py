"""Native code: a kernel in machine code of this host, as functions that ctypes calls."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplens.emulator.jit.lazy_divergent_code import LazyDivergentCode

RunBlocks = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
RunAbreast = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, *[ctypes.c_int64] * 3)
RunBlock = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)


@dataclass(frozen=True)
class NativeCode:
    """A kernel in machine code of this host, which lives as long as what is in `loaded`.

    weights   what a hit of each instruction adds to its counters (counter_layout.py)
    apart     the code for lanes apart, where it is by itself
    places    of a kernel that is run piece by piece: the address of the step that each place begins with, or 0
    run_abreast  of one that is not
    """

    run_blocks: Any
    run_block: Any
    weights: NDArray[np.int64]
    loaded: list[Any]
    apart: LazyDivergentCode | None = None
    places: NDArray[np.uint64] | None = None
    run_abreast: Any = None

    def check(self) -> None:
        """Raises what stopped a run while it had to be translated further."""
        if self.apart is not None and self.apart.failure is not None:
            failure, self.apart.failure = self.apart.failure, None
            raise failure

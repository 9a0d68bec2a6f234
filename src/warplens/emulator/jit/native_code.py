"""Native code: a kernel as machine code of this host, callable by ctypes."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplens.emulator.jit.lazy_divergent_code import LazyDivergentCode

RunBlocks = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
RunInterleaved = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, *[ctypes.c_int64] * 3)
RunBlock = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)


@dataclass(frozen=True)
class NativeCode:
    """Native code of a kernel, valid as long as the modules in `loaded`.

    weights   what a hit of each instruction adds to its counters (counter_layout.py)
    divergent the code for diverged warps, if it is a module of its own
    places    of threaded code: the address of the record that each instruction starts with, or 0
    run_interleaved  of compiled code
    """

    run_blocks: Any
    run_block: Any
    weights: NDArray[np.int64]
    loaded: list[Any]
    divergent: LazyDivergentCode | None = None
    places: NDArray[np.uint64] | None = None
    run_interleaved: Any = None

    def check(self) -> None:
        """Raises the error that stopped a run while divergent code was compiled."""
        if self.divergent is not None and self.divergent.failure is not None:
            failure, self.divergent.failure = self.divergent.failure, None
            raise failure

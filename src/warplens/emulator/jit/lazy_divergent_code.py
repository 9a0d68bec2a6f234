"""Divergent-warp code, compiled lazily at a kernel's first divergence, which most kernels never reach."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Any

from warplens.emulator.state.structs import Status

RunDivergent = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32, ctypes.c_int32
)


class LazyDivergentCode:
    """Lazy compilation stub of run_divergent (warp_function.py): compiles it at the first call, patches the pointer.

    `place` is the address of the pointer by which compiled code calls run_divergent; `make` compiles, loads, and
    returns run_divergent's address.  An error stops the run and is kept in `failure`: an exception cannot pass through
    native code.
    """

    def __init__(self, place: int, make: Callable[[], int]) -> None:
        self.failure: BaseException | None = None
        self._make = make
        self._pointer = ctypes.c_void_p.from_address(place)
        self._lock = threading.Lock()
        self._stub = RunDivergent(self._called)  # must live as long as the code
        self._real: Any = None
        self._pointer.value = ctypes.cast(self._stub, ctypes.c_void_p).value

    def _called(self, *arguments: int) -> int:
        try:
            with self._lock:
                if self._real is None:
                    address = self._make()
                    self._real = RunDivergent(address)
                    self._pointer.value = address
        except BaseException as wrong:
            self.failure = wrong
            return Status.STOPPED
        return int(self._real(*arguments))

"""The code for warps whose lanes have gone separate ways: translated when a warp first parts, which most never do."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Any

from warplens.emulator.state.structs import Status

RunApart = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32, ctypes.c_int32
)


class LazyDivergentCode:
    """Stands in for run_apart (warp_function.py) until it is called, then puts the real one in its place.

    `place` is the address of the pointer that translated code calls run_apart by; `make` translates, loads, and gives
    run_apart's address.  What goes wrong in that stops the run, and is kept in `failure` for whoever started it: code
    that was translated cannot be left by an exception.
    """

    def __init__(self, place: int, make: Callable[[], int]) -> None:
        self.failure: BaseException | None = None
        self._make = make
        self._pointer = ctypes.c_void_p.from_address(place)
        self._lock = threading.Lock()
        self._stand_in = RunApart(self._called)  # must live as long as the code
        self._real: Any = None
        self._pointer.value = ctypes.cast(self._stand_in, ctypes.c_void_p).value

    def _called(self, *arguments: int) -> int:
        try:
            with self._lock:
                if self._real is None:
                    address = self._make()
                    self._real = RunApart(address)
                    self._pointer.value = address
        except BaseException as wrong:
            self.failure = wrong
            return Status.STOPPED
        return int(self._real(*arguments))

"""Array views: an address inside of a device buffer, as a slice or a transposed tensor has it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class ArrayView:
    """Array view: launch() passes the address `offset` bytes behind the start of `storage`, which is one buffer for
    all its views."""

    storage: NDArray[Any]
    offset: int

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of an element of the storage."""
        return self.storage.dtype


@dataclass(frozen=True)
class RestoredArray:
    """Restored array: launch() writes its storage in place, and gives it its old content back afterwards."""

    storage: NDArray[Any]

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of an element of the storage."""
        return self.storage.dtype


def view_of(array: NDArray[Any]) -> ArrayView | NDArray[Any]:
    """The array itself, or where it is a part of another's memory or not contiguous, a view of that."""
    owner = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    if owner is array and array.flags.c_contiguous:
        return array
    low, high = np.lib.array_utils.byte_bounds(owner)
    if not (owner.flags.c_contiguous or owner.flags.f_contiguous):  # memory of another library, whose ends are unknown
        return ArrayView(memory(low, high - low, owner), array.ctypes.data - low)
    flat = owner.reshape(-1, order="A") if owner.flags.c_contiguous else owner.T
    return ArrayView(flat, array.ctypes.data - low)


def memory(address: int, size: int, owner: object) -> NDArray[np.uint8]:
    """Bytes of the host at this address, as an array that keeps their owner alive."""
    return np.asarray(_HostMemory(address, size, owner))


class _HostMemory:
    """Array interface of memory that is not NumPy's."""

    def __init__(self, address: int, size: int, owner: object) -> None:
        self.owner = owner
        self.__array_interface__ = {"data": (address, False), "shape": (size,), "typestr": "|u1", "version": 3}

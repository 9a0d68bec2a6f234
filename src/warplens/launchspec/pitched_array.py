"""Pitched arrays: rows begin at aligned addresses, as of cudaMallocPitch and cudaMallocPitch3D.

A row is padded to a multiple of the GPU's alignment; element (row, column) is at `row * pitch + column * size` bytes.
The padding belongs to the allocation, as on a GPU: a kernel that reads it does not fault, and gets bytes of 0xFF
(NaN, or -1), so that results computed from it are visibly wrong.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from warplens.errors import UsageError

PADDING = 0xFF
USUAL_ALIGNMENT = 512  # bytes: that of every described GPU


@dataclass(frozen=True, eq=False)
class Pitched:
    """A device buffer with padded rows: launch() takes it in the place of an array, and changes it in place.

    >>> buffer = wl.pitched(np.ones((3, 5), np.float32))
    >>> buffer.array.shape, buffer.pitch, buffer.storage.nbytes
    ((3, 5), 512, 1536)

    array     the elements in the host's shape, (rows, columns) or (slices, rows, columns): a view, so that writing to
              it fills the buffer, and receives what a kernel wrote
    pitch     bytes from the start of a row to that of the next: an argument of the kernel
    storage   all bytes of the allocation, padding included
    """

    array: NDArray[Any]
    pitch: int
    storage: NDArray[np.uint8]

    def __repr__(self) -> str:
        return f"<Pitched {self.dtype} array of shape {self.shape}, pitch {self.pitch} bytes>"

    @property
    def shape(self) -> tuple[int, ...]:
        """(rows, columns) or (slices, rows, columns), without the padding."""
        return self.array.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of an element."""
        return self.array.dtype

    @property
    def nbytes(self) -> int:
        """Of the allocation, padding included."""
        return self.storage.nbytes

    def copy(self) -> Pitched:
        """Another buffer with the same contents, padding included."""
        storage = self.storage.copy()
        array: NDArray[Any] = np.ndarray(self.shape, self.dtype, storage.data, 0, self.array.strides)
        return Pitched(array, self.pitch, storage)

    def copy_from(self, host: NDArray[Any]) -> None:
        """A 2-D or 3-D copy from the host, without padding there.  UsageError for another shape or type."""
        self._check(host, "cannot be copied into")
        self.array[...] = host

    def copy_to(self, host: NDArray[Any]) -> None:
        """A 2-D or 3-D copy to the host.  UsageError for another shape or type."""
        self._check(host, "cannot take")
        host[...] = self.array

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.array, dtype, copy=copy)

    def _check(self, host: NDArray[Any], verb: str) -> None:
        if host.shape != self.shape or host.dtype != self.dtype:
            raise UsageError(
                f"an array of {host.dtype} of shape {host.shape} {verb} a pitched one of {self.dtype} of shape "
                f"{self.shape}; both must be the same"
            )


def pitch_of(row_bytes: int, alignment: int) -> int:
    """The bytes of a row with its padding."""
    return -(-max(row_bytes, 1) // alignment) * alignment


def allocate(shape: Sequence[int], dtype: DTypeLike, alignment: int, row_axes: int = 1) -> Pitched:
    """An uninitialised buffer: every byte is 0xFF.

    row_axes   how many of the last axes make up a row: 2 where elements are vectors with their lanes as last axis
    UsageError unless there are 2 or 3 axes of at least one element, without those lanes.
    """
    kind, sizes = np.dtype(dtype), tuple(int(size) for size in shape)
    outer, row = sizes[: len(sizes) - row_axes], sizes[len(sizes) - row_axes :]
    if not 1 <= len(outer) <= 2 or min(sizes) < 1:
        raise UsageError(
            f"the shape {sizes} cannot be pitched; possible are (rows, columns) and (slices, rows, columns)"
        )
    if kind.hasobject:
        raise UsageError("Python objects cannot be pitched; numbers can")
    pitch = pitch_of(math.prod(row) * kind.itemsize, alignment)
    storage = np.full(math.prod(outer) * pitch, PADDING, np.uint8)
    strides = np.empty(row, kind).strides
    steps = (pitch,) if len(outer) == 1 else (outer[1] * pitch, pitch)
    return Pitched(np.ndarray(sizes, kind, storage.data, 0, (*steps, *strides)), pitch, storage)


def padded(array: NDArray[Any], alignment: int, row_axes: int = 1) -> Pitched:
    """A copy of `array` with padded rows.  UsageError as of allocate()."""
    made = allocate(array.shape, array.dtype, alignment, row_axes)
    made.array[...] = array
    return made


def plain(value: Any) -> Any:
    """The storage of a pitched array; any other value unchanged."""
    return value.storage if isinstance(value, Pitched) else value

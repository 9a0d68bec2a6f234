"""Host tensors: arrays of NumPy and tensors of torch on the CPU, in place of those in a GPU's memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplens.errors import UsageError
from warplens.launchspec.array_view import ArrayView, memory, view_of

ALIGNED = 1 << 20  # device buffers begin at multiples of at least 256 bytes


class HostTensor:
    """A NumPy array in the interface that Triton expects of a tensor."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array
        self.dtype = array.dtype

    def data_ptr(self) -> int:
        """An address aligned as that in the device's memory will be."""
        view = view_of(self.array)
        return ALIGNED + (view.offset if isinstance(view, ArrayView) else 0)

    def stride(self, axis: int | None = None) -> Any:
        """In elements, as torch has it."""
        strides = tuple(step // self.array.itemsize for step in self.array.strides)
        return strides if axis is None else strides[axis]

    def numel(self) -> int:
        return self.array.size

    def element_size(self) -> int:
        return self.array.itemsize

    def zero_(self) -> HostTensor:
        self.array[...] = 0
        return self

    def clone(self) -> HostTensor:
        return HostTensor(self.array.copy())

    def copy_(self, other: HostTensor) -> HostTensor:
        self.array[...] = other.array
        return self

    def __getattr__(self, name: str) -> Any:
        return getattr(self.array, name)


def device_view(value: Any) -> ArrayView | NDArray[Any]:
    """The memory behind a tensor of NumPy or torch, or whatever else has storage on the host.  UsageError."""
    if isinstance(value, HostTensor):
        return view_of(value.array)
    if isinstance(value, np.ndarray):
        return view_of(value)
    if hasattr(value, "untyped_storage"):
        where = str(getattr(value, "device", "cpu"))
        if where != "cpu":
            raise UsageError(f"a tensor on {where}: launch with tensors in the host's memory, tensor.cpu()")
        storage = value.untyped_storage()
        start = storage.data_ptr()
        return ArrayView(memory(start, storage.nbytes(), storage), value.data_ptr() - start)
    if hasattr(value, "base"):  # triton.reinterpret() wraps a tensor
        return device_view(value.base)
    raise UsageError(f"a pointer is a {type(value).__name__}: NumPy arrays and tensors of torch are possible")

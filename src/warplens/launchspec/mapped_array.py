"""Mapped arrays: an array that a kernel reaches through a tensor map (TMA), which stands in its place as an argument.

Sizes are those of the array's axes, the last one the innermost, unlike in a tensor map.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplens.core.tensor_map import Im2col, Interleave, Swizzle, TensorMap, TensorType
from warplens.errors import UsageError
from warplens.launchspec.pitched_array import Pitched

TYPES = {
    "uint8": TensorType.U8, "int8": TensorType.U8, "uint16": TensorType.U16, "int16": TensorType.U16,
    "uint32": TensorType.U32, "int32": TensorType.S32, "uint64": TensorType.U64, "int64": TensorType.S64,
    "float16": TensorType.F16, "float32": TensorType.F32, "float64": TensorType.F64,
}  # fmt: skip
"""By NumPy's type, unless another is named."""

NAMES = {name.lower(): kind for name, kind in TensorType.__members__.items()}
SWIZZLES = {0: Swizzle.NONE, 32: Swizzle.BYTES_32, 64: Swizzle.BYTES_64, 128: Swizzle.BYTES_128}
INTERLEAVES = {0: Interleave.NONE, 16: Interleave.BYTES_16, 32: Interleave.BYTES_32}
PROMOTIONS = {0: 0, 64: 1, 128: 2, 256: 3}


@dataclass(frozen=True, eq=False)
class MappedArray:
    """An array with the tensor map through which a kernel reaches it: launch() takes it for a CUtensorMap.

    >>> matrix = np.zeros((64, 128), np.float32)
    >>> wl.tensor_map(matrix, box=(8, 32), swizzle=128)
    <MappedArray float32 array of shape (64, 128), box (8, 32), swizzle 128>

    array    what the kernel reads and changes, in place
    layout   the map; its address counts from the start of the array
    """

    array: NDArray[Any] | Pitched
    layout: TensorMap

    def __repr__(self) -> str:
        box = f"box {self.layout.box[::-1]}" if self.layout.im2col is None else "im2col"
        swizzle = f", swizzle {self.layout.swizzle.span}" if self.layout.swizzle else ""
        return f"<MappedArray {self.array.dtype} array of shape {self.array.shape}, {box}{swizzle}>"

    @property
    def storage(self) -> NDArray[Any]:
        """The memory of the array."""
        return self.array.storage if isinstance(self.array, Pitched) else self.array

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of an element."""
        return self.array.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the array."""
        return self.array.shape

    def copy(self) -> MappedArray:
        """Another array with the same content, and the same map."""
        return MappedArray(self.array.copy(), self.layout)

    @property
    def nbytes(self) -> int:
        """Of the array's memory."""
        return self.storage.nbytes


def mapped(
    array: NDArray[Any] | Pitched, box: Sequence[int], *, swizzle: int = 0, interleave: int = 0,
    element_strides: Sequence[int] = (), fill: str = "zero", l2_promotion: int = 0, element_type: str = "",
    im2col: Im2col | None = None,
) -> MappedArray:  # fmt: skip
    """The array with its map.  UsageError for what a tensor map cannot be."""
    view = array.array if isinstance(array, Pitched) else array
    if not isinstance(array, Pitched) and not view.flags.c_contiguous:
        raise UsageError("tensor map: the array is not contiguous; np.ascontiguousarray(...) of it is")
    kind = NAMES.get(element_type.lower()) if element_type else TYPES.get(view.dtype.name)
    if kind is None:
        raise UsageError(
            f"tensor map: no element type {element_type or view.dtype.name}; possible are {', '.join(NAMES)}"
        )
    steps = tuple(element_strides) or (1,) * view.ndim
    boxes = tuple(box) or (1,) * view.ndim
    for name, sizes in (("box", boxes), ("element_strides", steps)):
        if len(sizes) != view.ndim and (name != "box" or im2col is None):
            raise UsageError(f"tensor map: {name} has {len(sizes)} sizes, and the array {view.ndim} dimensions")
    layout = TensorMap(
        0, kind, view.shape[::-1], view.strides[-2::-1], boxes[::-1], steps[::-1],
        _choice(INTERLEAVES, interleave, "interleave"), _choice(SWIZZLES, swizzle, "swizzle"),
        {"zero": False, "nan": True}.get(fill, False), _choice(PROMOTIONS, l2_promotion, "l2_promotion"), im2col,
    )  # fmt: skip
    if fill not in ("zero", "nan"):
        raise UsageError(f"tensor map: fill {fill!r}; possible are zero and nan")
    layout.check()
    return MappedArray(array, layout)


def _choice(known: dict[int, Any], value: int, name: str) -> Any:
    if value not in known:
        raise UsageError(f"tensor map: {name} {value}; possible are {', '.join(map(str, known))}")
    return known[value]

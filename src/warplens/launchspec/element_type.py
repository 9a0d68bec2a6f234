"""Element type of an array: "f32", "i64", "f32x4", "float4"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplens.errors import UsageError
from warplens.launchspec.expression import Number

_DTYPES: Mapping[str, type[np.number[Any]]] = {
    "i8": np.int8,
    "u8": np.uint8,
    "i16": np.int16,
    "u16": np.uint16,
    "i32": np.int32,
    "u32": np.uint32,
    "i64": np.int64,
    "u64": np.uint64,
    "f16": np.float16,
    "bf16": np.uint16,  # NumPy has no bfloat16: the upper half of a float's bits
    "f32": np.float32,
    "f64": np.float64,
}
_C_NAMES: Mapping[str, str] = {
    "char": "i8",
    "uchar": "u8",
    "short": "i16",
    "ushort": "u16",
    "int": "i32",
    "uint": "u32",
    "longlong": "i64",
    "ulonglong": "u64",
    "half": "f16",
    "float": "f32",
    "double": "f64",
}
_VECTOR = re.compile(rf"({'|'.join(_DTYPES)})(?:x([2-9]|1[0-6]))?")
_C_VECTOR = re.compile(rf"({'|'.join(_C_NAMES)})([1-4])?")


@dataclass(frozen=True, slots=True)
class ElementType:
    """Element type: `lanes` numbers of the scalar type `scalar`, contiguous, without padding."""

    scalar: str
    lanes: int = 1

    @property
    def name(self) -> str:
        return self.scalar if self.lanes == 1 else f"{self.scalar}x{self.lanes}"

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy type of one lane."""
        return np.dtype(_DTYPES[self.scalar])

    @property
    def bytes(self) -> int:
        return self.dtype.itemsize * self.lanes

    @property
    def whole(self) -> bool:
        """Whether it holds whole numbers only."""
        return self.scalar[0] in "iu"

    def check(self, value: Number) -> None:
        """UsageError if a lane cannot hold `value` (floats may be rounded)."""
        if not self.whole:
            if abs(value) > _largest_float(self.scalar):
                raise UsageError(f"{value} is too large for {self.scalar}")
            return
        low, high = int(np.iinfo(self.dtype).min), int(np.iinfo(self.dtype).max)
        if not low <= value <= high or int(value) != value:
            raise UsageError(f"{self.scalar} holds whole numbers from {low} to {high}, not {value}")

    def rounded(self, values: NDArray[Any]) -> NDArray[Any]:
        """`values` rounded to the nearest value of a lane, ties to even; bf16 still as float32."""
        if self.scalar != "bf16":
            return values.astype(self.dtype, copy=False)
        bits = values.astype(np.float32).view(np.uint32)
        ties_to_even = np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
        return ((bits + ties_to_even) & np.uint32(0xFFFF0000)).view(np.float32)

    def encoded(self, values: NDArray[Any]) -> NDArray[Any]:
        """Memory representation of `values`."""
        near = self.rounded(values)
        if self.scalar != "bf16":
            return near
        return (near.view(np.uint32) >> np.uint32(16)).astype(np.uint16)


def parse_element(text: str) -> ElementType:
    """ "f32", "f32x4" or CUDA's own "float4".  UsageError for anything else."""
    if match := _VECTOR.fullmatch(text):
        return ElementType(match[1], int(match[2] or 1))
    if match := _C_VECTOR.fullmatch(text):
        return ElementType(_C_NAMES[match[1]], int(match[2] or 1))
    raise UsageError(
        f"no type '{text}'; possible are {', '.join(_DTYPES)}, "
        f"vectors of them such as f32x4, and the CUDA names {', '.join(_C_NAMES)}, float4, int2 ..."
    )


def _largest_float(scalar: str) -> float:
    if scalar == "bf16":
        return float.fromhex("0x1.FEp127")
    return float(np.finfo(np.dtype(_DTYPES[scalar])).max)

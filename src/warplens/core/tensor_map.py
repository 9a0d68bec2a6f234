"""Tensor map: how the tensor memory accelerator (TMA) sees a tensor, and its 128 bytes as an H200 reads them.

The layout is the driver's (580.159.04): read off 2,109 maps that cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col
made (measurements/h200/tensor_maps.csv), and off the code that tensormap.replace becomes.  Words of 32 bits:

    0, 1     address
    2        FLAGS: bit 0 im2col, 4 dimensions - 1, 7 element type, 11 interleave, 13 swizzle, 15 fill with NaN,
             16 tf32, 17 promotion in L2
    3 to 6   strides of dimensions 1 to 4 in units of 16 bytes, their low 32 bits; 7: four bits more of each
    8 to 12  sizes - 1, dimension 0 first
    13       element strides - 1, three bits each; bits 24 to 31: box size 0 - 1, of im2col the channels
    14       box sizes 1 to 4 - 1, a byte each; of im2col the corners of the bounding box: lower ones in the low half,
             upper ones in the high half, 16, 8 or 5 bits each
    15       of im2col the pixels of a column - 1
    16       bytes of a box;  18: alignment of a box in shared memory.  Nothing reads these two.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from warplens.errors import UsageError

BYTES, ALIGNMENT = 128, 64
WORDS = BYTES // 4
LARGEST_BOX, LARGEST_STEP, MOST_PIXELS = 256, 8, 1024
MOST_BOX_BYTES = 227 << 10  # the shared memory of a block on sm_90
STRIDE_UNIT, STRIDE_BITS = 16, 40


class TensorType(IntEnum):
    """Type of a tensor's elements, as of CUtensorMapDataType."""

    U8 = 0
    U16 = 1
    U32 = 2
    S32 = 3
    U64 = 4
    S64 = 5
    F16 = 6
    F32 = 7
    F64 = 8
    BF16 = 9
    F32_FTZ = 10
    TF32 = 11
    TF32_FTZ = 12


TYPE_BYTES = (1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4)
CODES = (0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 8, 7 | 1 << 9, 8 | 1 << 9)
"""Of each type as it stands in FLAGS from bit 7 on: the numbers of PTX's elemtype, and a bit for tf32."""


class Interleave(IntEnum):
    """Interleave: channels in groups of 16 or 32 bytes, as of CUtensorMapInterleave."""

    NONE = 0
    BYTES_16 = 1
    BYTES_32 = 2


class Swizzle(IntEnum):
    """Swizzle: the span in shared memory within which 16-byte chunks are exchanged, as of CUtensorMapSwizzle."""

    NONE = 0
    BYTES_32 = 1
    BYTES_64 = 2
    BYTES_128 = 3

    @property
    def span(self) -> int:
        return 16 << self


@dataclass(frozen=True, slots=True)
class Im2col:
    """Im2col: corners of the bounding box of pixels, relative to the tensor's, and the channels and pixels of a
    column."""

    lower: tuple[int, ...]
    upper: tuple[int, ...]
    channels: int
    pixels: int


@dataclass(frozen=True, slots=True)
class TensorMap:
    """Tensor map: dimension 0 is the innermost one.

    sizes      of each dimension, in elements;  strides: from one to the next in dimensions 1 and up, in bytes
    box        its sizes in elements, of which each `steps`-th is taken;  im2col: a column of pixels instead
    fill_nan   whether what lies outside of the tensor is NaN, and not zero
    promotion  bytes that L2 fetches at least: 0 none, 1 64, 2 128, 3 256
    """

    address: int
    type: TensorType
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    steps: tuple[int, ...]
    interleave: Interleave = Interleave.NONE
    swizzle: Swizzle = Swizzle.NONE
    fill_nan: bool = False
    promotion: int = 0
    im2col: Im2col | None = None

    @property
    def rank(self) -> int:
        return len(self.sizes)

    @property
    def element_bytes(self) -> int:
        return TYPE_BYTES[self.type]

    @property
    def box_bytes(self) -> int:
        """Of a box in shared memory."""
        elements = 1
        if self.im2col:
            elements = self.im2col.channels * self.im2col.pixels
        else:
            for size, step in zip(self.box, self.steps, strict=True):
                elements *= size // max(step, 1)
        return elements * self.element_bytes

    def check(self) -> None:
        """UsageError for what cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col refuse."""
        for wrong, text in self._shortcomings():
            if wrong:
                raise UsageError(f"tensor map: {text}")

    def _shortcomings(self) -> Sequence[tuple[bool, str]]:
        size, unit = self.element_bytes, 32 if self.interleave is Interleave.BYTES_32 else STRIDE_UNIT
        least = 3 if self.interleave or self.im2col else 1
        inner = (self.im2col.channels if self.im2col else self.box[0] if self.box else 0) * size
        return [
            (not least <= self.rank <= 5, f"{self.rank} dimensions; possible are {least} to 5 here"),
            (bool(self.address % unit), f"the address {self.address:#x} is not a multiple of {unit}"),
            (not 0 <= self.address < 1 << 57, f"the address {self.address:#x} is none of global memory"),
            (not all(1 <= n <= 1 << 32 for n in self.sizes), f"sizes {_list(self.sizes)}; possible are 1 to 2^32"),
            (any(s % unit for s in self.strides), f"strides {_list(self.strides)} bytes: not multiples of {unit}"),
            (not all(0 <= s < 1 << STRIDE_BITS for s in self.strides),
             f"strides {_list(self.strides)} bytes; possible are less than 2^{STRIDE_BITS}"),
            (not all(1 <= s <= LARGEST_STEP for s in self.steps),
             f"element strides {_list(self.steps)}; possible are 1 to {LARGEST_STEP}"),
            (not self.im2col and not all(1 <= n <= LARGEST_BOX for n in self.box),
             f"box {_list(self.box)}; possible are 1 to {LARGEST_BOX} elements in each dimension"),
            (bool(inner % 16),
             f"the box is {inner} bytes wide, not a multiple of 16"),
            (not self.interleave and bool(self.swizzle) and inner > self.swizzle.span,
             f"the box is {inner} bytes wide, more than the {self.swizzle.span} of its swizzle"),
            (self.box_bytes > MOST_BOX_BYTES,
             f"the box takes {self.box_bytes:,} bytes, more than the {MOST_BOX_BYTES:,} of a block's shared memory"),
            (self.fill_nan and self.type < TensorType.F16, "integers cannot be filled with NaN"),
            *self._shortcomings_of_column(),
        ]  # fmt: skip

    def _shortcomings_of_column(self) -> Sequence[tuple[bool, str]]:
        if self.im2col is None or not 3 <= self.rank <= 5:
            return []
        bits = corner_bits(self.rank)
        least, most = -(1 << bits - 1), (1 << bits - 1) - 1
        corners = (*self.im2col.lower, *self.im2col.upper)
        return [
            (not all(least <= c <= most for c in corners),
             f"corners {_list(corners)}; possible are {least} to {most} with {self.rank} dimensions"),
            (any(size + high <= low for size, low, high in zip(
                self.sizes[1:-1], self.im2col.lower, self.im2col.upper, strict=True)),
             f"no pixel lies between the corners {_list(corners)}"),
            (not 1 <= self.im2col.channels <= LARGEST_BOX,
             f"{self.im2col.channels} channels per pixel; possible are 1 to {LARGEST_BOX}"),
            (not 1 <= self.im2col.pixels <= MOST_PIXELS,
             f"{self.im2col.pixels} pixels per column; possible are 1 to {MOST_PIXELS}"),
        ]  # fmt: skip

    def encode(self) -> bytes:
        """The 128 bytes."""
        words = [0] * WORDS
        words[0], words[1] = self.address & 0xFFFF_FFFF, self.address >> 32
        words[2] = (
            bool(self.im2col) | self.rank - 1 << 4 | CODES[self.type] << 7 | self.interleave << 11
            | self.swizzle << 13 | self.fill_nan << 15 | self.promotion << 17
        )  # fmt: skip
        for d, stride in enumerate(self.strides):
            words[3 + d] = stride >> 4 & 0xFFFF_FFFF
            words[7] |= stride >> 36 << 4 * d
        for d, size in enumerate(self.sizes):
            words[8 + d] = size - 1
            words[13] |= self.steps[d] - 1 << 3 * d
        if self.im2col:
            bits, mask = corner_bits(self.rank), (1 << corner_bits(self.rank)) - 1
            words[13] |= self.im2col.channels - 1 << 24
            for d, (low, high) in enumerate(zip(self.im2col.lower, self.im2col.upper, strict=True)):
                words[14] |= (low & mask) << bits * d | (high & mask) << 16 + bits * d
            words[15] = self.im2col.pixels - 1
        else:
            words[13] |= self.box[0] - 1 << 24
            for d, size in enumerate(self.box[1:]):
                words[14] |= size - 1 << 8 * d
        words[16] = self.box_bytes & 0xFFFF_FFFF
        words[18] = 16 if not self.swizzle else 128 << self.swizzle
        return struct.pack(f"<{WORDS}I", *words)


@dataclass(frozen=True, slots=True)
class TensorExtent:
    """Tensor extent: what a map says of its tensor: dimension 0 is the innermost one, `strides` those of the others."""

    address: int
    element_bytes: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]

    @classmethod
    def decode(cls, data: bytes) -> TensorExtent:
        """Of the 128 bytes of a map."""
        words = struct.unpack(f"<{WORDS}I", data)
        rank, code = (words[2] >> 4 & 7) + 1, words[2] >> 7 & 15
        kind = CODES.index(code) if code in CODES else 0
        strides = (words[3 + d] << 4 | (words[7] >> 4 * d & 15) << 36 for d in range(rank - 1))
        address = words[0] | words[1] << 32
        return cls(address, TYPE_BYTES[kind], tuple(n + 1 for n in words[8 : 8 + rank]), tuple(strides))

    @property
    def bytes(self) -> int:
        """From its first to its last byte."""
        steps = (self.element_bytes, *self.strides)
        return sum((n - 1) * step for n, step in zip(self.sizes, steps, strict=True)) + self.element_bytes


def decode(data: bytes) -> TensorMap:
    """The tensor map of tiles that these bytes are, of which the last 64 describe nothing.  UsageError for others."""
    words = struct.unpack_from(f"<{WORDS // 2}I", data)
    flags, rank = words[2], (words[2] >> 4 & 7) + 1
    code = flags >> 7 & 15 | (flags >> 16 & 1) << 9
    if flags & 1 or rank > len(words[8:13]) or code not in CODES or flags >> 11 & 3 == 3:
        raise UsageError(f"tensor map: {words[2]:#x} stands for no map of tiles")
    strides = ((words[3 + d] | (words[7] >> 4 * d & 15) << 32) << 4 for d in range(rank - 1))
    sides = words[13] >> 24, *(words[14] >> 8 * d & 0xFF for d in range(4))
    return TensorMap(
        words[0] | words[1] << 32, TensorType(CODES.index(code)), tuple(size + 1 for size in words[8 : 8 + rank]),
        tuple(strides), tuple(side + 1 for side in sides[:rank]),
        tuple((words[13] >> 3 * d & 7) + 1 for d in range(rank)), Interleave(flags >> 11 & 3),
        Swizzle(flags >> 13 & 3), bool(flags >> 15 & 1), flags >> 17 & 3,
    )  # fmt: skip


def corner_bits(rank: int) -> int:
    """Bits of a coordinate of a corner, and of an offset of an im2col load."""
    return {3: 16, 4: 8, 5: 5}[rank]


def _list(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))

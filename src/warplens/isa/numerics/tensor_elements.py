"""Tensor elements: what the tensor memory accelerator makes of the words that it loads, and fills in."""

from __future__ import annotations

from warplens.isa.dsl.lanes import U32
from warplens.isa.dsl.operation_records import BulkNumber

REDUCED: dict[BulkNumber, int] = {
    "u32": 2, "s32": 3, "u64": 4, "s64": 5, "f16": 6, "f32": 7, "f64": 9, "bf16": 10,
}  # fmt: skip
"""Element types of reductions, by the number of PTX's elemtype."""


TF32 = 16  # the bit of a map's FLAGS for rounding to tf32
EXPONENT, MANTISSA = 0x7F80_0000, 0x7F_FFFF
TF32_CUT, TF32_NAN = 13, 0x7FFF_E000  # bits of a float that tf32 does not have; what every NaN becomes (measured)
ROUNDING = (1 << TF32_CUT - 1) - 1  # of a half, to even
NAN_FILL, NAN = 15, 0x7FF7_7FF7  # the bit of a map's FLAGS; each half of what is filled in, of every type (measured)


def loaded(word: U32, flags: U32) -> U32:
    """A word of a tensor as it comes to shared memory; `flags` are those of its map.  Denormals stay, also where its
    type is CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ (measured)."""
    nearest = (word + ROUNDING + ((word >> TF32_CUT) & 1)) & ~((1 << TF32_CUT) - 1)
    special = (word & EXPONENT).eq(EXPONENT)
    finite = special.choose((word & MANTISSA).eq(0).choose(word, TF32_NAN), nearest)
    return flags.bit(TF32).choose(finite, word)


def filling(flags: U32) -> U32:
    """A word that lies outside of the tensor."""
    return flags.bit(NAN_FILL).choose(flags.like(NAN), 0)

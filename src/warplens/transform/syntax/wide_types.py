"""Wide types: CUDA's types of several elements that a lane loads or stores at once."""

from __future__ import annotations

VECTORS = {
    "float": "float4", "int": "int4", "unsigned": "uint4", "unsigned int": "uint4", "int32_t": "int4",
    "uint32_t": "uint4", "double": "double2",
}  # fmt: skip
"""The type of 16 bytes of each element type."""
PAIRS = {"float": "float2", "int": "int2", "unsigned": "uint2", "unsigned int": "uint2"}


def lanes_of(vector: str) -> int:
    """Elements of a vector type."""
    return int(vector[-1])
